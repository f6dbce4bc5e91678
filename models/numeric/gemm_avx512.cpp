// 512-bit vectors: 16 x 16 sums, one vector wide, so that the broadcast folds into the multiplication.
#include "tilevp/numeric/gemm_kernel.hpp"

// NOLINTBEGIN(clang-diagnostic-unknown-pragmas): gcc's, and gcc compiles it
#pragma GCC push_options
#pragma GCC target("avx512f")
namespace tilevp::numeric::avx512 {
namespace {

constexpr std::size_t lanes = 16;
constexpr std::size_t tile_rows = 16;
constexpr std::size_t tile_vectors = 1;

#include "tilevp/numeric/gemm_kernel.inc"

}  // namespace

const GemmKernel kernel{tile_rows, panel_columns, multiply_panels, multiply_rows};

}  // namespace tilevp::numeric::avx512

#pragma GCC pop_options
// NOLINTEND(clang-diagnostic-unknown-pragmas)
