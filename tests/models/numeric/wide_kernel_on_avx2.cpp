// The AVX-512 kernel's source, width and tile, compiled for AVX2 (gcc splits each 512-bit vector in two): what it
// computes can be seen on a processor that has no AVX-512.
#include "models/numeric/wide_kernel_on_avx2.hpp"

// NOLINTBEGIN(clang-diagnostic-unknown-pragmas): gcc's, and gcc compiles it
#pragma GCC push_options
#pragma GCC target("avx2")
namespace tilevp::numeric::wide_on_avx2 {
namespace {

constexpr std::size_t lanes = 16;
constexpr std::size_t tile_rows = 16;
constexpr std::size_t tile_vectors = 1;

#include "tilevp/numeric/gemm_kernel.inc"

}  // namespace

const GemmKernel kernel{tile_rows, panel_columns, multiply_panels, multiply_rows};

}  // namespace tilevp::numeric::wide_on_avx2

#pragma GCC pop_options
// NOLINTEND(clang-diagnostic-unknown-pragmas)
