#include "tilevp/interconnect/hops.hpp"

#include <algorithm>
#include <utility>

namespace tilevp::interconnect {
namespace {

sc_core::sc_time remaining(const sc_core::sc_time& due) {
  const sc_core::sc_time now = sc_core::sc_time_stamp();
  return due > now ? due - now : sc_core::SC_ZERO_TIME;
}

}  // namespace

Router::Hops::Hops(Router& router) : router_(router) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&wake_);
  sc_core::sc_spawn([this] { send_waiting(); }, sc_core::sc_gen_unique_name("send_waiting"), &options);
}

Router::Hops::Lane& Router::Hops::lane(std::vector<std::unique_ptr<Lane>>& lanes, unsigned index) {
  while (lanes.size() <= index) lanes.push_back(std::make_unique<Lane>());
  return *lanes[index];
}

tlm::tlm_sync_enum Router::Hops::forward(unsigned input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) return begin_request(input, payload, phase, delay);
  if (phase == tlm::END_RESP) return end_response(input, payload, phase, delay);
  return tlm::TLM_ACCEPTED;  // phases beyond the base protocol stop here
}

tlm::tlm_sync_enum Router::Hops::backward(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
  const auto found = under_way_.find(&payload);
  if (found == under_way_.end()) return tlm::TLM_ACCEPTED;
  Hop& hop = *found->second;
  if (phase == tlm::END_REQ) {
    request_ended(hop);
    add_latency(hop);
    return router_.in[static_cast<int>(hop.input)]->nb_transport_bw(payload, phase, delay);
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  request_ended(hop);
  turn_round(hop, delay);
  return begin_response(hop, phase, delay);
}

// ---- Towards the target.

tlm::tlm_sync_enum Router::Hops::begin_request(unsigned input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                               sc_core::sc_time& delay) {
  const Region* region = router_.region_of(payload);
  if (region == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (idle_.empty()) idle_.push_back(hops_.emplace_back(std::make_unique<Hop>()).get());
  Hop& hop = *idle_.back();
  idle_.pop_back();
  payload.acquire();
  hop.payload = &payload;
  hop.input = input;
  hop.region = region;
  hop.target_done = hop.delayed = false;
  if (auto* const access = payload.get_extension<memory::MemoryAccess>()) access->target = region->name.c_str();
  under_way_[&payload] = &hop;
  Lane& lane = output(region->output);
  if (lane.current == nullptr && lane.waiting.empty()) {
    const auto status = send_request(hop, phase, delay);
    if (status == tlm::TLM_COMPLETED) {
      turn_round(hop, delay);
      finish(hop);
    } else if (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) {
      turn_round(hop, delay);
      Lane& back = this->input(input);
      if (back.current == nullptr && back.waiting.empty()) {
        back.current = &hop;
        return status;
      }
      hop.due = sc_core::sc_time_stamp() + delay;
      back.waiting.push_back(&hop);
      phase = tlm::END_REQ;
    } else if (status == tlm::TLM_UPDATED) {
      add_latency(hop);
    }
    return status;
  }
  hop.due = sc_core::sc_time_stamp() + delay;
  lane.waiting.push_back(&hop);
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum Router::Hops::send_request(Hop& hop, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Lane& lane = output(hop.region->output);
  lane.current = &hop;
  hop.translation.apply(*hop.region, *hop.payload);
  const auto status = (*router_.outputs_[hop.region->output])->nb_transport_fw(*hop.payload, phase, delay);
  if (status != tlm::TLM_ACCEPTED) request_ended(hop);
  if (status == tlm::TLM_COMPLETED) hop.target_done = true;
  return status;
}

void Router::Hops::request_ended(Hop& hop) {
  Lane& lane = output(hop.region->output);
  if (lane.current != &hop) return;
  lane.current = nullptr;
  if (!lane.waiting.empty()) wake_.notify(sc_core::SC_ZERO_TIME);
}

tlm::tlm_sync_enum Router::Hops::end_response(unsigned input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  Lane& lane = this->input(input);
  if (lane.current == nullptr || lane.current->payload != &payload) return tlm::TLM_ACCEPTED;
  Hop& hop = *lane.current;
  lane.current = nullptr;
  if (!lane.waiting.empty()) wake_.notify(sc_core::SC_ZERO_TIME);
  tlm::tlm_sync_enum status = tlm::TLM_COMPLETED;
  if (!hop.target_done) status = (*router_.outputs_[hop.region->output])->nb_transport_fw(payload, phase, delay);
  finish(hop);
  return status;
}

// ---- Towards the initiator.

void Router::Hops::turn_round(Hop& hop, sc_core::sc_time& delay) {
  hop.translation.undo(*hop.payload);
  delay += sc_core::sc_time::from_value(router_.latency_ps_);
  add_latency(hop);
}

// To the end that a memory of ours names, with its END_REQ or later.
void Router::Hops::add_latency(Hop& hop) {
  auto* const access = hop.translation.access();
  if (access == nullptr || !access->served || std::exchange(hop.delayed, true)) return;
  access->end_ps += router_.latency_ps_;
}

tlm::tlm_sync_enum Router::Hops::begin_response(Hop& hop, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  Lane& lane = input(hop.input);
  if (lane.current != nullptr || !lane.waiting.empty()) {
    hop.due = sc_core::sc_time_stamp() + delay;
    lane.waiting.push_back(&hop);
    return tlm::TLM_ACCEPTED;
  }
  lane.current = &hop;
  const auto status = router_.in[static_cast<int>(hop.input)]->nb_transport_bw(*hop.payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return status;
  lane.current = nullptr;
  finish(hop);
  return status;
}

void Router::Hops::finish(Hop& hop) {
  under_way_.erase(hop.payload);
  hop.payload->release();
  idle_.push_back(&hop);
}

// ---- What had to wait.

void Router::Hops::send_waiting() {
  for (const auto& lane : outputs_)
    while (lane->current == nullptr && !lane->waiting.empty()) send_waiting_request(*lane);
  for (const auto& lane : inputs_)
    while (lane->current == nullptr && !lane->waiting.empty()) send_waiting_response(*lane);
}

void Router::Hops::send_waiting_request(Lane& lane) {
  Hop& hop = *lane.waiting.front();
  lane.waiting.pop_front();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = remaining(hop.due);
  const auto status = send_request(hop, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  if (status == tlm::TLM_UPDATED && phase != tlm::BEGIN_RESP) {
    add_latency(hop);
    router_.in[static_cast<int>(hop.input)]->nb_transport_bw(*hop.payload, phase, delay);
    return;
  }
  turn_round(hop, delay);
  hop.due = sc_core::sc_time_stamp() + delay;
  input(hop.input).waiting.push_back(&hop);
}

void Router::Hops::send_waiting_response(Lane& lane) {
  Hop& hop = *lane.waiting.front();
  lane.waiting.pop_front();
  lane.current = &hop;
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = remaining(hop.due);
  const auto status = router_.in[static_cast<int>(hop.input)]->nb_transport_bw(*hop.payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) return;
  lane.current = nullptr;
  if (!hop.target_done) {
    phase = tlm::END_RESP;
    (*router_.outputs_[hop.region->output])->nb_transport_fw(*hop.payload, phase, delay);
  }
  finish(hop);
}

}  // namespace tilevp::interconnect
