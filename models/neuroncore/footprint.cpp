#include "tilevp/neuroncore/footprint.hpp"

#include <algorithm>
#include <numeric>

#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuroncore {
namespace {

using memory::AccessPattern;
using memory::Loop;
using memory::Run;

using Action = std::function<void(const Footprint&)>;

std::uint64_t reach_of(std::span<const Loop> loops) {
  std::uint64_t reach = 0;
  for (const Loop& loop : loops) reach += (loop.size - 1) * static_cast<std::uint64_t>(loop.stride);
  return reach;
}

// Calls fn(run) for the runs of a set that touch [low, high), in ascending order where loops do not overlap; true from
// fn ends it.
template <class Fn>
bool any_run_within(std::span<const Loop> loops, std::uint64_t start, std::uint64_t run_bytes, std::uint64_t low,
                    std::uint64_t high, Fn&& fn) {
  if (start >= high) return false;
  if (loops.empty()) return start + run_bytes > low && fn(Run{start, run_bytes});
  const auto stride = static_cast<std::uint64_t>(loops.front().stride);
  const auto inner = loops.subspan(1);
  const std::uint64_t extent = reach_of(inner) + run_bytes;
  const std::uint64_t first = low >= start + extent ? (low - start - extent) / stride + 1 : 0;
  const std::uint64_t last = std::min(loops.front().size - 1, (high - 1 - start) / stride);
  for (std::uint64_t i = first; i <= last && i < loops.front().size; ++i)
    if (any_run_within(inner, start + i * stride, run_bytes, low, high, fn)) return true;
  return false;
}

// Both sets repeat with the greatest common divisor of their strides: interleaved tiles, found apart at once.
bool apart_by_residue(const AccessPattern& a, const AccessPattern& b) {
  std::uint64_t g = 0;
  for (const AccessPattern* pattern : {&a, &b})
    for (const Loop& loop : pattern->run_loops()) g = std::gcd(g, static_cast<std::uint64_t>(loop.stride));
  if (g == 0) return false;
  const std::uint64_t distance = (b.start() % g + g - a.start() % g) % g;
  return distance >= a.run_bytes() && distance + b.run_bytes() <= g;
}

// Of a set within one memory of the core, relative to it.
void for_each_box(Place place, unsigned shift, const AccessPattern& set, const Action& action) {
  const std::uint64_t span = std::uint64_t{1} << shift;
  const auto loops = set.loops();
  const bool by_partitions = !loops.empty() && static_cast<std::uint64_t>(loops.front().stride) >= span;
  const std::span<const Loop> inner = by_partitions ? loops.subspan(1) : loops;
  const std::uint64_t count = by_partitions ? loops.front().size : 1;
  const std::uint64_t step = by_partitions ? static_cast<std::uint64_t>(loops.front().stride) : 0;
  const std::uint64_t offset = set.start() & (span - 1);
  const std::uint64_t partition = set.start() >> shift;
  const bool fits = offset + reach_of(inner) + set.element_bytes() <= span;
  if (fits && (count == 1 || step == span)) {
    action({place, static_cast<std::uint16_t>(partition), static_cast<std::uint16_t>(partition + count),
            AccessPattern(offset, set.element_bytes(), inner)});
  } else if (by_partitions) {
    for (std::uint64_t i = 0; i < count; ++i)
      for_each_box(place, shift, AccessPattern(set.start() + i * step, set.element_bytes(), inner), action);
  } else {
    set.for_each_run([&](std::uint64_t address, std::uint64_t bytes) {
      while (bytes > 0) {
        const std::uint64_t at = address & (span - 1);
        const std::uint64_t piece = std::min(bytes, span - at);
        const auto p = static_cast<std::uint16_t>(address >> shift);
        action({place, p, static_cast<std::uint16_t>(p + 1), AccessPattern::contiguous(at, piece)});
        address += piece;
        bytes -= piece;
      }
    });
  }
}

}  // namespace

Footprint footprint_of(const Operand& tile, unsigned partitions, std::uint32_t element_bytes) {
  std::array<Loop, 3> loops{};
  std::size_t count = 0;
  for (const Dim& dim : tile.dims)
    if (dim.num > 1) loops[count++] = {dim.num, std::int64_t{dim.step} * element_bytes};
  return {tile.space == Space::sbuf ? Place::sbuf : Place::psum, tile.partition,
          static_cast<std::uint16_t>(tile.partition + partitions),
          AccessPattern(tile.offset, element_bytes, std::span<const Loop>(loops.data(), count)).as_set()};
}

void for_each_footprint(const AccessPattern& pattern, std::uint64_t core_base, const Action& action) {
  const std::uint64_t sbuf = core_base + registers::sbuf_window;
  const std::uint64_t psum = core_base + registers::psum_window;
  const std::uint64_t psum_end = psum + (std::uint64_t{max_partitions} << psum_partition_shift);
  const std::uint64_t low = pattern.lowest();
  const std::uint64_t high = pattern.highest();
  const AccessPattern set = pattern.as_set();
  if (low >= sbuf && high < psum)
    for_each_box(Place::sbuf, sbuf_partition_shift, set.shifted(-static_cast<std::int64_t>(sbuf)), action);
  else if (low >= psum && high < psum_end)
    for_each_box(Place::psum, psum_partition_shift, set.shifted(-static_cast<std::int64_t>(psum)), action);
  else
    action({Place::memory, 0, 1, set});
}

std::optional<Run> first_common(const AccessPattern& a, const AccessPattern& b) {
  if (a.highest() < b.lowest() || b.highest() < a.lowest() || apart_by_residue(a, b)) return std::nullopt;
  const bool walk_a = a.runs() <= b.runs();
  const AccessPattern& few = walk_a ? a : b;
  const AccessPattern& many = walk_a ? b : a;
  std::optional<Run> common;
  any_run_within(few.run_loops(), few.start(), few.run_bytes(), many.lowest(), many.highest() + 1, [&](const Run& one) {
    return any_run_within(many.run_loops(), many.start(), many.run_bytes(), one.address, one.address + one.bytes,
                          [&](const Run& other) {
                            const std::uint64_t low = std::max(one.address, other.address);
                            const std::uint64_t high = std::min(one.address + one.bytes, other.address + other.bytes);
                            common = Run{low, high - low};
                            return true;
                          });
  });
  return common;
}

bool surely_contains(const AccessPattern& outer, const AccessPattern& inner) {
  if (outer.is_contiguous()) return outer.lowest() <= inner.lowest() && inner.highest() <= outer.highest();
  return outer == inner;
}

}  // namespace tilevp::neuroncore
