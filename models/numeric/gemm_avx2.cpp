// 256-bit vectors: 6 x 16 sums in 12 of the 16 registers. Without the fma extension, so that none can slip in.
#include "tilevp/numeric/gemm_kernel.hpp"

// NOLINTBEGIN(clang-diagnostic-unknown-pragmas): gcc's, and gcc compiles it
#pragma GCC push_options
#pragma GCC target("avx2")
namespace tilevp::numeric::avx2 {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t tile_rows = 6;
constexpr std::size_t tile_vectors = 2;

#include "tilevp/numeric/gemm_kernel.inc"

}  // namespace

const GemmKernel kernel{tile_rows, panel_columns, multiply_panels, multiply_rows};

}  // namespace tilevp::numeric::avx2

#pragma GCC pop_options
// NOLINTEND(clang-diagnostic-unknown-pragmas)
