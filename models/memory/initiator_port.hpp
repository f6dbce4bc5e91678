#pragma once
// The way out of every memory-mapped initiator of ours (host, DMA engine, instruction fetch): one socket, pooled
// payloads, strided accesses with the fall-back to single runs, errors turned into faults.
#include <tlm_utils/simple_initiator_socket.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/payload_pool.hpp"
#include "tilevp/memory/memory_access.hpp"

namespace tilevp::memory {

enum class Command { read, write };

// What a timing request gave: when the target serves it, and where its bytes are.
struct AccessGrant {
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  std::uint64_t id = 0;
  DirectMemory* direct = nullptr;  // null: the target has no direct way; the bytes must go through transfer()
  AccessPattern direct_pattern;
};

class InitiatorPort : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<InitiatorPort> socket{"socket"};

  InitiatorPort(sc_core::sc_module_name name, Agent& agent);

  // Whether the target of the whole pattern serves patterns and gives direct access (asked once a region, without time
  // passing, by a debug transport of length 0 that carries the extension).
  bool is_direct(const AccessPattern& pattern);

  // Asks for time only. The agent is synchronised first (R1); no simulated time passes. The target must be direct.
  AccessGrant request(Command command, const AccessPattern& pattern, std::uint64_t cause);

  // Moves `data` (packed, in the pattern's stream order) and waits until the access has ended. Works for every target:
  // a direct one samples or writes at the end (R6); a foreign one is sent the runs one by one, each as a plain
  // transaction. Returns when it began and ended.
  AccessGrant transfer(Command command, const AccessPattern& pattern, std::span<std::byte> data, std::uint64_t cause);

  // Debug access: no time, no checks of definedness. Returns the number of bytes moved.
  std::size_t debug(Command command, std::uint64_t address, std::span<std::byte> data);

 private:
  AccessGrant send(Command command, const AccessPattern& pattern, std::byte* data, bool timing_only,
                   std::uint64_t cause);
  [[noreturn]] void raise(const tlm::tlm_generic_payload& payload, Command command) const;

  Agent& agent_;
  PayloadPool<MemoryAccess> pool_;
};

}  // namespace tilevp::memory
