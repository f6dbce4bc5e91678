#pragma once
// A simulation with agents whose bodies a test writes as lambdas, and memories as a user would write them.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilevp/base/simulation.hpp"
#include "tilevp/memory/initiator_port.hpp"
#include "tilevp/memory/memory.hpp"

namespace tilevp::memory::testing {

// An agent with a port to memory. The run ends when all drivers of a simulation have returned.
class Driver : public sc_core::sc_module {
 public:
  Driver(sc_core::sc_module_name name, Simulation& simulation, unsigned port, unsigned& running)
      : sc_module(name), agent(simulation, this->name(), port), memory("memory", agent) {
    ++running;
    simulation.thread(*this, "run", [this, &simulation, &running] {
      body(*this);
      if (--running == 0) simulation.finish();
    });
  }
  Agent agent;
  InitiatorPort memory;
  std::function<void(Driver&)> body = [](Driver&) {};

  AccessGrant write(const AccessPattern& pattern, std::vector<std::byte> data) {
    return memory.transfer(Command::write, pattern, data, 0);
  }
  std::vector<std::byte> read(const AccessPattern& pattern) {
    std::vector<std::byte> data(pattern.bytes());
    memory.transfer(Command::read, pattern, data, 0);
    return data;
  }
};

// A memory as somebody else writes one: loosely timed, no extension, no DMI, one annotated delay an access.
class ForeignMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<ForeignMemory> socket{"socket"};
  std::vector<unsigned char> bytes;
  std::vector<Run> accesses;

  ForeignMemory(sc_core::sc_module_name name, std::size_t size, sc_core::sc_time latency = sc_core::SC_ZERO_TIME)
      : sc_module(name), bytes(size), latency_(latency) {
    socket.register_b_transport(this, &ForeignMemory::b_transport);
    socket.register_transport_dbg(this, &ForeignMemory::transport_dbg);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_address() + payload.get_data_length() > bytes.size()) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    accesses.push_back({payload.get_address(), payload.get_data_length()});
    if (payload.is_read())
      std::memcpy(payload.get_data_ptr(), &bytes[payload.get_address()], payload.get_data_length());
    else
      std::memcpy(&bytes[payload.get_address()], payload.get_data_ptr(), payload.get_data_length());
    delay += latency_;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload) {
    if (payload.get_address() + payload.get_data_length() > bytes.size()) return 0;
    if (payload.is_read() && payload.get_data_length() > 0)
      std::memcpy(payload.get_data_ptr(), &bytes[payload.get_address()], payload.get_data_length());
    return payload.get_data_length();
  }
  sc_core::sc_time latency_;
};

// Any initiator: plain payloads, no extension.
class ForeignInitiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<ForeignInitiator> socket{"socket"};
  explicit ForeignInitiator(sc_core::sc_module_name name) : sc_module(name) {}

  // Sends a payload as it stands, waits off the delay, gives the status.
  tlm::tlm_response_status send(tlm::tlm_generic_payload& payload, sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    socket->b_transport(payload, delay);
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    return payload.get_response_status();
  }
};

inline void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
                 std::span<unsigned char> data) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data.data());
  payload.set_data_length(static_cast<unsigned>(data.size()));
  payload.set_streaming_width(static_cast<unsigned>(data.size()));
  payload.set_byte_enable_ptr(nullptr);
}

// 0, 1, 2, ... modulo 251: no two rows of a power-of-two pitch look alike.
inline std::vector<std::byte> ramp(std::size_t bytes, unsigned first = 0) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((first + i) % 251);
  return data;
}

// 1 GHz, one byte a cycle each way unless told otherwise: a byte is a nanosecond.
inline MemoryParameters byte_a_nanosecond(std::uint64_t size_bytes = 1 << 20) {
  return {.size_bytes = size_bytes, .clock_hz = 1'000'000'000, .latency_ns = 0, .bandwidth = flat_model(8)};
}

}  // namespace tilevp::memory::testing
