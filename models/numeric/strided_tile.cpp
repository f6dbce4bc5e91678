#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::numeric {
namespace {

// Calls run(first byte, elements before it, count, stride) for each run of the innermost dimension of one partition.
template <typename Byte, typename Run>
void for_each_run(const BasicStridedTile<Byte>& tile, std::size_t partition, const Run& run) {
  // Dimensions aligned to the innermost end: missing outer ones count 1.
  std::array<FreeDim, max_free_dims> dims{};
  const auto used = static_cast<std::size_t>(tile.dim_count);
  for (std::size_t d = 0; d < used; ++d) dims[max_free_dims - used + d] = tile.dims[d];
  const auto bytes = [&](std::size_t index, const FreeDim& dim) {
    return static_cast<std::ptrdiff_t>(index) * dim.stride * static_cast<std::ptrdiff_t>(size_bytes(tile.dtype));
  };
  Byte* const row = tile.base + static_cast<std::ptrdiff_t>(partition) * tile.partition_stride_bytes;
  std::size_t done = 0;
  for (std::size_t i = 0; i < dims[0].count; ++i)
    for (std::size_t j = 0; j < dims[1].count; ++j)
      for (std::size_t k = 0; k < dims[2].count; ++k) {
        run(row + bytes(i, dims[0]) + bytes(j, dims[1]) + bytes(k, dims[2]), done, dims[3].count, dims[3].stride);
        done += dims[3].count;
      }
}

}  // namespace

void gather_row(const StridedTile& tile, std::size_t partition, float* out) {
  for_each_run(tile, partition, [&](const std::byte* at, std::size_t done, std::size_t count, std::ptrdiff_t stride) {
    load_as_fp32(tile.dtype, at, count, stride, out + done);
  });
}

void scatter_row(const MutableStridedTile& tile, std::size_t partition, const float* values, Rounding rounding) {
  for_each_run(tile, partition, [&](std::byte* at, std::size_t done, std::size_t count, std::ptrdiff_t stride) {
    store_from_fp32(tile.dtype, values + done, count, at, stride, rounding);
  });
}

}  // namespace tilevp::numeric
