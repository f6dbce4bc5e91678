#include "tilevp/base/arbiter.hpp"

#include <algorithm>
#include <tuple>

#include "tilevp/base/errors.hpp"

namespace tilevp {
namespace {

std::uint64_t now() { return sc_core::sc_time_stamp().value(); }

// Nothing but the running process is runnable or will be at this time, unless that process causes it. As long as
// requests are pending it does not hold: the arbiter itself is runnable then.
bool is_quiet() { return !sc_core::sc_pending_activity_at_current_time(); }

}  // namespace

// One call, on the caller's stack until it is granted. Exactly one of `exclusive` and `rates` is filled, or neither
// (settle).
struct Arbiter::Request {
  unsigned port = 0;
  std::uint64_t sequence = 0;
  std::span<ExclusiveResource* const> exclusive{};
  const ClockDomain* clock = nullptr;
  std::uint64_t cycles = 0;
  std::span<const RateClaim> rates{};
  Grant grant{};
  // Who is told: a thread that waits, or a grantee.
  sc_core::sc_event* granted = nullptr;
  Grantee* grantee = nullptr;

  // No request of this instant that is still to come could go before it.
  bool can_be_decided_at_once() const {
    if (exclusive.empty() && rates.empty()) return false;
    return std::all_of(exclusive.begin(), exclusive.end(),
                       [this](const auto* resource) { return resource->is_first(port); }) &&
           std::none_of(rates.begin(), rates.end(), [](const auto& claim) { return claim.resource->shared(); });
  }
  // Of a request for several resources: that of the first.
  int priority() const {
    return !exclusive.empty() ? exclusive.front()->priority(port)
           : !rates.empty()   ? rates.front().resource->priority(port)
                              : 0;
  }
  void require_port() const {
    for (const auto* resource : exclusive) resource->require_port(port);
    for (const auto& claim : rates) claim.resource->require_port(port);
  }
  // Same-instant order: exclusive before rate before settle; then priority, round-robin distance (rates), port,
  // sequence.
  auto key() const {
    const unsigned kind = !exclusive.empty() ? 0 : !rates.empty() ? 1 : 2;
    const unsigned distance = rates.empty() ? 0 : port - rates.front().resource->next_port_;
    return std::tuple(kind, -priority(), distance, port, sequence);
  }
  void decide();
  void decide_exclusive();
  void decide_rates();
};

void Arbiter::Request::decide() {
  if (!exclusive.empty()) decide_exclusive();
  if (!rates.empty()) decide_rates();
}

void Arbiter::Request::decide_exclusive() {
  std::uint64_t earliest = now();
  for (const auto* resource : exclusive)
    if (resource->free_at_ps_ > earliest) {
      earliest = resource->free_at_ps_;
      grant.blocker = resource;
    }
  const std::uint64_t first = clock->edge_at_or_after(earliest);
  grant.begin_ps = clock->time_ps(first);
  grant.end_ps = clock->time_ps(first + cycles);
  for (auto* resource : exclusive) resource->free_at_ps_ = grant.end_ps;
}

void Arbiter::Request::decide_rates() {
  for (const auto& [resource, work] : rates) {
    const CyclesQ32 idle = static_cast<CyclesQ32>(resource->clock_->edge_at_or_after(now())) << 32;
    const CyclesQ32 begin = std::max(idle, resource->free_at_);
    resource->free_at_ = begin + work;
    resource->next_port_ = port + 1;
    const std::uint64_t begin_ps = resource->clock_->time_ps_q32(begin);
    if (resource == rates.front().resource) grant.begin_ps = begin_ps;
    if (begin > idle) grant.blocker = resource;
    grant.end_ps = std::max(grant.end_ps, resource->clock_->time_ps_q32(begin + work));
  }
}

Arbiter::Arbiter(sc_core::sc_module_name name) : sc_module(name) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&settle_event_);
  sc_core::sc_spawn([this] { arbitrate(); }, "arbitrate", &options);
}

Arbiter::~Arbiter() = default;

Grant Arbiter::acquire(std::span<ExclusiveResource* const> resources, unsigned port, const ClockDomain& clock,
                       std::uint64_t cycles) {
  Request request{.port = port, .exclusive = resources, .clock = &clock, .cycles = cycles};
  await_turn(request);
  return request.grant;
}

Grant Arbiter::acquire(RateResource& resource, unsigned port, CyclesQ32 work) {
  const RateClaim claim{&resource, work};
  return acquire(std::span(&claim, 1), port);
}

Grant Arbiter::acquire(std::span<const RateClaim> claims, unsigned port) {
  Request request{.port = port, .rates = claims};
  await_turn(request);
  return request.grant;
}

void Arbiter::acquire(std::span<const RateClaim> claims, unsigned port, Grantee& grantee) {
  if (idle_grantee_requests_.empty())
    idle_grantee_requests_.push_back(grantee_requests_.emplace_back(std::make_unique<Request>()).get());
  Request& request = *idle_grantee_requests_.back();
  idle_grantee_requests_.pop_back();
  request = Request{.port = port, .rates = claims, .grantee = &grantee};
  request.require_port();
  enqueue(request);
}

void Arbiter::settle(unsigned port) {
  Request request{.port = port};
  await_turn(request);
}

void Arbiter::await_turn(Request& request) {
  request.require_port();
  if (request.can_be_decided_at_once() || is_quiet()) {
    request.decide();
    return;
  }
  if (idle_events_.empty()) idle_events_.push_back(std::make_unique<sc_core::sc_event>());
  std::unique_ptr<sc_core::sc_event> event = std::move(idle_events_.back());
  idle_events_.pop_back();
  request.granted = event.get();
  enqueue(request);
  sc_core::wait(*request.granted);
  idle_events_.push_back(std::move(event));
}

void Arbiter::enqueue(Request& request) {
  request.sequence = next_sequence_++;
  if (pending_.empty()) settle_event_.notify(sc_core::SC_ZERO_TIME);
  pending_.push_back(&request);
}

// Runs a delta after the first request of an instant, and again as long as anything else is runnable: only then are all
// requests of the instant in, whatever the order of processes.
void Arbiter::arbitrate() {
  if (!is_quiet()) {
    settle_event_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  // A grantee may ask again: that is for the next quiet.
  deciding_.swap(pending_);
  while (!deciding_.empty()) {
    Request& next = take_next();
    next.decide();
    tell(next);
  }
}

void Arbiter::tell(Request& request) {
  if (request.grantee == nullptr) {
    request.granted->notify();
    return;
  }
  Grantee& grantee = *request.grantee;
  const Grant grant = request.grant;
  idle_grantee_requests_.push_back(&request);
  grantee.granted(grant);
}

Arbiter::Request& Arbiter::take_next() {
  const auto best = std::min_element(deciding_.begin(), deciding_.end(),
                                     [](const Request* a, const Request* b) { return a->key() < b->key(); });
  Request& request = **best;
  deciding_.erase(best);
  return request;
}

}  // namespace tilevp
