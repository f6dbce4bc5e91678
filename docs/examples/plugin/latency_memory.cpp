#include "latency_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace example {
namespace {

using tilevp::StatisticDefinition;
using tilevp::described::KeyError;
using tilevp::described::number_text;
using tilevp::described::path_to_key;

constexpr StatisticDefinition bytes_read_definition{"bytes_read", "bytes", "Bytes that transactions read."};
constexpr StatisticDefinition bytes_written_definition{"bytes_written", "bytes", "Bytes that transactions wrote."};
constexpr StatisticDefinition busy_definition{"busy_ps", "ps", "Time the port was occupied."};

sc_core::sc_time picoseconds(double value) {
  return sc_core::sc_time::from_value(static_cast<std::uint64_t>(std::ceil(value)));
}

}  // namespace

void LatencyOptions::check(const std::string& path) const {
  if (!(latency_ns >= 0) || latency_ns > 1e9)
    throw KeyError(path_to_key(path, "latency_ns"), "expected 0 to 1e9, found " + number_text(latency_ns));
  if (!(bytes_per_ns >= 0.001))
    throw KeyError(path_to_key(path, "bytes_per_ns"), "expected at least 0.001, found " + number_text(bytes_per_ns));
}

LatencyMemory::LatencyMemory(sc_core::sc_module_name name, const tilevp::platform::MemoryContext& context,
                             const LatencyOptions& options)
    : sc_module(name), size_bytes_(context.parameters.size_bytes), options_(options) {
  socket.register_b_transport(this, &LatencyMemory::b_transport);
  socket.register_transport_dbg(this, &LatencyMemory::transport_dbg);
  auto& statistics = context.simulation.statistics();
  statistics.add(this->name(), bytes_read_definition, bytes_read_);
  statistics.add(this->name(), bytes_written_definition, bytes_written_);
  statistics.add(this->name(), busy_definition, busy_ps_);
}

void LatencyMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_response_status(check(payload));
  if (!payload.is_response_ok()) return;
  move(payload);
  (payload.is_read() ? bytes_read_ : bytes_written_) += payload.get_data_length();
  const double bytes = payload.get_data_length();
  const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
  const sc_core::sc_time work = picoseconds(bytes * 1000 / options_.bytes_per_ns);
  port_free_ = std::max(now, port_free_) + work;
  busy_ps_ += work.value();
  delay += port_free_ - now + picoseconds(options_.latency_ns * 1000);
}

// What --load and --dump go through: bytes without time.
unsigned int LatencyMemory::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (check(payload) != tlm::TLM_OK_RESPONSE) return 0;
  move(payload);
  return payload.get_data_length();
}

tlm::tlm_response_status LatencyMemory::check(const tlm::tlm_generic_payload& payload) const {
  const std::uint64_t bytes = payload.get_data_length();
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_address() > size_bytes_ || bytes > size_bytes_ - payload.get_address())
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  return payload.is_read() || payload.is_write() ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE;
}

void LatencyMemory::move(const tlm::tlm_generic_payload& payload) {
  const std::uint64_t bytes = payload.get_data_length();
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t address = payload.get_address() + done;
    const std::uint64_t offset = address % page_bytes;
    const std::uint64_t piece = std::min(bytes - done, page_bytes - offset);
    unsigned char* const inside = pages_[address / page_bytes].data() + offset;
    unsigned char* const outside = payload.get_data_ptr() + done;
    if (payload.is_read())
      std::memcpy(outside, inside, piece);
    else
      std::memcpy(inside, outside, piece);
    done += piece;
  }
}

}  // namespace example
