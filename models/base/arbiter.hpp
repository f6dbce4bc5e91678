#pragma once
// Contention: exclusive and rate resources, granted in an order that no process order, quantum or construction order
// changes.
//
// The rules (numbered as in docs/time.md):
//   R1  An agent asks when its local time equals the simulated time (it synchronises first): requests come in order.
//   R2  Requests of one instant are collected until the instant is quiet (no other process is runnable), then granted
//       by (priority, round-robin distance or port number, sequence).
//       A resource that one requester alone was declared for grants at once,
//       and so does an exclusive one to the requester that goes first.
//   R3  A grant reserves one grain of work; longer work asks again when its next grain starts.
//   R4  Exclusive resources are held from begin to end. Rate resources serve bytes at a rate; grains queue.
//   R5  A granted begin and end never move.
#include <cstdint>
#include <memory>
#include <span>
#include <systemc>
#include <vector>

#include "tilevp/base/resource.hpp"

namespace tilevp {

// Told of a grant it did not wait for. Called outside any SC_THREAD, in the instant of the request: it must not wait.
class Grantee {
 public:
  virtual void granted(const Grant& grant) = 0;

 protected:
  ~Grantee() = default;
};

class Arbiter : public sc_core::sc_module {
 public:
  explicit Arbiter(sc_core::sc_module_name name);
  ~Arbiter() override;

  // Holds all of `resources` for the same `cycles` of `clock`, from the first edge at which all are free. At most 8
  // resources. Blocks the calling SC_THREAD until the instant is quiet when one of them is shared; no simulated time
  // passes.
  Grant acquire(std::span<ExclusiveResource* const> resources, unsigned port, const ClockDomain& clock,
                std::uint64_t cycles);
  // Queues `work` on a rate resource. [begin, end) is the time the port serves it.
  Grant acquire(RateResource& resource, unsigned port, CyclesQ32 work);
  // The same grain on several rate resources (a port's ceiling and one of its directions), each with a queue of its
  // own: begins when the first of the list begins, ends when the last has ended (R4). At most 4.
  Grant acquire(std::span<const RateClaim> claims, unsigned port);
  // The same for callers that cannot wait: `grantee` is told before the instant is over, never within this call.
  // `claims` must live until then.
  void acquire(std::span<const RateClaim> claims, unsigned port, Grantee& grantee);
  // Returns when the present instant is quiet: everything that ends or is released now has happened. For agents whose
  // outcome depends on a value that others change in the same instant (a host at a device register).
  // Several of one instant go on by port.
  void settle(unsigned port);

 private:
  struct Request;
  void await_turn(Request& request);
  void enqueue(Request& request);
  void arbitrate();
  Request& take_next();
  void tell(Request& request);

  std::vector<Request*> pending_;
  std::vector<Request*> deciding_;  // those of `pending_` that are being granted
  std::vector<std::unique_ptr<Request>> grantee_requests_;
  std::vector<Request*> idle_grantee_requests_;
  std::uint64_t next_sequence_ = 0;
  sc_core::sc_event settle_event_;
  // Events are costly to make; a request borrows one while it waits.
  std::vector<std::unique_ptr<sc_core::sc_event>> idle_events_;
};

}  // namespace tilevp
