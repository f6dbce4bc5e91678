#pragma once
// The non-blocking side of an initiator port. Private to it.
//
// One BEGIN_REQ at a time: the agent's thread waits for END_REQ (or what stands for it) before it goes on. Responses
// may come in any order; each is taken at once (BEGIN_RESP is answered with TLM_COMPLETED) and told to its responder
// when its annotated delay is over, in the completion order of the platform.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tilevp/base/completion_queue.hpp"
#include "tilevp/base/wait_board.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::memory {

class InitiatorPort::Exchanges {
 public:
  explicit Exchanges(InitiatorPort& port) : port_(port) {}

  // An access whose response `responder` will be told of, unless it has ended when this returns (`pending` is false).
  AccessGrant begin(Command command, const AccessPattern& pattern, std::byte* data, bool timing_only,
                    std::uint64_t cause, Responder& responder);
  // The same; returns when the access has ended. `parent` is the access it is a further run of, 0: none.
  AccessGrant run(Command command, const AccessPattern& pattern, std::byte* data, std::uint64_t cause,
                  std::uint64_t parent);

  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                              const sc_core::sc_time& delay);

  std::size_t in_flight() const { return pool_.in_use(); }

 private:
  // An access in flight: the extension of its payload, and its end.
  struct Exchange final : MemoryAccess, Completion {
    Exchanges* owner = nullptr;
    tlm::tlm_generic_payload* payload = nullptr;
    Responder* responder = nullptr;
    AccessPattern asked;  // `pattern` as it was asked for; a router translates that one
    std::uint64_t asked_ps = 0;
    std::uint64_t parent = 0;
    bool reported = false;
    bool in_begin = false;  // the thread is in begin() and takes the result itself
    bool accepted = false;  // END_REQ, or a response that implies it
    bool ended = false;     // the response and its delay are over

    void clear();
    void complete() override { owner->finish(*this); }
  };

  AccessGrant begin(Exchange& exchange);
  Exchange& make(Command command, const AccessPattern& pattern, std::byte* data, std::uint64_t cause,
                 Responder& responder);
  void send(Exchange& exchange);
  void finish(Exchange& exchange);
  void deliver(Exchange& exchange);
  void report(Exchange& exchange) const;
  Fault fault_of(const Exchange& exchange) const;
  AccessGrant grant_of(const Exchange& exchange) const;
  void release(Exchange& exchange);
  WaitingRecord waiting() const;

  InitiatorPort& port_;
  PayloadPool<Exchange> pool_;
  Exchange* requesting_ = nullptr;
  sc_core::sc_event accepted_;
  std::uint64_t busy_since_ps_ = 0;
  std::optional<WaitBoard::Guard> on_board_;  // while accesses are in flight
};

}  // namespace tilevp::memory
