#pragma once
// What a description says of one memory.
#include <boost/describe.hpp>
#include <cstdint>

#include "tilevp/memory/bandwidth.hpp"
#include "tilevp/memory/coding_style.hpp"

namespace tilevp::memory {

struct MemoryParameters {
  std::uint64_t size_bytes = std::uint64_t{16} << 30;
  std::uint64_t clock_hz = 1'000'000'000;
  // From a request to its first byte, beside the time it waits for the port; does not occupy the port.
  double latency_ns = 0;
  // Rates in bits a cycle of clock_hz.
  BandwidthModel bandwidth = flat_model(512);
  CodingStyle coding_style = CodingStyle::lt;
  // Non-blocking accesses that are accepted and not yet answered to the end; when so many are, END_REQ is held back.
  std::uint32_t request_queue = 256;
};
BOOST_DESCRIBE_STRUCT(MemoryParameters, (), (size_bytes, clock_hz, latency_ns, bandwidth, coding_style, request_queue))

}  // namespace tilevp::memory
