#pragma once
// Contention: exclusive and rate resources, granted in an order that no process order, quantum or construction order changes.
//
//   R1  An agent asks when its local time equals the simulated time (it synchronises first), so requests come in time order.
//   R2  Requests of one instant are collected until the instant is quiet (no other process is runnable), then granted by
//       (priority, round-robin distance or port number, sequence). A resource with one requester grants at once.
//   R3  A grant reserves one grain of work; longer work asks again when its next grain starts.
//   R4  Exclusive resources are held from begin to end. Rate resources serve bytes at a rate; grains queue.
//   R5  A granted begin and end never move.
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "tilevp/base/clock_domain.hpp"

namespace tilevp {

class Resource;

// When the work asked for begins and ends, in ps. `blocker` is the resource whose earlier work delayed the begin, or null.
struct Grant {
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  const Resource* blocker = nullptr;
};

// What both kinds share: a name, and the number of requesters that can reach it.
class Resource {
 public:
  explicit Resource(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  // Declares a requester, while the platform is built. `port` is its number in same-instant arbitration, unique a resource.
  void add_requester(unsigned port);
  bool shared() const { return ports_.size() > 1; }

 protected:
  void require_port(unsigned port) const;

 private:
  std::string name_;
  std::vector<unsigned> ports_;
};

// One user at a time: an engine, the PE array, a PSUM bank. Same-instant requests go by (priority, port).
class ExclusiveResource : public Resource {
 public:
  using Resource::Resource;
  std::uint64_t free_at_ps() const { return free_at_ps_; }

 private:
  friend class Arbiter;
  std::uint64_t free_at_ps_ = 0;
};

// A memory port or channel that serves bytes. Work is given in fractional cycles of its clock; a grain occupies the port for its
// work, grains queue. Same-instant requests go by (priority, round robin over ports). Idle ports start at the next clock edge.
class RateResource : public Resource {
 public:
  RateResource(std::string name, const ClockDomain& clock) : Resource(std::move(name)), clock_(&clock) {}
  const ClockDomain& clock() const { return *clock_; }

 private:
  friend class Arbiter;
  const ClockDomain* clock_;
  CyclesQ32 free_at_ = 0;
  unsigned next_port_ = 0;
};

class Arbiter : public sc_core::sc_module {
 public:
  explicit Arbiter(sc_core::sc_module_name name);

  // Holds all of `resources` for the same `cycles` of `clock`, from the first edge at which all are free. At most 8 resources.
  // Blocks the calling SC_THREAD until the instant is quiet when one of them is shared; no simulated time passes.
  Grant acquire(std::span<ExclusiveResource* const> resources, unsigned port, const ClockDomain& clock, std::uint64_t cycles,
                int priority = 0);
  // Queues `work` on a rate resource. [begin, end) is the time the port serves it.
  Grant acquire(RateResource& resource, unsigned port, CyclesQ32 work, int priority = 0);
  // Returns when the present instant is quiet: everything that ends or is released now has happened. For agents whose outcome
  // depends on a value that others change in the same instant (a host at a device register).
  void settle();

 private:
  struct Request;
  void wait_for(Request& request);
  void arbitrate();
  static void grant_exclusive(Request& request);
  static void grant_rate(Request& request);
  Request take_next();

  std::vector<Request*> pending_;
  std::uint64_t next_sequence_ = 0;
  sc_core::sc_event settle_event_;
};

}  // namespace tilevp
