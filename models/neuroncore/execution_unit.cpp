#include "tilevp/neuroncore/execution_unit.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/race_detector.hpp"

namespace tilevp::neuroncore {

void Flight::complete() { unit->completed(*this); }

ExecutionUnit::ExecutionUnit(const EngineContext& context) : context_(context) {
  for (Flight& flight : flights_) flight.unit = this;
}

std::uint64_t ExecutionUnit::issue(const Instruction& instruction, const Origin& origin, std::uint64_t requested_ps) {
  const std::uint64_t ready_ps = await_slot(requested_ps);
  Flight& flight = flights_[(first_ + count_) % window];
  flight.instruction = instruction;
  flight.index = origin.index;
  flight.id = context_.agent.next_id();
  flight.requested_ps = ready_ps;
  schedule(flight);
  ++count_;
  if (auto* const races = context_.semaphores.races()) races->issued(context_.engine, origin.index, instruction);
  context_.simulation.completions().complete_at(flight.complete_ps, context_.agent.port(), flight);
  context_.monitor.issued({context_.engine, instruction.opcode, origin.index, flight.id, origin.fetch, origin.cause,
                           flight.requested_ps, flight.begin_ps, flight.end_ps, flight.complete_ps,
                           &flight.instruction});
  return flight.begin_ps;
}

std::uint64_t ExecutionUnit::await_slot(std::uint64_t requested_ps) {
  if (count_ < window) return requested_ps;
  const std::uint64_t ready_ps = std::max(requested_ps, flight(0).complete_ps);
  context_.monitor.stalled(Stall::window, requested_ps, ready_ps);
  context_.agent.wait_until(flight(0).complete_ps);
  someone_waits_ = true;
  while (count_ == window) sc_core::wait(completed_);
  someone_waits_ = false;
  return ready_ps;
}

void ExecutionUnit::drain() {
  if (count_ > 0) context_.agent.wait_until(flight(count_ - 1).complete_ps);
  someone_waits_ = true;
  while (count_ > 0) sc_core::wait(completed_);
  someone_waits_ = false;
}

void ExecutionUnit::take_effect(const Flight& flight) {
  try {
    located(context_.agent.name(), [&] {
      if (auto* const races = context_.semaphores.races()) races->commits(context_.engine);
      commit(flight);
      context_.semaphores.apply(flight.instruction.update, flight.id);
    });
  } catch (const Fault&) {
    if (!survives_fault || !survives_fault(flight.index)) throw;
    cancel();
  }
}

void ExecutionUnit::completed(Flight& flight) {
  if (&flight != &flights_[first_]) throw Defect("instructions of one engine complete out of order");
  if (!cancelled_) take_effect(flight);
  if (auto* const races = context_.semaphores.races()) races->completed(context_.engine);
  context_.monitor.completed(flight.end_ps - flight.begin_ps, flight.cycles);
  first_ = (first_ + 1) % window;
  --count_;
  if (someone_waits_) completed_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace tilevp::neuroncore
