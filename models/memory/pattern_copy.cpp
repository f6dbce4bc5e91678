#include "tilevp/memory/pattern_copy.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

// Rows of a transposing tile that are copied together: enough that every cache line fetched is used up before it is
// evicted, also where the rows lie a power of two apart and share their cache sets.
constexpr std::uint64_t tile_columns = 32;

// A pattern as a walk over rows: the innermost loop in units both sides can move, and the loops around it.
class RowWalk {
 public:
  RowWalk(const AccessPattern& pattern, std::uint64_t unit) : address_(pattern.start()) {
    for (const Loop& loop : pattern.run_loops()) loops_[count_++] = loop;
    row_ = {pattern.run_bytes() / unit, static_cast<std::int64_t>(unit)};
    // A run of one unit is no row: the loop around it is.
    if (row_.size == 1 && count_ > 0) row_ = loops_[--count_];
  }

  std::uint64_t address() const { return address_ + at_ * static_cast<std::uint64_t>(row_.stride); }
  std::uint64_t left() const { return row_.size - at_; }
  std::uint64_t at() const { return at_; }
  const Loop& row() const { return row_; }
  // The loop around the row, and how often it still goes round, this row included; one row where there is no loop.
  Loop outer() const {
    if (count_ == 0) return {1, 0};
    return {loops_[count_ - 1].size - index_[count_ - 1], loops_[count_ - 1].stride};
  }

  void advance(std::uint64_t units) {
    at_ += units;
    if (at_ == row_.size) next_rows(1);
  }
  // On to the row `rows` <= outer().size further.
  void next_rows(std::uint64_t rows) {
    at_ = 0;
    for (std::size_t level = count_; level-- > 0; rows = 1) {
      address_ += rows * static_cast<std::uint64_t>(loops_[level].stride);
      index_[level] += rows;
      if (index_[level] < loops_[level].size) return;
      address_ -= static_cast<std::uint64_t>(loops_[level].stride) * loops_[level].size;
      index_[level] = 0;
    }
  }

 private:
  std::array<Loop, AccessPattern::max_loops> loops_{};
  std::array<std::uint64_t, AccessPattern::max_loops> index_{};
  std::size_t count_ = 0;
  Loop row_;
  std::uint64_t address_ = 0;
  std::uint64_t at_ = 0;
};

template <std::size_t Unit>
void move_unit(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, Unit);
}

template <std::size_t Unit>
void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from, std::int64_t from_stride,
                  std::uint64_t units) {
  if (from_stride == Unit && to_stride == Unit) {
    std::memcpy(to, from, units * Unit);
    return;
  }
  const auto count = static_cast<std::int64_t>(units);
  if (to_stride == Unit) {
    constexpr auto step = static_cast<std::int64_t>(Unit);
    for (std::int64_t i = 0; i < count; ++i) move_unit<Unit>(to + i * step, from + i * from_stride);
  } else if (from_stride == Unit) {
    constexpr auto step = static_cast<std::int64_t>(Unit);
    for (std::int64_t i = 0; i < count; ++i) move_unit<Unit>(to + i * to_stride, from + i * step);
  } else {
    for (std::int64_t i = 0; i < count; ++i) move_unit<Unit>(to + i * to_stride, from + i * from_stride);
  }
}

// `rows` rows of `units`; row r of a side is at r * its row stride. Long strided rows are cut, so that what
// neighbouring rows share of a cache line is still there for the next one.
template <std::size_t Unit>
void copy_rows(std::byte* to, std::int64_t to_stride, std::int64_t to_row, const std::byte* from,
               std::int64_t from_stride, std::int64_t from_row, std::uint64_t units, std::uint64_t rows) {
  const bool straight = from_stride == Unit && to_stride == Unit;
  const std::uint64_t columns = straight ? units : tile_columns;
  for (std::uint64_t first = 0; first < units; first += columns) {
    const std::uint64_t some = std::min(columns, units - first);
    const auto at = static_cast<std::int64_t>(first);
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(rows); ++r)
      copy_strided<Unit>(to + at * to_stride + r * to_row, to_stride, from + at * from_stride + r * from_row,
                         from_stride, some);
  }
}

template <std::size_t Unit>
void copy_walks(RowWalk from, const std::byte* source, RowWalk to, std::byte* destination, std::uint64_t units) {
  while (units > 0) {
    const std::uint64_t row = std::min(from.left(), to.left());
    const std::byte* read = source + from.address();
    std::byte* write = destination + to.address();
    // Whole rows of one side against one row of the other (a transposition against a contiguous stream): several at
    // once.
    const bool source_short = from.at() == 0 && to.left() >= 2 * row && row == from.row().size;
    const bool target_short = to.at() == 0 && from.left() >= 2 * row && row == to.row().size;
    if (source_short && from.outer().size > 1) {
      const std::uint64_t rows = std::min(from.outer().size, to.left() / row);
      copy_rows<Unit>(write, to.row().stride, to.row().stride * static_cast<std::int64_t>(row), read, from.row().stride,
                      from.outer().stride, row, rows);
      from.next_rows(rows);
      to.advance(rows * row);
      units -= rows * row;
    } else if (target_short && to.outer().size > 1) {
      const std::uint64_t rows = std::min(to.outer().size, from.left() / row);
      copy_rows<Unit>(write, to.row().stride, to.outer().stride, read, from.row().stride,
                      from.row().stride * static_cast<std::int64_t>(row), row, rows);
      to.next_rows(rows);
      from.advance(rows * row);
      units -= rows * row;
    } else {
      copy_strided<Unit>(write, to.row().stride, read, from.row().stride, row);
      from.advance(row);
      to.advance(row);
      units -= row;
    }
  }
}

// Both sides have runs of more than an element: whole pieces.
void copy_runs(const AccessPattern& from, const std::byte* source, const AccessPattern& to, std::byte* destination) {
  StreamCursor read(from);
  StreamCursor write(to);
  while (!read.done()) {
    const std::uint64_t bytes = std::min(read.run_left(), write.run_left());
    std::memcpy(destination + write.address(), source + read.address(), bytes);
    read.advance(bytes);
    write.advance(bytes);
  }
}

}  // namespace

void copy(const AccessPattern& from, const std::byte* source, const AccessPattern& to, std::byte* destination) {
  const std::uint64_t bytes = from.bytes();
  if (bytes != to.bytes())
    throw Defect("pattern copy: reads " + std::to_string(bytes) + " bytes, writes " + std::to_string(to.bytes()));
  // The largest piece that never straddles two runs on either side.
  const std::uint64_t unit = std::gcd(from.run_bytes(), to.run_bytes());
  const auto walk = [&]<std::size_t Unit>() {
    copy_walks<Unit>(RowWalk(from, Unit), source, RowWalk(to, Unit), destination, bytes / Unit);
  };
  switch (unit) {
    case 1:
      return walk.template operator()<1>();
    case 2:
      return walk.template operator()<2>();
    case 4:
      return walk.template operator()<4>();
    case 8:
      return walk.template operator()<8>();
    default:
      return copy_runs(from, source, to, destination);
  }
}

void gather(const AccessPattern& from, const std::byte* source, std::byte* out) {
  copy(from, source, AccessPattern::contiguous(0, from.bytes()), out);
}

void scatter(const std::byte* in, const AccessPattern& to, std::byte* destination) {
  copy(AccessPattern::contiguous(0, to.bytes()), in, to, destination);
}

}  // namespace tilevp::memory
