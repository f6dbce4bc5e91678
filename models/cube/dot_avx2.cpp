// 256-bit vectors and the conversions of F16C. Without the fma extension, so that none can slip in.
#include "tilevp/cube/dot_kernel.hpp"

// NOLINTBEGIN(clang-diagnostic-unknown-pragmas): gcc's, and gcc compiles it
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
namespace tilevp::cube::avx2 {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t tile_rows = 4;
constexpr std::size_t tile_blocks = 2;
constexpr std::size_t row_blocks = 8;

#include "tilevp/cube/dot_kernel.inc"

// Eight elements of B as vectors of 32-bit lanes. The elements go through scalars: what __builtin_convertvector makes
// of a vector of eight bytes is spelled out byte by byte.
template <typename Element>
struct Narrow {
  using Vector = Words;
  using Scalar = unsigned int;
  static constexpr std::size_t size = sizeof(Element);
  [[gnu::always_inline]] static void load(Vector& out, const std::byte* at) {
    using Quads [[gnu::vector_size(16)]] = long long;
    using Bytes [[gnu::vector_size(16)]] = char;
    using Shorts [[gnu::vector_size(16)]] = short;
    constexpr bool is_signed = Element(-1) < Element(0);
    Quads elements{};
    if constexpr (size == 2) {
      read(elements, at);
      const auto shorts = __builtin_bit_cast(Shorts, elements);
      out = __builtin_bit_cast(Vector,
                               is_signed ? __builtin_ia32_pmovsxwd256(shorts) : __builtin_ia32_pmovzxwd256(shorts));
    } else {
      long long low = 0;
      __builtin_memcpy(&low, at, 8);
      elements[0] = low;
      const auto bytes = __builtin_bit_cast(Bytes, elements);
      out =
          __builtin_bit_cast(Vector, is_signed ? __builtin_ia32_pmovsxbd256(bytes) : __builtin_ia32_pmovzxbd256(bytes));
    }
  }
};

struct Bf16 {
  using Vector = Floats;
  using Scalar = float;
  static constexpr std::size_t size = 2;
  [[gnu::always_inline]] static void load(Vector& out, const std::byte* at) {
    Words words;
    Narrow<unsigned short>::load(words, at);
    out = __builtin_bit_cast(Vector, words << 16);
  }
};

struct Fp16 {
  using Vector = Floats;
  using Scalar = float;
  static constexpr std::size_t size = 2;
  [[gnu::always_inline]] static void load(Vector& out, const std::byte* at) {
    using Halves [[gnu::vector_size(16)]] = short;
    Halves halves;
    read(halves, at);
    out = __builtin_ia32_vcvtph2ps256(halves);
  }
};

}  // namespace

const DotKernels kernels{.fp32 = dot<Fp32>,
                         .word = dot<Word>,
                         .fp16 = dot<Fp16>,
                         .bf16 = dot<Bf16>,
                         .s8 = dot<Narrow<signed char>>,
                         .u8 = dot<Narrow<unsigned char>>,
                         .s16 = dot<Narrow<short>>,
                         .u16 = dot<Narrow<unsigned short>>};

}  // namespace tilevp::cube::avx2

#pragma GCC pop_options
// NOLINTEND(clang-diagnostic-unknown-pragmas)
