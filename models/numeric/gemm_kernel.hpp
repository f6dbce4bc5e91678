#pragma once
// The inner loops of the ordered tile multiply, one set an instruction set. Used by ordered_gemm.cpp only.
//
// Plain structs and <cstddef> only: the files that include this are compiled for wider instruction sets, and an inline
// function of the standard library compiled there could be linked into code that runs on any processor.
#include <cstddef>

namespace tilevp::numeric {

// From a panel to the next. A cache line more than the panel holds: packing writes one line of every panel in turn, and
// at a distance of 8 KB (128 x 16 floats) all of them fall into one set of the first-level cache (20 us instead of 13).
constexpr std::size_t panel_stride(std::size_t depth, std::size_t width) { return depth * width + 16; }

struct GemmOutput {
  float* data;                // [M][row_stride]
  std::ptrdiff_t row_stride;  // floats
  bool accumulate;            // out = out + S, else out = S
};

// S[m][n] for all m < rows, n < columns from operands packed in panels, zero padded:
// stationary [ceil(rows / tile_rows)][depth][tile_rows], moving [ceil(columns / panel_columns)][depth][panel_columns],
// the panels panel_stride() floats apart.
struct PanelProduct {
  const float* stationary;
  const float* moving;
  std::size_t depth;    // K
  std::size_t rows;     // M
  std::size_t columns;  // N
  GemmOutput out;
};

// The same for few rows. `moving` is row-major [depth][moving_stride], the stride a multiple of row_padding.
struct RowProduct {
  const float* stationary;        // [depth][stationary_stride]
  std::size_t stationary_stride;  // floats
  const float* moving;
  std::size_t moving_stride;  // floats
  std::size_t depth;
  std::size_t rows;  // at most max_rows_of_row_product
  std::size_t columns;
  GemmOutput out;
};

inline constexpr std::size_t max_rows_of_row_product = 4;
inline constexpr std::size_t row_padding = 16;

struct GemmKernel {
  std::size_t tile_rows;      // MR
  std::size_t panel_columns;  // NR
  void (*multiply_panels)(const PanelProduct& product);
  void (*multiply_rows)(const RowProduct& product);
};

namespace scalar {
extern const GemmKernel kernel;
}
namespace sse2 {
extern const GemmKernel kernel;
}
namespace avx2 {
extern const GemmKernel kernel;
}
namespace avx512 {
extern const GemmKernel kernel;
}

}  // namespace tilevp::numeric
