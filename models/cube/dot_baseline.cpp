// 128-bit vectors, which every x86-64 has.
#include "tilevp/cube/dot_kernel.hpp"

namespace tilevp::cube::baseline {
namespace {

constexpr std::size_t lanes = 4;
constexpr std::size_t tile_rows = 2;
constexpr std::size_t tile_blocks = 2;
constexpr std::size_t row_blocks = 4;

// The fraction and exponent moved to their fp32 places make a number 2^112 too small, subnormals included; the product
// is exact. Infinity and NaN then get the exponent of their kind.
template <typename Vector>
[[gnu::always_inline]] inline void widen_fp16(Vector& out, const std::byte* at) {
  using Halves [[gnu::vector_size(lanes * 2)]] = unsigned short;
  using Bits [[gnu::vector_size(lanes * 4)]] = unsigned int;
  Halves halves;
  __builtin_memcpy(&halves, at, sizeof(halves));
  const Bits bits = __builtin_convertvector(halves, Bits);
  const Bits magnitude = bits & 0x7fff;
  const Vector scaled = __builtin_bit_cast(Vector, magnitude << 13) * 0x1p112F;
  const Bits special = __builtin_bit_cast(Bits, magnitude >= 0x7c00) & 0x7f800000;
  out = __builtin_bit_cast(Vector, __builtin_bit_cast(Bits, scaled) | special | (bits & 0x8000) << 16);
}

#include "tilevp/cube/dot_kernel.inc"

}  // namespace

const DotKernels kernels = all_kernels;

}  // namespace tilevp::cube::baseline
