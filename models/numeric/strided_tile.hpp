#pragma once
// A tile in a memory of partitions, as an instruction addresses it: the same pattern of the free axis in every
// partition, up to four [count, stride] dimensions, strides in elements (AWS Neuron documentation, Trainium
// architecture guide and "NKI access patterns"). A stride of 0 repeats, a negative one walks back.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilevp/base/host_range.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::numeric {

struct FreeDim {
  std::size_t count = 1;
  std::ptrdiff_t stride = 0;  // elements

  bool operator==(const FreeDim&) const = default;
};

inline constexpr int max_free_dims = 4;

// A view; it owns nothing. Byte is const std::byte to read, std::byte to write.
template <typename Byte>
struct BasicStridedTile {
  Byte* base = nullptr;                       // element (0, ..., 0) of partition 0
  std::ptrdiff_t partition_stride_bytes = 0;  // from a partition to the next
  std::size_t partitions = 1;                 // rows
  std::array<FreeDim, max_free_dims> dims{};  // outermost first; the first dim_count are used
  int dim_count = 0;                          // 0: one element a partition
  DType dtype = DType::fp32;

  bool operator==(const BasicStridedTile&) const = default;

  // Elements a partition.
  std::size_t free_size() const {
    std::size_t size = 1;
    for (int d = 0; d < dim_count; ++d) size *= dims[static_cast<std::size_t>(d)].count;
    return size;
  }
};

using StridedTile = BasicStridedTile<const std::byte>;
using MutableStridedTile = BasicStridedTile<std::byte>;

// `columns` consecutive elements in each of `partitions` rows.
template <typename Byte>
BasicStridedTile<Byte> dense_tile(Byte* base, DType dtype, std::size_t partitions,
                                  std::ptrdiff_t partition_stride_bytes, std::size_t columns) {
  BasicStridedTile<Byte> tile;
  tile.base = base;
  tile.partition_stride_bytes = partition_stride_bytes;
  tile.partitions = partitions;
  tile.dims[0] = {columns, 1};
  tile.dim_count = 1;
  tile.dtype = dtype;
  return tile;
}

// The bytes of the host between the tile's first and its last.
HostRange extent(const StridedTile& tile);
HostRange extent(const MutableStridedTile& tile);

// out[0 .. free_size) = the elements of one partition in the order of the pattern (last dimension fastest), as
// load_as_fp32 gives them. `out` must not overlap the tile.
void gather_row(const StridedTile& tile, std::size_t partition, float* out);

// Elements [first, first + count) of every partition's row. Where they lie is the same in each, and found once.
class RowPart {
 public:
  // `tile` may go, its bytes stay.
  void look_at(const StridedTile& tile, std::size_t first, std::size_t count);
  // out[0 .. count) = those of one partition, as gather_row gives them.
  void gather(std::size_t partition, float* out) const;
  // Asks the host's caches for the bytes that gather would read.
  void prefetch(std::size_t partition) const;

 private:
  struct Run {
    std::ptrdiff_t offset;  // bytes from the partition's element (0, ..., 0)
    std::size_t before;     // elements of the part
    std::size_t count;
  };
  const std::byte* row(std::size_t partition) const {
    return base_ + static_cast<std::ptrdiff_t>(partition) * partition_stride_bytes_;
  }

  const std::byte* base_ = nullptr;
  std::ptrdiff_t partition_stride_bytes_ = 0;
  DType dtype_ = DType::fp32;
  std::ptrdiff_t stride_ = 1;  // elements, within a run
  std::vector<Run> runs_;
};

// The inverse of gather_row, as store_from_fp32 does it. Where a pattern names an element twice the later value stays.
void scatter_row(const MutableStridedTile& tile, std::size_t partition, const float* values,
                 Rounding rounding = Rounding::rne);

}  // namespace tilevp::numeric
