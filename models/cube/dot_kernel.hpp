#pragma once
// The inner loops of the matrix unit, one set an instruction set. Used by matmul.cpp only.
//
// Plain structs and <cstddef> only: the files that include this are compiled for wider instruction sets, and an inline
// function of the standard library compiled there could be linked into code that runs on any processor.
#include <cstddef>

namespace tilevp::cube {

inline constexpr std::size_t block_columns = 8;  // of a CUBE_N8 cell

// sums[m][n] = ((sums[m][n] + a[m][0] * b[0][n]) + a[m][1] * b[1][n]) + ... for m < rows, n < 8 * blocks, each product
// and each sum rounded to fp32 (or taken modulo 2^32).
struct DotProduct {
  const std::byte* a;       // [rows][a_stride] floats (32-bit integers)
  std::size_t a_stride;     // elements
  const std::byte* b;       // blocks of [depth][8] elements in the stored order
  std::size_t b_stride;     // bytes from a block to the next
  std::byte* sums;          // [rows][sums_stride] floats (32-bit integers)
  std::size_t sums_stride;  // elements, a multiple of 8
  std::size_t rows;
  std::size_t depth;
  std::size_t blocks;
};

// By the type of B's elements. Null: none; decode B and take `fp32` or `word` (32 bits of either sign).
struct DotKernels {
  using Dot = void (*)(const DotProduct& product);
  Dot fp32;
  Dot word;
  Dot fp16 = nullptr;
  Dot bf16 = nullptr;
  Dot s8 = nullptr;
  Dot u8 = nullptr;
  Dot s16 = nullptr;
  Dot u16 = nullptr;
};

namespace baseline {
extern const DotKernels kernels;
}
namespace avx2 {
extern const DotKernels kernels;
}

}  // namespace tilevp::cube
