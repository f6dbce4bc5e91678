#include "tilevp/numeric/ordered_gemm.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/gemm_kernel.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::numeric {
namespace {

const GemmKernel& current_kernel() {
  switch (simd_level()) {
#ifdef TILEVP_X86_KERNELS
    case SimdLevel::avx512:
      return avx512::kernel;
    case SimdLevel::avx2:
      return avx2::kernel;
#endif
    case SimdLevel::sse2:
      return sse2::kernel;
    default:
      return scalar::kernel;
  }
}

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

void grow(AlignedFloats& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

// Copies width floats; a whole panel row has its size known to the compiler, so that the copy is a few moves.
template <std::size_t width>
void copy_panels(const float* row, std::size_t panels, std::size_t stride, float* out) {
  for (std::size_t p = 0; p < panels; ++p) std::memcpy(out + p * stride, row + p * width, width * sizeof(float));
}

// Row k of a [panels][depth][width] operand from a row buffer that is zero-filled up to panels * width.
void scatter_to_panels(const float* row, std::size_t panels, std::size_t width, std::size_t depth, float* out) {
  const std::size_t stride = panel_stride(depth, width);
  switch (width) {
    case 4:
      return copy_panels<4>(row, panels, stride, out);
    case 6:
      return copy_panels<6>(row, panels, stride, out);
    case 8:
      return copy_panels<8>(row, panels, stride, out);
    case 16:
      return copy_panels<16>(row, panels, stride, out);
    default:
      throw Defect("no panel copy of width " + std::to_string(width));
  }
}

// Rows of a tile lie in pages of their own, so the processor does not see the next one coming.
constexpr std::size_t rows_ahead = 4;

void pack_panels(const RowPart& part, std::size_t depth, std::size_t columns, std::size_t width, AlignedFloats& row,
                 AlignedFloats& out) {
  const std::size_t padded = round_up(columns, width);
  grow(row, padded);
  grow(out, padded / width * panel_stride(depth, width));
  std::fill(row.begin() + static_cast<std::ptrdiff_t>(columns), row.begin() + static_cast<std::ptrdiff_t>(padded),
            0.0F);
  for (std::size_t k = 0; k < depth; ++k) {
    if (k + rows_ahead < depth) part.prefetch(k + rows_ahead);
    part.gather(k, row.data());
    scatter_to_panels(row.data(), padded / width, width, depth, out.data() + k * width);
  }
}

}  // namespace

void PackedStationary::pack(const StridedTile& tile) {
  kernel_ = &current_kernel();
  depth_ = tile.partitions;
  columns_ = tile.free_size();
  part_.look_at(tile, 0, columns_);
  pack_panels(part_, depth_, columns_, kernel_->tile_rows, row_, panels_);
}

void PackedMoving::pack(const StridedTile& tile, const PackedStationary& stationary) {
  pack(tile, stationary, 0, tile.free_size());
}

void PackedMoving::pack(const StridedTile& tile, const PackedStationary& stationary, std::size_t first,
                        std::size_t count) {
  if (stationary.kernel_ == nullptr) throw Defect("moving operand packed before any stationary operand");
  kernel_ = stationary.kernel_;
  depth_ = tile.partitions;
  columns_ = count;
  by_rows_ = stationary.columns() <= max_rows_of_row_product;
  part_.look_at(tile, first, count);
  if (by_rows_)
    pack_rows();
  else
    pack_panels(part_, depth_, count, kernel_->panel_columns, row_, data_);
}

void PackedMoving::pack_rows() {
  row_stride_ = round_up(columns_, row_padding);
  grow(data_, row_stride_ * depth_);
  for (std::size_t k = 0; k < depth_; ++k) {
    float* row = data_.data() + k * row_stride_;
    part_.gather(k, row);
    std::fill(row + columns_, row + row_stride_, 0.0F);
  }
}

void multiply(const PackedStationary& stationary, const PackedMoving& moving, float* out,
              std::ptrdiff_t row_stride_floats, bool accumulate) {
  if (stationary.depth_ != moving.depth_)
    throw Defect("tile multiply of " + std::to_string(stationary.depth_) + " stationary by " +
                 std::to_string(moving.depth_) + " moving partitions");
  if (stationary.kernel_ != moving.kernel_ || stationary.kernel_ == nullptr)
    throw Defect("tile multiply of operands packed for different kernels");
  const std::size_t rows = stationary.columns_;
  if (moving.by_rows_ != (rows <= max_rows_of_row_product))
    throw Defect("tile multiply: moving operand packed for another number of stationary columns than " +
                 std::to_string(rows));
  const GemmKernel& kernel = *stationary.kernel_;
  const GemmOutput target{out, row_stride_floats, accumulate};
  if (moving.by_rows_)
    kernel.multiply_rows({stationary.panels_.data(), kernel.tile_rows, moving.data_.data(), moving.row_stride_,
                          moving.depth_, rows, moving.columns_, target});
  else
    kernel.multiply_panels(
        {stationary.panels_.data(), moving.data_.data(), moving.depth_, rows, moving.columns_, target});
}

}  // namespace tilevp::numeric
