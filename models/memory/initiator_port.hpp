#pragma once
// The way out of every memory-mapped initiator of ours (host, DMA engine, instruction fetch): one socket, pooled
// payloads, strided accesses with the fall-back to single runs, errors turned into faults.
#include <tlm_utils/simple_initiator_socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/payload_pool.hpp"
#include "tilevp/memory/coding_style.hpp"
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
  bool pending = false;  // non-blocking and not answered yet: the responder will be told
};

// What lies behind a pattern.
struct Reach {
  bool direct = false;       // its target serves patterns and gives direct access
  bool nonblocking = false;  // and would rather have the non-blocking calls
};

// Told of the response to a non-blocking access.
class Responder {
 public:
  // The access has ended; called once, outside any SC_THREAD: it must not wait and must not start an access.
  virtual void responded(const AccessGrant& grant) = 0;
  // Instead, where the target answered with an error: throws what ends the run.
  virtual void failed(const Fault& fault) { throw Fault(fault); }

 protected:
  ~Responder() = default;
};

// Error responses of targets become faults: `memory.address_error`, `memory.command_error`, `memory.burst_error`,
// `memory.byte_enable_error` and, for the rest, `memory.error`.
class InitiatorPort : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<InitiatorPort> socket{"socket"};

  // With `at`, transfer() uses the non-blocking calls where there is no direct access, and the accesses that take a
  // Responder may be made.
  InitiatorPort(sc_core::sc_module_name name, Agent& agent, CodingStyle style = CodingStyle::lt);
  ~InitiatorPort() override;

  // Whether the target of the whole pattern serves patterns and gives direct access. Asked without time passing, by a
  // debug transport of length 0 that carries the extension: a target with direct access sets `direct` and
  // `direct_pattern` and changes nothing. False where nothing answers.
  bool is_direct(const AccessPattern& pattern) { return reach(pattern).direct; }
  Reach reach(const AccessPattern& pattern);

  // Asks for time only. The agent is synchronised first (R1); no simulated time passes. The target must be direct
  // (Defect otherwise). The caller moves the bytes at `end_ps`: commit_read or commit_write, then gather or scatter in
  // an effect.
  AccessGrant request(Command command, const AccessPattern& pattern, std::uint64_t cause);
  // The same with nb_transport: returns when the request is accepted (END_REQ), which a target may hold back. Where the
  // grant is `pending`, `responder` is told the final one. The target sets the extension's results by then, times
  // already with END_REQ if it can.
  AccessGrant request(Command command, const AccessPattern& pattern, std::uint64_t cause, Responder& responder);
  // One run with its bytes, for targets that do not serve patterns; `data` must live until the response.
  AccessGrant begin(Command command, const Run& run, std::byte* data, std::uint64_t cause, Responder& responder);
  // Non-blocking accesses that have not ended.
  std::size_t in_flight() const;

  // Moves `data` (packed, in the pattern's stream order) and waits until the access has ended. Works for every target:
  // a direct one samples or writes at the end (R6); a foreign one is sent the runs one by one, each as a plain
  // transaction that ends before the next begins. Returns when it began and ended. These bytes move with `arithmetic`
  // off too: they are what programs are made of (instructions, descriptors, tensors of the host).
  AccessGrant transfer(Command command, const AccessPattern& pattern, std::span<std::byte> data, std::uint64_t cause);

  // Debug access: no time, no checks of definedness. Returns the number of bytes moved.
  std::size_t debug(Command command, std::uint64_t address, std::span<std::byte> data);

 private:
  class Exchanges;
  using Handle = PayloadPool<MemoryAccess>::Handle;
  AccessGrant send(Command command, const AccessPattern& pattern, std::byte* data, bool timing_only,
                   std::uint64_t cause);
  AccessGrant request_time(Command command, const AccessPattern& pattern, std::byte* data, std::uint64_t cause);
  // Waits for the grant's end, then moves the bytes.
  void commit(Command command, const AccessGrant& grant, std::span<std::byte> data);
  // The runs after the first.
  void send_rest(Command command, const AccessPattern& pattern, std::span<std::byte> data, std::uint64_t parent);
  void send_plain(Command command, const Run& run, std::byte* data, std::uint64_t parent);
  // Tells who watches of a transaction that was asked for at `asked` and whose end is known; it names the whole pattern
  // where the target served it, else the run that was sent.
  void report(const tlm::tlm_generic_payload& payload, const MemoryAccess& access, const AccessPattern& pattern,
              std::uint64_t asked, std::uint64_t parent, sc_core::sc_time delay) const;
  static void fill(tlm::tlm_generic_payload& payload, Command command, const Run& run, std::byte* data);
  static AccessGrant served_grant(const MemoryAccess& access);
  Fault fault_of(const tlm::tlm_generic_payload& payload, Command command) const;
  Exchanges& exchanges();
  std::byte* unused(std::uint64_t bytes);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);

  // TLM lengths have 32 bits: a longer run is sent in pieces.
  static constexpr std::uint64_t max_plain_bytes = std::uint64_t{1} << 30;

  Agent& agent_;
  PayloadPool<MemoryAccess> pool_;
  tlm::tlm_generic_payload plain_;  // for single runs: it has no extension
  CommitWait commit_;
  std::unique_ptr<Exchanges> exchanges_;  // null: loosely timed
  // What timing requests point to: no target of ours touches it. The last is used; accesses in flight may point to
  // those before.
  std::vector<std::vector<std::byte>> unused_;
};

}  // namespace tilevp::memory
