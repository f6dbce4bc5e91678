// 256-bit vectors and the conversions of F16C. This file alone is compiled for them (CMakeLists.txt), and without the
// fma extension, so that none can slip in.
#include <immintrin.h>

#include "tilevp/cube/dot_kernel.hpp"

namespace tilevp::cube::avx2 {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t tile_rows = 4;
constexpr std::size_t tile_blocks = 2;
constexpr std::size_t row_blocks = 8;

#include "tilevp/cube/dot_kernel.inc"

// Eight elements of B as vectors of 32-bit lanes.
template <typename Element>
struct Narrow {
  using Vector = Words;
  using Scalar = unsigned int;
  static constexpr std::size_t size = sizeof(Element);
  [[gnu::always_inline]] static void load(Vector& out, const std::byte* at) {
    constexpr bool is_signed = Element(-1) < Element(0);
    if constexpr (size == 2) {
      __m128i elements;
      read(elements, at);
      out = __builtin_bit_cast(Vector, is_signed ? _mm256_cvtepi16_epi32(elements) : _mm256_cvtepu16_epi32(elements));
    } else {
      long long eight = 0;
      __builtin_memcpy(&eight, at, 8);
      const __m128i elements = _mm_cvtsi64_si128(eight);
      out = __builtin_bit_cast(Vector, is_signed ? _mm256_cvtepi8_epi32(elements) : _mm256_cvtepu8_epi32(elements));
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
    __m128i halves;
    read(halves, at);
    out = _mm256_cvtph_ps(halves);
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
