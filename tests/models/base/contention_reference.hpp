#pragma once
// A slow reference for contention: it steps time and keeps real queues. It includes no product header.
#include <cstdint>
#include <string>
#include <vector>

namespace reference {

// One piece of work of a requester: `gap_ps` after its last piece ended it asks for `work` sixteenths of a cycle
// (exclusive resources: whole cycles, 16 each) of every resource in the mask.
struct Piece {
  std::uint64_t gap_ps = 0;
  std::uint64_t work16 = 16;
  unsigned mask = 1;
};

struct Interval {
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  bool operator==(const Interval&) const = default;
};

struct Case {
  bool exclusive = true;  // else: rate resources, one a piece
  std::uint64_t hz_numerator = 1;
  std::uint64_t hz_denominator = 1;
  std::uint64_t origin_ps = 0;  // when all requesters start
  std::vector<int> priorities;  // a requester
  std::vector<std::vector<Piece>> pieces;
};

// The intervals of every piece of every requester.
std::vector<std::vector<Interval>> simulate(const Case& c);

}  // namespace reference
