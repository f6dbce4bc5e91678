// Plain loops, the portable path: the definition written down, in the panel layout of the other kernels.
#include "tilevp/numeric/gemm_kernel.hpp"

namespace tilevp::numeric::scalar {
namespace {

constexpr std::size_t tile_rows = 4;
constexpr std::size_t panel_columns = 4;

void store(float sum, float* at, bool accumulate) {
  const float value = accumulate ? *at + sum : sum;
  *at = value != value ? __builtin_bit_cast(float, 0x7fc00000) : value;
}

// S of one output: `depth` terms at the given strides.
float ordered_dot(const float* stationary, std::size_t stationary_stride, const float* moving,
                  std::size_t moving_stride, std::size_t depth) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < depth; ++k) {
    const float product = stationary[k * stationary_stride] * moving[k * moving_stride];
    sum = sum + product;
  }
  return sum;
}

void multiply_panels(const PanelProduct& p) {
  for (std::size_t m = 0; m < p.rows; ++m)
    for (std::size_t n = 0; n < p.columns; ++n) {
      const float* stationary = p.stationary + m / tile_rows * panel_stride(p.depth, tile_rows) + m % tile_rows;
      const float* moving = p.moving + n / panel_columns * panel_stride(p.depth, panel_columns) + n % panel_columns;
      store(ordered_dot(stationary, tile_rows, moving, panel_columns, p.depth),
            p.out.data + static_cast<std::ptrdiff_t>(m) * p.out.row_stride + n, p.out.accumulate);
    }
}

void multiply_rows(const RowProduct& p) {
  for (std::size_t m = 0; m < p.rows; ++m)
    for (std::size_t n = 0; n < p.columns; ++n)
      store(ordered_dot(p.stationary + m, p.stationary_stride, p.moving + n, p.moving_stride, p.depth),
            p.out.data + static_cast<std::ptrdiff_t>(m) * p.out.row_stride + n, p.out.accumulate);
}

}  // namespace

const GemmKernel kernel{tile_rows, panel_columns, multiply_panels, multiply_rows};

}  // namespace tilevp::numeric::scalar
