// 128-bit vectors, which every x86-64 has: 6 x 8 sums in 12 of the 16 registers.
#include "tilevp/numeric/gemm_kernel.hpp"

namespace tilevp::numeric::sse2 {
namespace {

constexpr std::size_t lanes = 4;
constexpr std::size_t tile_rows = 6;
constexpr std::size_t tile_vectors = 2;

#include "tilevp/numeric/gemm_kernel.inc"

}  // namespace

const GemmKernel kernel{tile_rows, panel_columns, multiply_panels, multiply_rows};

}  // namespace tilevp::numeric::sse2
