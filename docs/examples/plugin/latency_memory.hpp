#pragma once
// A memory with a fixed latency and one port of a fixed rate, written with TLM-2.0 alone: no extension, no DMI.
//
// A transaction holds the port for its bytes / bytes_per_ns, after those that came before it; latency_ns passes beside
// that and does not hold the port.
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <systemc>

#include "tilevp/base/statistics.hpp"
#include "tilevp/platform/memory_model.hpp"

namespace example {

struct LatencyOptions {
  double latency_ns = 20;
  double bytes_per_ns = 64;

  // Called when a description is read: a KeyError names the line of the file, or the `-c`, that the value came from.
  void check(const std::string& path) const;
};
BOOST_DESCRIBE_STRUCT(LatencyOptions, (), (latency_ns, bytes_per_ns))

class LatencyMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<LatencyMemory> socket{"socket"};

  LatencyMemory(sc_core::sc_module_name name, const tilevp::platform::MemoryContext& context,
                const LatencyOptions& options);

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  using Page = std::array<unsigned char, page_bytes>;

  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload) const;
  void move(const tlm::tlm_generic_payload& payload);

  std::uint64_t size_bytes_;
  LatencyOptions options_;
  std::map<std::uint64_t, Page> pages_;  // by number; those never written read as zeros
  sc_core::sc_time port_free_ = sc_core::SC_ZERO_TIME;

  // They make this memory a line of the report.
  tilevp::Counter bytes_read_;
  tilevp::Counter bytes_written_;
  tilevp::Counter busy_ps_;
};

}  // namespace example
