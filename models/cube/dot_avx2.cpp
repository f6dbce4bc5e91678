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

template <typename Vector>
[[gnu::always_inline]] inline void widen_fp16(Vector& out, const std::byte* at) {
  using Halves [[gnu::vector_size(16)]] = short;
  Halves halves;
  __builtin_memcpy(&halves, at, sizeof(halves));
  out = __builtin_ia32_vcvtph2ps256(halves);
}

#include "tilevp/cube/dot_kernel.inc"

}  // namespace

const DotKernels kernels = all_kernels;

}  // namespace tilevp::cube::avx2

#pragma GCC pop_options
// NOLINTEND(clang-diagnostic-unknown-pragmas)
