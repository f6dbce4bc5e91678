#pragma once
// The way out of every memory-mapped initiator of ours (host, DMA engine, instruction fetch): one socket, pooled
// payloads, strided accesses with the fall-back to single runs, errors turned into faults.
#include <tlm_utils/simple_initiator_socket.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/payload_pool.hpp"
#include "tilevp/memory/commit_wait.hpp"
#include "tilevp/memory/memory_access.hpp"

namespace tilevp::memory {

enum class Command { read, write };

// What a timing request gave: when the target serves it, and where its bytes are.
struct AccessGrant {
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  std::uint64_t id = 0;
  bool served = false;             // the target took the whole pattern in one transaction
  DirectMemory* direct = nullptr;  // null: the target has no direct way; the bytes must go through transfer()
  AccessPattern direct_pattern{};
  std::uint64_t bursts = 0;  // as the target counts them; 0: it does not say
  std::uint64_t wasted_bytes = 0;
};

// Error responses of targets become faults: `memory.address_error`, `memory.command_error`, `memory.burst_error`,
// `memory.byte_enable_error` and, for the rest, `memory.error`.
class InitiatorPort : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<InitiatorPort> socket{"socket"};

  InitiatorPort(sc_core::sc_module_name name, Agent& agent);

  // Whether the target of the whole pattern serves patterns and gives direct access. Asked without time passing, by a
  // debug transport of length 0 that carries the extension: a target with direct access sets `direct` and
  // `direct_pattern` and changes nothing. False where nothing answers.
  bool is_direct(const AccessPattern& pattern);

  // Asks for time only. The agent is synchronised first (R1); no simulated time passes. The target must be direct
  // (Defect otherwise). The caller moves the bytes at `end_ps`: commit_read or commit_write, then gather or scatter in
  // an effect.
  AccessGrant request(Command command, const AccessPattern& pattern, std::uint64_t cause);

  // Moves `data` (packed, in the pattern's stream order) and waits until the access has ended. Works for every target:
  // a direct one samples or writes at the end (R6); a foreign one is sent the runs one by one, each as a plain
  // transaction that ends before the next begins. Returns when it began and ended. These bytes move with `arithmetic`
  // off too: they are what programs are made of (instructions, descriptors, tensors of the host).
  AccessGrant transfer(Command command, const AccessPattern& pattern, std::span<std::byte> data, std::uint64_t cause);

  // Debug access: no time, no checks of definedness. Returns the number of bytes moved.
  std::size_t debug(Command command, std::uint64_t address, std::span<std::byte> data);

 private:
  using Handle = PayloadPool<MemoryAccess>::Handle;
  AccessGrant send(Command command, const AccessPattern& pattern, std::byte* data, bool timing_only,
                   std::uint64_t cause);
  AccessGrant request_time(Command command, const AccessPattern& pattern, std::byte* data, std::uint64_t cause);
  // Waits for the grant's end, then moves the bytes.
  void commit(Command command, const AccessGrant& grant, std::span<std::byte> data);
  // The runs after the first.
  void send_rest(Command command, const AccessPattern& pattern, std::span<std::byte> data, std::uint64_t parent);
  void send_plain(Command command, const Run& run, std::byte* data, std::uint64_t parent);
  // Tells who watches of a transaction that was asked for at `asked` and has returned; it names the whole pattern where
  // the target served it, else the run that was sent.
  void report(const tlm::tlm_generic_payload& payload, const MemoryAccess& access, std::uint64_t asked,
              std::uint64_t parent, sc_core::sc_time delay) const;
  static void fill(tlm::tlm_generic_payload& payload, Command command, const Run& run, std::byte* data);
  [[noreturn]] void raise(const tlm::tlm_generic_payload& payload, Command command) const;

  Agent& agent_;
  PayloadPool<MemoryAccess> pool_;
  tlm::tlm_generic_payload plain_;  // for single runs: it has no extension
  CommitWait commit_;
  std::vector<std::byte> unused_;  // what a timing request points to: no target of ours touches it
};

}  // namespace tilevp::memory
