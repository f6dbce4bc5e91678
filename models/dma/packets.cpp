#include "tilevp/dma/packets.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/number_text.hpp"
#include "tilevp/memory/bandwidth.hpp"

namespace tilevp::dma {
namespace {

CyclesQ32 nanoseconds_q32(double nanoseconds, std::string_view place, const char* key) {
  const double ps = nanoseconds * 1000;
  if (!(ps >= 0) || ps >= 0x1p31)
    throw UserError(std::string(place) + "." + key,
                    "expected 0 to 2147483 nanoseconds, found " + number_text(nanoseconds));
  return static_cast<CyclesQ32>(std::llround(ps)) << 32;
}

// Bytes at a rate in bytes a nanosecond: bytes * 1000 / rate picoseconds.
CyclesQ32 transfer_q32(std::uint64_t bytes, double bytes_per_ns) {
  return memory::cycles_q32(bytes * 1000, bytes_per_ns, "dma.bytes_per_ns");
}

std::uint64_t wider(const Slice& slice) { return std::max(slice.source.bytes(), slice.destination.bytes()); }

}  // namespace

PacketCutter::PacketCutter(const Copy& copy, const Parameters& parameters, std::uint32_t transpose_percent)
    : source_(copy.source),
      destination_(copy.destination),
      transpose_percent_(transpose_percent),
      elements_(source_.elements()),
      run_elements_(source_.run_bytes() / source_.element_bytes()),
      most_elements_(std::max<std::uint64_t>(
          1, parameters.packet_bytes / std::max(source_.element_bytes(), destination_.element_bytes()))),
      most_runs_(parameters.packet_runs) {
  if (transpose_percent_ == 0)
    run_elements_ = std::min(run_elements_, destination_.run_bytes() / destination_.element_bytes());
}

std::uint64_t PacketCutter::elements_of_packet() const {
  const std::uint64_t into_run = at_ % run_elements_;
  const std::uint64_t whole_runs = std::min(most_elements_ / run_elements_, most_runs_);
  const std::uint64_t wanted =
      whole_runs > 0 ? whole_runs * run_elements_ - into_run : std::min(most_elements_, run_elements_ - into_run);
  return std::min(wanted, elements_ - at_);
}

// The longest stretch from here that is a single pattern on both sides.
Slice PacketCutter::longest_slice(std::uint64_t limit) const {
  for (;;) {
    const memory::AccessPattern source = source_.split(at_, limit).items[0];
    const memory::AccessPattern destination = destination_.split(at_, limit).items[0];
    const std::uint64_t shorter = std::min(source.elements(), destination.elements());
    if (source.elements() == destination.elements())
      return {source, destination,
              transpose_percent_ != 0 ? source.runs() : std::max(source.runs(), destination.runs())};
    limit = shorter;
  }
}

Packet PacketCutter::next() {
  Packet packet;
  if (transpose_percent_ != 0) packet.rate_percent = transpose_percent_;
  std::uint64_t left = elements_of_packet();
  while (left > 0 && packet.count < Packet::max_slices) {
    const Slice slice = longest_slice(left);
    packet.slices[packet.count++] = slice;
    packet.runs += slice.runs;
    packet.bytes += slice.destination.bytes();
    at_ += slice.source.elements();
    left -= slice.source.elements();
  }
  packet.last = done();
  return packet;
}

EngineTime::EngineTime(const Parameters& parameters, std::string_view place)
    : bytes_per_ns_(parameters.bytes_per_ns),
      run_floor_q32_(nanoseconds_q32(parameters.run_floor_ns, place, "run_floor_ns")),
      packet_floor_q32_(nanoseconds_q32(parameters.packet_floor_ns, place, "packet_floor_ns")) {
  if (!std::isfinite(bytes_per_ns_) || bytes_per_ns_ <= 0)
    throw UserError(std::string(place) + ".bytes_per_ns",
                    "expected a positive number, found " + number_text(bytes_per_ns_));
  const double packet_ps =
      std::max(parameters.packet_bytes, memory::AccessPattern::max_element_bytes) * 1000.0 / bytes_per_ns_;
  if (packet_ps >= 0x1p31)
    throw UserError(std::string(place) + ".bytes_per_ns", "packet_bytes of " + std::to_string(parameters.packet_bytes) +
                                                              " take " + number_text(packet_ps / 1000) + " ns at " +
                                                              number_text(bytes_per_ns_) +
                                                              " bytes/ns; expected less than 2147483 ns");
}

CyclesQ32 EngineTime::ps_q32(const Packet& packet) const {
  CyclesQ32 time = 0;
  for (const Slice& slice : packet.span())
    time += std::max(slice.runs * run_floor_q32_, transfer_q32(wider(slice), bytes_per_ns_));
  time = std::max(time, packet_floor_q32_);
  return packet.rate_percent == 100 ? time : time * 100 / packet.rate_percent;
}

}  // namespace tilevp::dma
