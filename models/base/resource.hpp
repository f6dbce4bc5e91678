#pragma once
// The two kinds of resource that agents contend for. They are granted by the Arbiter (arbiter.hpp), which holds the
// rules.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tilevp/base/clock_domain.hpp"

namespace tilevp {

class Resource;

// When the work asked for begins and ends, in ps. `blocker` is the resource whose earlier work delayed the begin, or
// null.
struct Grant {
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  const Resource* blocker = nullptr;
};

// What both kinds share: a name, and who can reach it.
class Resource {
 public:
  explicit Resource(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  // Declares a requester, while the platform is built. `port` is its number in same-instant arbitration, where a higher
  // priority goes first; naming a port twice is harmless. A resource that nobody declared requesters for counts as
  // shared; with exactly one it is granted at once, and another port that asks nevertheless is a Defect.
  void add_requester(unsigned port, int priority = 0);
  bool shared() const { return requesters_.size() != 1; }
  void require_port(unsigned port) const;
  // 0 for a port that was not declared.
  int priority(unsigned port) const;
  // Whether the port comes before every other declared one, so that no request of the same instant could pass it.
  bool is_first(unsigned port) const { return !requesters_.empty() && requesters_.front().port == port; }

 private:
  std::string name_;
  struct Requester {
    unsigned port;
    int priority;
  };
  std::vector<Requester> requesters_;  // by (priority, port), first to go first
};

// One user at a time: an engine, the PE array, a PSUM bank. Same-instant requests go by (priority, port);
// a request of the requester that goes first is therefore granted at once.
class ExclusiveResource : public Resource {
 public:
  using Resource::Resource;
  std::uint64_t free_at_ps() const { return free_at_ps_; }

 private:
  friend class Arbiter;
  std::uint64_t free_at_ps_ = 0;
};

// A memory port or channel that serves bytes. Work is given in fractional cycles of its clock; a grain occupies the
// port for its work, grains queue. Same-instant requests go by (priority, round robin over ports). Idle ports start at
// the next clock edge.
class RateResource : public Resource {
 public:
  RateResource(std::string name, const ClockDomain& clock) : Resource(std::move(name)), clock_(&clock) {}
  const ClockDomain& clock() const { return *clock_; }

 private:
  friend class Arbiter;
  const ClockDomain* clock_;
  CyclesQ32 free_at_ = 0;
  unsigned next_port_ = 0;  // served first in the next tie
};

// Work for one rate resource, in cycles of its clock.
struct RateClaim {
  RateResource* resource = nullptr;
  CyclesQ32 work = 0;
};

}  // namespace tilevp
