#pragma once
// Which earlier operations an operation must wait for: an interval map a memory.
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {

// Who executes operations and completes them in order: the five engines, then the DMA queues.
using Agent = std::uint8_t;

// The accesses to one memory that a later one may have to wait for. An access is forgotten when one that is ordered
// behind it covers it: whoever waits for the later one has waited for both.
class HazardMap {
 public:
  struct Entry {
    std::uint32_t ordinal = 0;  // of the operation among those of its agent
    std::uint32_t row_begin = 0;
    std::uint32_t row_end = 0;
    Agent agent = 0;
    bool write = false;
  };

  // Calls conflict(agent, ordinal) for every recorded access of another agent that overlaps `region` where one of the
  // two writes (RAW, WAR, WAW).
  template <class Conflict>
  void find(const Region& region, Agent agent, Conflict&& conflict) const;
  // Records the access.
  void record(const Region& region, Agent agent, std::uint32_t ordinal);

 private:
  using Entries = boost::container::small_vector<Entry, 4>;
  struct Segment {
    std::uint64_t end = 0;
    Entries entries;
  };
  using Segments = std::map<std::uint64_t, Segment>;  // by first byte; disjoint

  static bool overlaps(const Entry& entry, const Region& region) {
    return entry.row_begin < region.row_end && region.row_begin < entry.row_end;
  }
  // Drops what the new entry covers.
  static void prune(Entries& entries, const Entry& added);
  Segments::const_iterator first_reaching(std::uint64_t byte) const;
  void split_at(std::uint64_t byte);

  Segments segments_;
};

template <class Conflict>
void HazardMap::find(const Region& region, Agent agent, Conflict&& conflict) const {
  for (auto at = first_reaching(region.byte_begin); at != segments_.end() && at->first < region.byte_end; ++at)
    for (const Entry& entry : at->second.entries)
      if (entry.agent != agent && (entry.write || region.write) && overlaps(entry, region))
        conflict(entry.agent, entry.ordinal);
}

}  // namespace tilevp::neuron
