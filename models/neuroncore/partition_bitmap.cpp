#include "tilevp/neuroncore/partition_bitmap.hpp"

#include <algorithm>
#include <bit>

#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::neuroncore {
namespace {

constexpr std::uint32_t column_bytes = 64;
constexpr std::uint64_t all_set = ~std::uint64_t{0};

// Bits [first, first + count) of a word; count 1 to 64.
constexpr std::uint64_t bits(std::uint32_t first, std::uint32_t count) { return (all_set >> (64 - count)) << first; }

// The columns of one contiguous range: the first, the last and which bytes of these two belong to it.
struct Columns {
  Columns(std::uint32_t offset, std::uint32_t bytes)
      : first(offset / column_bytes),
        last((offset + bytes - 1) / column_bytes),
        head(all_set << offset % column_bytes),
        tail(all_set >> (column_bytes - 1 - (offset + bytes - 1) % column_bytes)) {
    if (first == last) head = tail = head & tail;
  }
  std::size_t first, last;
  std::uint64_t head, tail;
};

// Calls fn(column, mask) for the columns of one contiguous range; false from fn ends it.
template <class Fn>
bool for_each_column(std::uint32_t offset, std::uint32_t bytes, Fn&& fn) {
  const Columns columns(offset, bytes);
  if (!fn(columns.first, columns.head)) return false;
  for (std::size_t column = columns.first + 1; column < columns.last; ++column)
    if (!fn(column, all_set)) return false;
  return columns.first == columns.last || fn(columns.last, columns.tail);
}

// Calls fn(column, mask) for the columns of a tile; runs that fall into one column one after the other come as one
// mask.
template <class Fn>
void for_each_column(const Operand& tile, std::uint32_t element_bytes, Fn&& fn) {
  std::size_t column = 0;
  std::uint64_t mask = 0;
  const bool all = for_each_run(tile, element_bytes, [&](std::uint32_t offset, std::uint32_t bytes) {
    return for_each_column(offset, bytes, [&](std::size_t next, std::uint64_t more) {
      if (next != column && mask != 0) {
        if (!fn(column, mask)) return false;
        mask = 0;
      }
      column = next;
      mask |= more;
      return true;
    });
  });
  if (all && mask != 0) fn(column, mask);
}

}  // namespace

PartitionBitmap::PartitionBitmap(std::uint32_t partition_bytes)
    : columns_((partition_bytes + column_bytes - 1) / column_bytes),
      common_(columns_.size()),
      any_(columns_.size()),
      full_(columns_.size()) {}

PartitionBitmap::Lanes PartitionBitmap::lanes_of(PartitionRange partitions) {
  Lanes lanes;
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned low = std::max(partitions.first, 64 * half);
    const unsigned high = std::min(partitions.first + partitions.count, 64 * half + 64);
    if (low < high) lanes.bits[half] = bits(low - 64 * half, high - low);
  }
  return lanes;
}

// From the summaries alone; inline, for tiles ask it once a column.
inline bool PartitionBitmap::is_known(std::size_t column, const Lanes& lanes, Mask mask) const {
  if ((mask & ~common_[column]) == 0) return true;
  const Lanes& full = full_[column];
  return (lanes.bits[0] & ~full.bits[0]) == 0 && (lanes.bits[1] & ~full.bits[1]) == 0;
}

// Whole columns are asked together: most tiles are long rows that are set already.
inline bool PartitionBitmap::is_known(std::uint32_t offset, std::uint32_t bytes, const Lanes& lanes) const {
  const Columns columns(offset, bytes);
  if (!is_known(columns.first, lanes, columns.head) || !is_known(columns.last, lanes, columns.tail)) return false;
  Mask missing = 0;
  for (std::size_t column = columns.first + 1; column < columns.last; ++column) missing |= ~common_[column];
  if (missing == 0) return true;
  Lanes not_full;
  for (std::size_t column = columns.first + 1; column < columns.last; ++column)
    for (unsigned half = 0; half < 2; ++half) not_full.bits[half] |= ~full_[column].bits[half];
  return (lanes.bits[0] & not_full.bits[0]) == 0 && (lanes.bits[1] & not_full.bits[1]) == 0;
}

void PartitionBitmap::set_column(std::size_t column, PartitionRange partitions, Mask mask) {
  any_[column] |= mask;
  if (partitions.count == max_partitions) common_[column] |= mask;
  Mask* const words = columns_[column].data() + partitions.first;
  Mask common = all_set;
  for (unsigned p = 0; p < partitions.count; ++p) common &= words[p] |= mask;
  if (common != all_set) return;
  const Lanes lanes = lanes_of(partitions);
  full_[column].bits[0] |= lanes.bits[0];
  full_[column].bits[1] |= lanes.bits[1];
}

void PartitionBitmap::clear_column(std::size_t column, PartitionRange partitions, Mask mask) {
  if ((any_[column] & mask) == 0) return;
  if (partitions.count == max_partitions) any_[column] &= ~mask;
  const Lanes lanes = lanes_of(partitions);
  common_[column] &= ~mask;
  full_[column].bits[0] &= ~lanes.bits[0];
  full_[column].bits[1] &= ~lanes.bits[1];
  Mask* const words = columns_[column].data() + partitions.first;
  for (unsigned p = 0; p < partitions.count; ++p) words[p] &= ~mask;
}

std::vector<std::uint64_t> PartitionBitmap::count(std::uint32_t offset, std::uint32_t bytes) const {
  std::vector<std::uint64_t> counts(max_partitions);
  const std::size_t end = std::min<std::size_t>(columns_.size(), (offset + bytes + column_bytes - 1) / column_bytes);
  for (std::size_t column = offset / column_bytes; column < end; ++column)
    for (unsigned p = 0; p < max_partitions; ++p)
      counts[p] += static_cast<std::uint64_t>(std::popcount(columns_[column][p]));
  return counts;
}

std::optional<PartitionBitmap::Place> PartitionBitmap::column_first_clear(std::size_t column, PartitionRange partitions,
                                                                          Mask mask) const {
  const Mask* const words = columns_[column].data() + partitions.first;
  Mask common = all_set;
  for (unsigned p = 0; p < partitions.count; ++p) common &= words[p];
  if (partitions.count == max_partitions) common_[column] = common;
  if ((mask & ~common) == 0) return std::nullopt;
  for (unsigned p = 0; p < partitions.count; ++p)
    if (const Mask missing = mask & ~words[p]; missing != 0)
      return Place{partitions.first + p, static_cast<std::uint32_t>(column) * column_bytes +
                                             static_cast<std::uint32_t>(std::countr_zero(missing))};
  return std::nullopt;
}

void PartitionBitmap::set(PartitionRange partitions, std::uint32_t offset, std::uint32_t bytes) {
  const Lanes lanes = lanes_of(partitions);
  if (is_known(offset, bytes, lanes)) return;
  for_each_column(offset, bytes, [&](std::size_t column, Mask mask) {
    if (!is_known(column, lanes, mask)) set_column(column, partitions, mask);
    return true;
  });
}

void PartitionBitmap::clear(PartitionRange partitions, std::uint32_t offset, std::uint32_t bytes) {
  for_each_column(offset, bytes, [&](std::size_t column, Mask mask) {
    clear_column(column, partitions, mask);
    return true;
  });
}

std::optional<PartitionBitmap::Place> PartitionBitmap::first_clear(PartitionRange partitions, std::uint32_t offset,
                                                                   std::uint32_t bytes) const {
  const Lanes lanes = lanes_of(partitions);
  if (is_known(offset, bytes, lanes)) return std::nullopt;
  std::optional<Place> found;
  for_each_column(offset, bytes, [&](std::size_t column, Mask mask) {
    if (is_known(column, lanes, mask)) return true;
    found = column_first_clear(column, partitions, mask);
    return !found;
  });
  return found;
}

void PartitionBitmap::set(const Operand& tile, unsigned partitions, std::uint32_t element_bytes) {
  const PartitionRange range{tile.partition, partitions};
  if (is_dense(tile)) return set(range, tile.offset, tile.elements() * element_bytes);
  const Lanes lanes = lanes_of(range);
  for_each_column(tile, element_bytes, [&](std::size_t column, Mask mask) {
    if (!is_known(column, lanes, mask)) set_column(column, range, mask);
    return true;
  });
}

void PartitionBitmap::clear(const Operand& tile, unsigned partitions, std::uint32_t element_bytes) {
  const PartitionRange range{tile.partition, partitions};
  if (is_dense(tile)) return clear(range, tile.offset, tile.elements() * element_bytes);
  for_each_column(tile, element_bytes, [&](std::size_t column, Mask mask) {
    clear_column(column, range, mask);
    return true;
  });
}

std::optional<PartitionBitmap::Place> PartitionBitmap::first_clear(const Operand& tile, unsigned partitions,
                                                                   std::uint32_t element_bytes) const {
  const PartitionRange range{tile.partition, partitions};
  if (is_dense(tile)) return first_clear(range, tile.offset, tile.elements() * element_bytes);
  std::optional<Place> found;
  const Lanes lanes = lanes_of(range);
  for_each_column(tile, element_bytes, [&](std::size_t column, Mask mask) {
    if (is_known(column, lanes, mask)) return true;
    found = column_first_clear(column, range, mask);
    return !found;
  });
  return found;
}

}  // namespace tilevp::neuroncore
