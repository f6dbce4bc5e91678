#include "tilevp/numeric/strided_tile.hpp"

#include <algorithm>

namespace tilevp::numeric {
namespace {

// Calls run(first byte, elements before it in the part, count, stride) for each run of the innermost dimension of
// elements [first, first + count) of one partition.
template <typename Byte, typename Run>
void for_each_run(const BasicStridedTile<Byte>& tile, std::size_t partition, std::size_t first, std::size_t count,
                  const Run& run) {
  const auto used = static_cast<std::size_t>(tile.dim_count);
  const FreeDim inner = used > 0 ? tile.dims[used - 1] : FreeDim{};
  const auto element_bytes = static_cast<std::ptrdiff_t>(size_bytes(tile.dtype));
  std::array<std::size_t, max_free_dims> index{};
  Byte* at = tile.base + static_cast<std::ptrdiff_t>(partition) * tile.partition_stride_bytes;
  for (std::size_t d = used, rest = first; d-- > 0 && rest > 0; rest /= tile.dims[d].count) {
    index[d] = rest % tile.dims[d].count;
    at += static_cast<std::ptrdiff_t>(index[d]) * tile.dims[d].stride * element_bytes;
  }
  std::size_t begun = used > 0 ? index[used - 1] : 0;  // of the first run
  for (std::size_t done = 0; done < count;) {
    const std::size_t some = std::min(count - done, inner.count - begun);
    run(at, done, some, inner.stride);
    done += some;
    at -= static_cast<std::ptrdiff_t>(begun) * inner.stride * element_bytes;
    begun = 0;
    for (std::size_t d = used > 0 ? used - 1 : 0; d-- > 0;) {
      const FreeDim& dim = tile.dims[d];
      at += dim.stride * element_bytes;
      if (++index[d] < dim.count) break;
      index[d] = 0;
      at -= static_cast<std::ptrdiff_t>(dim.count) * dim.stride * element_bytes;
    }
  }
}

template <typename Byte>
HostRange extent_of(const BasicStridedTile<Byte>& tile) {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = static_cast<std::ptrdiff_t>(size_bytes(tile.dtype));
  const auto reach = [&](std::size_t count, std::ptrdiff_t stride_bytes) {
    const std::ptrdiff_t last = (static_cast<std::ptrdiff_t>(count) - 1) * stride_bytes;
    (last < 0 ? low : high) += last;
  };
  reach(tile.partitions, tile.partition_stride_bytes);
  for (std::size_t d = 0; d < static_cast<std::size_t>(tile.dim_count); ++d)
    reach(tile.dims[d].count, tile.dims[d].stride * static_cast<std::ptrdiff_t>(size_bytes(tile.dtype)));
  return HostRange::of(tile.base + low, tile.base + high);
}

}  // namespace

HostRange extent(const StridedTile& tile) { return extent_of(tile); }

HostRange extent(const MutableStridedTile& tile) { return extent_of(tile); }

void gather_row(const StridedTile& tile, std::size_t partition, float* out) {
  for_each_run(tile, partition, 0, tile.free_size(),
               [&](const std::byte* at, std::size_t done, std::size_t count, std::ptrdiff_t stride) {
                 load_as_fp32(tile.dtype, at, count, stride, out + done);
               });
}

void RowPart::look_at(const StridedTile& tile, std::size_t first, std::size_t count) {
  base_ = tile.base;
  partition_stride_bytes_ = tile.partition_stride_bytes;
  dtype_ = tile.dtype;
  runs_.clear();
  for_each_run(tile, 0, first, count,
               [&](const std::byte* at, std::size_t done, std::size_t some, std::ptrdiff_t stride) {
                 stride_ = stride;
                 runs_.push_back({at - tile.base, done, some});
               });
}

void RowPart::gather(std::size_t partition, float* out) const {
  const std::byte* const from = row(partition);
  for (const Run& run : runs_) load_as_fp32(dtype_, from + run.offset, run.count, stride_, out + run.before);
}

void RowPart::prefetch(std::size_t partition) const {
  constexpr std::ptrdiff_t line_bytes = 64;
  const std::ptrdiff_t element_stride = stride_ * static_cast<std::ptrdiff_t>(size_bytes(dtype_));
  const std::byte* const from = row(partition);
  for (const Run& run : runs_) {
    const std::ptrdiff_t span = static_cast<std::ptrdiff_t>(run.count) * element_stride;
    for (std::ptrdiff_t at = 0; at < span; at += line_bytes) __builtin_prefetch(from + run.offset + at);
  }
}

void scatter_row(const MutableStridedTile& tile, std::size_t partition, const float* values, Rounding rounding) {
  for_each_run(tile, partition, 0, tile.free_size(),
               [&](std::byte* at, std::size_t done, std::size_t count, std::ptrdiff_t stride) {
                 store_from_fp32(tile.dtype, values + done, count, at, stride, rounding);
               });
}

}  // namespace tilevp::numeric
