#pragma once
// The multiplication a PE array does on a tile, with the order of accumulation that is part of the machine's
// definition:
//
//   S = +0;  for k = 0 .. K-1:  p = RN32(a[k][m] * b[k][n]);  S = RN32(S + p);
//   out[m][n] = S  (overwrite)   or   RN32(out[m][n] + S)  (accumulate);   a NaN is stored as 0x7fc00000.
//
// RN32 is rounding to fp32, nearest even; operands are widened to fp32 first, so every element type has two roundings a
// term. a is the stationary operand (K partitions x M columns), b the moving one (K x N), as in AWS's nc_matmul: out =
// a^T b. The same bits on every instruction set (simd.hpp) and optimisation level. The host's rounding mode must be the
// default and flush-to-zero off.
#include <boost/align/aligned_allocator.hpp>
#include <cstddef>
#include <vector>

#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::numeric {

struct GemmKernel;
using AlignedFloats = std::vector<float, boost::alignment::aligned_allocator<float, 64>>;

// The weights as the inner loop reads them: a copy, packed once a weight load. Reuse one object to reuse its memory.
class PackedStationary {
 public:
  // `tile`: K = tile.partitions rows of M = tile.free_size() elements.
  void pack(const StridedTile& tile);
  std::size_t depth() const { return depth_; }
  std::size_t columns() const { return columns_; }

 private:
  friend class PackedMoving;
  friend void multiply(const PackedStationary&, const class PackedMoving&, float*, std::ptrdiff_t, bool);
  const GemmKernel* kernel_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t columns_ = 0;
  AlignedFloats panels_;
  AlignedFloats row_;
  RowPart part_;
};

// The moving operand or some columns of it: a copy, so that the source may change as soon as pack returns.
class PackedMoving {
 public:
  // `tile`: K = tile.partitions rows of N = tile.free_size() elements, laid out for a multiplication by `stationary`
  // (or another of as many columns). Few columns (M <= 4) are multiplied row by row, for the panels would cost more
  // than the multiplication.
  void pack(const StridedTile& tile, const PackedStationary& stationary);
  // The same of columns [first, first + count) of N.
  void pack(const StridedTile& tile, const PackedStationary& stationary, std::size_t first, std::size_t count);
  std::size_t depth() const { return depth_; }
  std::size_t columns() const { return columns_; }

 private:
  friend void multiply(const PackedStationary&, const PackedMoving&, float*, std::ptrdiff_t, bool);
  void pack_rows();
  const GemmKernel* kernel_ = nullptr;
  bool by_rows_ = false;
  std::size_t depth_ = 0;
  std::size_t columns_ = 0;
  std::size_t row_stride_ = 0;
  AlignedFloats data_;
  AlignedFloats row_;
  RowPart part_;
};

// out[m * row_stride_floats + n] for m < M, n < N, as defined above. Nothing else of `out` is touched.
// Throws Defect where the operands do not belong together: different K, or packed for different kernels.
void multiply(const PackedStationary& stationary, const PackedMoving& moving, float* out,
              std::ptrdiff_t row_stride_floats, bool accumulate);

}  // namespace tilevp::numeric
