#include "tilevp/neuron/hazards.hpp"

#include <algorithm>

namespace tilevp::neuron {

HazardMap::Segments::const_iterator HazardMap::first_reaching(std::uint64_t byte) const {
  auto at = segments_.upper_bound(byte);
  if (at != segments_.begin()) {
    const auto before = std::prev(at);
    if (before->second.end > byte) return before;
  }
  return at;
}

void HazardMap::split_at(std::uint64_t byte) {
  auto at = segments_.upper_bound(byte);
  if (at == segments_.begin()) return;
  --at;
  if (at->first == byte || at->second.end <= byte) return;
  Segment tail = at->second;
  at->second.end = byte;
  segments_.emplace_hint(std::next(at), byte, std::move(tail));
}

void HazardMap::prune(Entries& entries, const Entry& added) {
  const auto covered = [&](const Entry& old) {
    const bool inside = added.row_begin <= old.row_begin && old.row_end <= added.row_end;
    return inside && (added.write || (old.agent == added.agent && !old.write));
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), covered), entries.end());
}

void HazardMap::record(const Region& region, Agent agent, std::uint32_t ordinal) {
  const Entry added{ordinal, region.row_begin, region.row_end, agent, region.write};
  split_at(region.byte_begin);
  split_at(region.byte_end);
  const auto begin = segments_.lower_bound(region.byte_begin);
  const auto end = segments_.lower_bound(region.byte_end);
  bool empty = true;
  for (auto at = begin; at != end; ++at) {
    prune(at->second.entries, added);
    empty = empty && at->second.entries.empty();
  }
  if (empty) {  // one segment for all of it: a write cleans up
    segments_.erase(begin, end);
    segments_.emplace(region.byte_begin, Segment{region.byte_end, Entries{added}});
    return;
  }
  std::uint64_t covered_to = region.byte_begin;
  for (auto at = begin; at != end; ++at) {
    if (at->first > covered_to) segments_.emplace_hint(at, covered_to, Segment{at->first, Entries{added}});
    at->second.entries.push_back(added);
    covered_to = at->second.end;
  }
  if (covered_to < region.byte_end) segments_.emplace(covered_to, Segment{region.byte_end, Entries{added}});
}

}  // namespace tilevp::neuron
