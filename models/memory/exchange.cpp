#include "tilevp/memory/exchange.hpp"

#include <algorithm>
#include <utility>

namespace tilevp::memory {
namespace {

// Wakes the thread that waits for its access.
struct Wake final : Responder {
  sc_core::sc_event event;
  AccessGrant grant;
  std::optional<Fault> fault;
  bool done = false;

  void responded(const AccessGrant& result) override {
    grant = result;
    wake();
  }
  void failed(const Fault& error) override {
    fault = error;
    wake();
  }
  void wake() {
    done = true;
    event.notify(sc_core::SC_ZERO_TIME);
  }
};

}  // namespace

void InitiatorPort::Exchanges::Exchange::clear() {
  MemoryAccess::clear();
  in_begin = accepted = ended = reported = false;
  parent = 0;
}

InitiatorPort::Exchanges::Exchange& InitiatorPort::Exchanges::make(Command command, const AccessPattern& pattern,
                                                                   std::byte* data, std::uint64_t cause,
                                                                   Responder& responder) {
  if (requesting_ != nullptr)
    throw Defect(port_.agent_.name() + ": a second non-blocking request before the first was accepted");
  if (pool_.in_use() == 0) {
    busy_since_ps_ = now_ps();
    on_board_.emplace(port_.agent_.simulation().waits(), [this] { return waiting(); });
  }
  tlm::tlm_generic_payload& payload = pool_.take();
  Exchange& exchange = *payload.get_extension<Exchange>();
  fill(payload, command, {pattern.start(), std::min(pattern.run_bytes(), max_plain_bytes)}, data);
  exchange.pattern = exchange.asked = pattern;
  exchange.id = port_.agent_.next_id();
  exchange.cause = cause;
  exchange.port = port_.agent_.port();
  exchange.owner = this;
  exchange.payload = &payload;
  exchange.responder = &responder;
  exchange.asked_ps = now_ps();
  return exchange;
}

AccessGrant InitiatorPort::Exchanges::begin(Command command, const AccessPattern& pattern, std::byte* data,
                                            bool timing_only, std::uint64_t cause, Responder& responder) {
  Exchange& exchange = make(command, pattern, data, cause, responder);
  exchange.timing_only = timing_only;
  return begin(exchange);
}

AccessGrant InitiatorPort::Exchanges::begin(Exchange& exchange) {
  exchange.in_begin = true;
  send(exchange);
  exchange.in_begin = false;
  if (exchange.served || exchange.ended) report(exchange);
  AccessGrant grant = grant_of(exchange);
  grant.pending = !exchange.ended;
  if (grant.pending) return grant;
  const bool ok = exchange.payload->is_response_ok();
  const std::optional<Fault> fault = ok ? std::nullopt : std::optional<Fault>(fault_of(exchange));
  release(exchange);
  if (fault) throw Fault(*fault);
  return grant;
}

// Returns when the request is accepted or has ended.
void InitiatorPort::Exchanges::send(Exchange& exchange) {
  requesting_ = &exchange;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const auto status = port_.socket->nb_transport_fw(*exchange.payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) {
    while (!exchange.accepted) sc_core::wait(accepted_);
  } else {
    exchange.accepted = true;
    if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
      phase = tlm::END_RESP;
      sc_core::sc_time later = delay;
      port_.socket->nb_transport_fw(*exchange.payload, phase, later);
      exchange.ended = true;
    }
    if (status == tlm::TLM_COMPLETED) exchange.ended = true;
    if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  }
  requesting_ = nullptr;
}

AccessGrant InitiatorPort::Exchanges::run(Command command, const AccessPattern& pattern, std::byte* data,
                                          std::uint64_t cause, std::uint64_t parent) {
  Wake wake;
  Exchange& exchange = make(command, pattern, data, cause, wake);
  exchange.parent = parent;
  const AccessGrant grant = begin(exchange);
  if (!grant.pending) return grant;
  while (!wake.done) sc_core::wait(wake.event);
  if (wake.fault) throw Fault(*wake.fault);
  return wake.grant;
}

tlm::tlm_sync_enum InitiatorPort::Exchanges::backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                                                      const sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ && requesting_ != nullptr && requesting_->payload == &payload) {
    requesting_->accepted = true;
    accepted_.notify(delay);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  Exchange& exchange = *payload.get_extension<Exchange>();
  if (!exchange.accepted) {
    exchange.accepted = true;
    accepted_.notify(delay);
  }
  Simulation& simulation = port_.agent_.simulation();
  simulation.completions().complete_at(now_ps() + delay.value(), port_.agent_.port(), exchange);
  return tlm::TLM_COMPLETED;
}

void InitiatorPort::Exchanges::finish(Exchange& exchange) {
  exchange.ended = true;
  if (!exchange.in_begin) located(port_.agent_.name(), [&] { deliver(exchange); });
}

void InitiatorPort::Exchanges::deliver(Exchange& exchange) {
  report(exchange);
  Responder& responder = *exchange.responder;
  if (exchange.payload->is_response_ok()) {
    const AccessGrant grant = grant_of(exchange);
    release(exchange);
    responder.responded(grant);
    return;
  }
  const Fault fault = fault_of(exchange);
  release(exchange);
  responder.failed(fault);
}

// When a memory of ours has accepted it, which settles its times; else when it ends.
void InitiatorPort::Exchanges::report(Exchange& exchange) const {
  if (std::exchange(exchange.reported, true)) return;
  port_.report(*exchange.payload, exchange, exchange.asked, exchange.asked_ps, exchange.parent, sc_core::SC_ZERO_TIME);
}

Fault InitiatorPort::Exchanges::fault_of(const Exchange& exchange) const {
  return port_.fault_of(*exchange.payload, exchange.payload->is_read() ? Command::read : Command::write);
}

AccessGrant InitiatorPort::Exchanges::grant_of(const Exchange& exchange) const {
  if (exchange.served) return served_grant(exchange);
  return {.begin_ps = exchange.asked_ps, .end_ps = now_ps(), .id = exchange.id};
}

void InitiatorPort::Exchanges::release(Exchange& exchange) {
  exchange.payload->release();
  if (pool_.in_use() == 0) on_board_.reset();
}

WaitingRecord InitiatorPort::Exchanges::waiting() const {
  return {.who = port_.agent_.name(),
          .what = requesting_ != nullptr ? "END_REQ of its non-blocking access" : "responses to non-blocking accesses",
          .since_ps = busy_since_ps_,
          .has = "0",
          .wants = std::to_string(pool_.in_use())};
}

}  // namespace tilevp::memory
