#pragma once
// Cuts a copy into packets: what an engine moves before it looks at its other queues.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tilevp/base/clock_domain.hpp"
#include "tilevp/dma/parameters.hpp"
#include "tilevp/dma/rows.hpp"
#include "tilevp/memory/access_pattern.hpp"

namespace tilevp::dma {

// The same elements of the stream on both sides.
struct Slice {
  memory::AccessPattern source;
  memory::AccessPattern destination;
  // Pieces the engine moves one by one: the contiguous runs of the side that has more of them; of a transpose, those of
  // the source.
  std::uint64_t runs = 0;
};

struct Packet {
  static constexpr std::size_t max_slices = 8;
  std::array<Slice, max_slices> slices{};
  std::size_t count = 0;
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0;           // written
  bool last = false;                 // of its descriptor
  std::uint32_t rate_percent = 100;  // of a copy's

  std::span<const Slice> span() const { return {slices.data(), count}; }
};

// A packet ends between runs where it can: at most `packet_runs` runs and, unless one run is longer, `packet_bytes`
// bytes of the side with the wider elements. A longer run is cut.
class PacketCutter {
 public:
  // `transpose_percent`: of a copy's rate, for a descriptor that transposes; 0: it does not.
  PacketCutter(const Copy& copy, const Parameters& parameters, std::uint32_t transpose_percent = 0);

  bool done() const { return at_ == elements_; }
  // Only while not done.
  Packet next();

 private:
  std::uint64_t elements_of_packet() const;
  Slice longest_slice(std::uint64_t limit) const;

  memory::AccessPattern source_;
  memory::AccessPattern destination_;
  std::uint32_t transpose_percent_;
  std::uint64_t elements_;
  std::uint64_t run_elements_;  // of the shorter runs of both sides
  std::uint64_t most_elements_;
  std::uint64_t most_runs_;
  std::uint64_t at_ = 0;
};

// How long an engine takes for a packet: for each run the longer of its floor and its bytes at the engine's rate, for
// the packet at least its own floor; of a transpose all that by its share of a copy's rate. In picoseconds * 2^32, so
// that sums of many packets do not drift.
class EngineTime {
 public:
  // Throws UserError at `place` for a rate that is not positive or packet_bytes that take 2 ms or more.
  EngineTime(const Parameters& parameters, std::string_view place);
  CyclesQ32 ps_q32(const Packet& packet) const;

 private:
  double bytes_per_ns_;
  CyclesQ32 run_floor_q32_;
  CyclesQ32 packet_floor_q32_;
};

}  // namespace tilevp::dma
