#include "tilevp/memory/nonblocking.hpp"

namespace tilevp::memory {

tlm::tlm_sync_enum Memory::NonBlocking::forward(int id, tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                                                const sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) {
    Line& line = line_of(id);
    if (line.current == nullptr || line.current->payload != &payload) return tlm::TLM_ACCEPTED;
    end(line);
    // The next response goes the other way and must not start within this call.
    if (!line.waiting.empty()) memory_.simulation_.completions().complete_at(now_ps(), foreign_port_base, line);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // phases beyond the base protocol may be ignored
  if (memory_.answered(payload)) return tlm::TLM_COMPLETED;
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  Transaction& transaction = take(id, payload);
  if (delay == sc_core::SC_ZERO_TIME)
    arrive(transaction);
  else
    memory_.simulation_.completions().complete_at(now_ps() + delay.value(), transaction.port, transaction);
  return tlm::TLM_ACCEPTED;
}

Memory::NonBlocking::Transaction& Memory::NonBlocking::take(int id, tlm::tlm_generic_payload& payload) {
  if (idle_.empty()) idle_.push_back(transactions_.emplace_back(std::make_unique<Transaction>()).get());
  Transaction& transaction = *idle_.back();
  idle_.pop_back();
  payload.acquire();
  transaction.side = this;
  transaction.payload = &payload;
  transaction.id = id;
  const auto* access = payload.get_extension<MemoryAccess>();
  transaction.port = access != nullptr ? access->port : foreign_port_base + static_cast<unsigned>(id);
  transaction.arrived = false;
  return transaction;
}

void Memory::NonBlocking::Transaction::complete() {
  if (arrived)
    side->serve(*this);
  else
    side->arrive(*this);
}

void Memory::NonBlocking::arrive(Transaction& transaction) {
  transaction.arrived = true;
  if (occupied_ < capacity_)
    schedule(transaction);
  else
    waiting_.push_back(&transaction);
}

void Memory::NonBlocking::schedule(Transaction& transaction) {
  ++occupied_;
  transaction.pattern = pattern_of(*transaction.payload);
  transaction.claims = memory_.claims_of(transaction.pattern, direction_of(*transaction.payload));
  memory_.simulation_.arbiter().acquire(transaction.claims.span(), transaction.port, transaction);
}

void Memory::NonBlocking::accept(Transaction& transaction, const Grant& grant) {
  memory_.simulation_.guarded(memory_.name(), [&] {
    tlm::tlm_generic_payload& payload = *transaction.payload;
    const Timing timing =
        memory_.timing_of(grant, transaction.pattern, direction_of(payload), transaction.claims.items[0].work);
    if (!is_plain(payload)) memory_.fill(*payload.get_extension<MemoryAccess>(), timing);
    memory_.simulation_.completions().complete_at(timing.end_ps, transaction.port, transaction);
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    memory_.socket[transaction.id]->nb_transport_bw(payload, phase, delay);
  });
}

void Memory::NonBlocking::serve(Transaction& transaction) {
  tlm::tlm_generic_payload& payload = *transaction.payload;
  located(memory_.name(), [&] {
    memory_.simulation_.effects().join();
    if (is_plain(payload))
      memory_.move_plain(payload);
    else if (!payload.get_extension<MemoryAccess>()->timing_only)
      memory_.move_pattern(payload, *payload.get_extension<MemoryAccess>());
  });
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  Line& line = line_of(transaction.id);
  line.waiting.push_back(&transaction);
  pump(line);
}

void Memory::NonBlocking::pump(Line& line) {
  while (line.current == nullptr && !line.waiting.empty()) {
    line.current = line.waiting.front();
    line.waiting.pop_front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const auto status = memory_.socket[line.id]->nb_transport_bw(*line.current->payload, phase, delay);
    if (status == tlm::TLM_ACCEPTED) return;
    end(line);
  }
}

void Memory::NonBlocking::end(Line& line) {
  Transaction& transaction = *line.current;
  line.current = nullptr;
  transaction.payload->release();
  idle_.push_back(&transaction);
  --occupied_;
  if (waiting_.empty()) return;
  Transaction& next = *waiting_.front();
  waiting_.pop_front();
  schedule(next);
}

Memory::NonBlocking::Line& Memory::NonBlocking::line_of(int id) {
  const auto index = static_cast<std::size_t>(id);
  while (lines_.size() <= index) {
    auto& line = *lines_.emplace_back(std::make_unique<Line>());
    line.side = this;
    line.id = static_cast<int>(lines_.size()) - 1;
  }
  return *lines_[index];
}

}  // namespace tilevp::memory
