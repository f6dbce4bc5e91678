#include "tilevp/memory/access_pattern.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

__extension__ typedef __int128 Int128;

std::uint64_t wrapped(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// |stride|, also of the lowest number.
std::uint64_t magnitude(std::int64_t stride) { return stride < 0 ? 0 - wrapped(stride) : wrapped(stride); }

// Merged loops of a nest, innermost first.
struct Merged {
  std::array<Loop, AccessPattern::max_loops> loops{};
  std::size_t count = 0;
  bool overflow = false;  // more loops than fit
};

Merged merge(std::span<const Loop> loops) {
  Merged merged;
  for (std::size_t i = loops.size(); i-- > 0;) {
    const Loop& outer = loops[i];
    if (outer.size == 1) continue;
    if (merged.count > 0) {
      Loop& inner = merged.loops[merged.count - 1];
      if (Int128{outer.stride} == static_cast<Int128>(inner.size) * inner.stride) {
        inner.size *= outer.size;
        continue;
      }
    }
    if (merged.count == merged.loops.size()) {
      merged.overflow = true;
      return merged;
    }
    merged.loops[merged.count++] = outer;
  }
  return merged;
}

std::string loop_name(std::size_t index, const Loop& loop) {
  return "loop " + std::to_string(index) + " [" + std::to_string(loop.size) + ", " + std::to_string(loop.stride) + "]";
}

}  // namespace

std::optional<std::string> AccessPattern::problem(std::uint64_t start, std::uint32_t element_bytes,
                                                  std::span<const Loop> loops) {
  if (element_bytes == 0 || element_bytes > max_element_bytes)
    return "element size: expected 1 to 8 bytes, found " + std::to_string(element_bytes);
  constexpr Int128 last_address = std::numeric_limits<std::uint64_t>::max();
  Int128 low = start;
  Int128 high = static_cast<Int128>(start) + element_bytes - 1;
  std::int64_t bytes = static_cast<std::int64_t>(element_bytes);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = loops[i];
    if (loop.size == 0) return loop_name(i, loop) + ": expected a size of at least 1, found 0";
    if (loop.stride == std::numeric_limits<std::int64_t>::min())
      return loop_name(i, loop) + ": expected a stride of at least -(2^63 - 1)";
    if (__builtin_mul_overflow(bytes, loop.size, &bytes))
      return loop_name(i, loop) + ": the pattern has more than 2^63 - 1 bytes";
    const Int128 reach = static_cast<Int128>(loop.size - 1) * loop.stride;
    if (reach < -last_address || reach > last_address)
      return loop_name(i, loop) + ": reaches further than 2^64 - 1 bytes";
    (reach < 0 ? low : high) += reach;
  }
  if (low < 0) return "the pattern from address " + std::to_string(start) + " reaches below address 0";
  if (high > last_address) return "the pattern from address " + std::to_string(start) + " reaches above 2^64 - 1";
  if (merge(loops).overflow)
    return "expected at most " + std::to_string(max_loops) + " loops after merging, found more (" +
           std::to_string(loops.size()) + " given)";
  return std::nullopt;
}

AccessPattern::AccessPattern(std::uint64_t start, std::uint32_t element_bytes, std::span<const Loop> loops)
    : start_(start), element_bytes_(element_bytes) {
  if (const auto text = problem(start, element_bytes, loops)) throw Defect("access pattern: " + *text);
  const Merged merged = merge(loops);
  count_ = static_cast<std::uint32_t>(merged.count);
  std::reverse_copy(merged.loops.begin(), merged.loops.begin() + count_, loops_.begin());
}

AccessPattern AccessPattern::of_elements(std::uint64_t start, std::uint32_t element_bytes,
                                         std::span<const Loop> loops) {
  constexpr std::size_t most_given = 16;
  if (loops.size() > most_given) throw Defect("access pattern: more than 16 loops given");
  std::array<Loop, most_given> scaled{};
  for (std::size_t i = 0; i < loops.size(); ++i) {
    scaled[i].size = loops[i].size;
    if (__builtin_mul_overflow(loops[i].stride, static_cast<std::int64_t>(element_bytes), &scaled[i].stride))
      throw Defect("access pattern: " + loop_name(i, loops[i]) + ": stride exceeds 2^63 - 1 bytes");
  }
  return {start, element_bytes, std::span<const Loop>(scaled.data(), loops.size())};
}

std::uint64_t AccessPattern::lowest() const {
  std::uint64_t address = start_;
  for (const Loop& loop : loops())
    if (loop.stride < 0) address += wrapped(loop.stride) * (loop.size - 1);
  return address;
}

std::uint64_t AccessPattern::highest() const {
  std::uint64_t address = start_ + element_bytes_ - 1;
  for (const Loop& loop : loops())
    if (loop.stride > 0) address += wrapped(loop.stride) * (loop.size - 1);
  return address;
}

AccessPattern AccessPattern::as_set() const {
  std::array<Loop, max_loops> sorted{};  // by descending stride
  std::size_t count = 0;
  for (const Loop& loop : loops()) {
    if (loop.stride == 0) continue;
    const Loop up{loop.size, static_cast<std::int64_t>(magnitude(loop.stride))};
    std::size_t place = count++;
    for (; place > 0 && sorted[place - 1].stride < up.stride; --place) sorted[place] = sorted[place - 1];
    sorted[place] = up;
  }
  const Merged merged = merge({sorted.data(), count});
  AccessPattern set;
  set.start_ = lowest();
  set.element_bytes_ = element_bytes_;
  set.count_ = static_cast<std::uint32_t>(merged.count);
  std::reverse_copy(merged.loops.begin(), merged.loops.begin() + set.count_, set.loops_.begin());
  return set;
}

PatternList AccessPattern::split(std::uint64_t first, std::uint64_t count) const {
  const std::uint64_t all = elements();
  if (count == 0 || first > all || count > all - first)
    throw Defect("access pattern: elements [" + std::to_string(first) + ", +" + std::to_string(count) +
                 ") are no part of " + std::to_string(all));
  PatternList list;
  const std::uint64_t end = first + count;
  for (std::uint64_t at = first; at < end;) {
    // The outermost loop that starts or continues a whole inner nest here: it gives the longest piece.
    AccessPattern piece;
    piece.element_bytes_ = element_bytes_;
    piece.start_ = start_;
    std::uint64_t below = all;  // elements of one trip of the loop
    std::uint64_t rest = at;
    std::uint64_t taken = 0;
    for (std::size_t level = 0; level < count_; ++level) {
      const Loop& loop = loops_[level];
      below /= loop.size;
      const std::uint64_t index = rest / below;
      rest %= below;
      piece.start_ += index * wrapped(loop.stride);
      if (taken > 0) {
        piece.loops_[piece.count_++] = loop;
        continue;
      }
      if (rest != 0 || end - at < below) continue;
      const std::uint64_t trips = std::min(loop.size - index, (end - at) / below);
      taken = trips * below;
      if (trips > 1) piece.loops_[piece.count_++] = {trips, loop.stride};
    }
    list.items[list.count++] = piece;
    at += count_ == 0 ? 1 : taken;
  }
  return list;
}

bool operator==(const AccessPattern& a, const AccessPattern& b) {
  return a.start_ == b.start_ && a.element_bytes_ == b.element_bytes_ && std::ranges::equal(a.loops(), b.loops());
}

StreamCursor::StreamCursor(const AccessPattern& pattern, std::uint64_t first_byte)
    : pattern_(pattern), run_address_(pattern.start()), run_bytes_(pattern.run_bytes()) {
  const std::uint64_t bytes = pattern.bytes();
  if (first_byte > bytes)
    throw Defect("stream cursor: byte " + std::to_string(first_byte) + " of " + std::to_string(bytes));
  left_ = bytes - first_byte;
  if (left_ == 0) return;
  std::uint64_t run = first_byte / run_bytes_;
  offset_ = first_byte % run_bytes_;
  const std::span<const Loop> nest = pattern_.run_loops();
  for (std::size_t level = nest.size(); level-- > 0;) {
    index_[level] = run % nest[level].size;
    run /= nest[level].size;
    run_address_ += index_[level] * wrapped(nest[level].stride);
  }
}

void StreamCursor::advance(std::uint64_t bytes) {
  if (bytes > run_left() || bytes > left_)
    throw Defect("stream cursor: advance by " + std::to_string(bytes) + " bytes, the run has " +
                 std::to_string(std::min(run_left(), left_)));
  left_ -= bytes;
  offset_ += bytes;
  if (offset_ < run_bytes_ || left_ == 0) return;
  offset_ = 0;
  const std::span<const Loop> nest = pattern_.run_loops();
  for (std::size_t level = nest.size(); level-- > 0;) {
    run_address_ += wrapped(nest[level].stride);
    if (++index_[level] < nest[level].size) return;
    run_address_ -= wrapped(nest[level].stride) * nest[level].size;
    index_[level] = 0;
  }
}

void append_text(const AccessPattern& pattern, std::string& to) {
  std::array<char, 24> digits{};
  const auto append = [&](auto number, int base) {
    to.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr);
  };
  to += "0x";
  append(pattern.start(), 16);
  for (const Loop& loop : pattern.run_loops()) {
    to += ' ';
    append(loop.size, 10);
    to += ':';
    append(loop.stride, 10);
  }
  to += " +";
  append(pattern.run_bytes(), 10);
}

}  // namespace tilevp::memory
