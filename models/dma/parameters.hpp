#pragma once
// What a description says of the DMA engines of one core.
#include <boost/describe.hpp>
#include <cstdint>

#include "tilevp/memory/coding_style.hpp"

namespace tilevp::dma {

struct Parameters {
  std::uint32_t engines = 16;
  std::uint64_t clock_hz = 1'400'000'000;
  // Rate at which one engine moves data, in bytes a nanosecond.
  double bytes_per_ns = 17.0;
  // From the doorbell (or the trigger instruction) to the first byte of a descriptor, its fetch included.
  double start_latency_ns = 1300.0;
  // A contiguous run takes at least this long in an engine, however short it is.
  double run_floor_ns = 107.0;
  // The rate of a transpose in per cent of a copy's, from HBM and from SBUF; 0: the engine has none.
  std::uint32_t transpose_percent_from_hbm = 0;
  std::uint32_t transpose_percent_from_sbuf = 0;
  // A packet takes at least this long in an engine.
  double packet_floor_ns = 0.0;
  // The grain of arbitration: at most this many bytes and runs before the engine looks at its other queues. A longer
  // grain delays the other queues of the engine by up to one grain.
  std::uint32_t packet_bytes = 4096;
  std::uint32_t packet_runs = 64;
  // Packets an engine may have in flight (issued, not yet ended).
  std::uint32_t outstanding_packets = 8;
  // Descriptors fetched ahead of the one that runs, a queue.
  std::uint32_t prefetch_descriptors = 64;
  // How engines ask memories: with `at` by nb_transport, but memories of ours only where they are `at` too.
  memory::CodingStyle coding_style = memory::CodingStyle::lt;
};
BOOST_DESCRIBE_STRUCT(Parameters, (),
                      (engines, clock_hz, bytes_per_ns, start_latency_ns, run_floor_ns, transpose_percent_from_hbm,
                       transpose_percent_from_sbuf, packet_floor_ns, packet_bytes, packet_runs, outstanding_packets,
                       prefetch_descriptors, coding_style))

}  // namespace tilevp::dma
