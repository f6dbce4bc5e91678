#include "tilevp/neuroncore/sequencer.hpp"

#include <exception>
#include <tuple>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/isa_codec.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/rules.hpp"

namespace tilevp::neuroncore {
namespace {

std::uint64_t block_bytes(const SequencerParameters& parameters) {
  if (parameters.fetch_instructions == 0)
    throw UserError("sequencer.fetch_instructions", "expected at least 1, found 0");
  return std::uint64_t{parameters.fetch_instructions} * instruction_bytes;
}

}  // namespace

Sequencer::Sequencer(sc_core::sc_module_name name, const EngineContext& context, ExecutionUnit* unit,
                     const SequencerParameters& parameters, const LegalityLimits& limits, std::function<void()> ended)
    : sc_module(name),
      fetch("fetch", context.agent),
      context_(context),
      unit_(unit),
      parameters_(parameters),
      limits_(limits),
      ended_(std::move(ended)),
      instructions_(fetch, context.agent, context.monitor.stalls(), static_cast<unsigned>(Stall::fetch),
                    block_bytes(parameters)),
      waiter_(context.semaphores.add_waiter()) {
  if (unit_ != nullptr) unit_->survives_fault = [this](std::uint64_t index) { return stops_at_fault(index); };
  context_.simulation.thread(*this, "run", [this] { run(); });
}

void Sequencer::start(std::uint64_t base, std::uint64_t count, std::uint64_t cause) {
  if (status_ == Status::running)
    throw Fault(rule::stream_running, context_.agent.name() + ": started while it runs, at #" + std::to_string(index_));
  if (stopping_)
    throw Fault(rule::stream_running, context_.agent.name() + ": started after it was stopped at #" +
                                          std::to_string(index_) + ", before the core's reset was complete");
  if (base % instruction_bytes != 0)
    throw Fault(rule::stream_alignment, context_.agent.name() + ": stream at address " + std::to_string(base) +
                                            ", no multiple of " + std::to_string(instruction_bytes));
  if (auto* const races = context_.semaphores.races()) races->started(context_.engine);
  status_ = Status::running;
  base_ = base;
  count_ = count;
  index_ = 0;
  start_cause_ = cause;
  forget_cause();
  started_.notify(sc_core::SC_ZERO_TIME);
}

void Sequencer::run() {
  for (;;) {
    while (status_ != Status::running) sc_core::wait(started_);
    execute_stream();
    end_stream();
  }
}

// A fault is raised when simulated time has caught up, so that an earlier one elsewhere comes first at any quantum.
void Sequencer::execute_stream() {
  std::exception_ptr error;
  try {
    ready_ps_ = context_.agent.local_ps();
    instructions_.begin(base_, count_ * instruction_bytes, start_cause_);
    while (!stopping_ && step()) ++index_;
    if (!stopping_) ++index_;  // the halt
    return;
  } catch (const Fault&) {
    error = std::current_exception();
  }
  context_.agent.wait_until(ready_ps_);
  if (!stops_at_fault(index_)) std::rethrow_exception(error);
}

void Sequencer::end_stream() {
  if (stopping_ && unit_ != nullptr) unit_->drain();
  status_ = !stopping_ ? Status::halted : faulted_ ? Status::faulted : Status::idle;
  if (auto* const races = context_.semaphores.races()) races->ended(context_.engine);
  ended_();
}

bool Sequencer::stops_at_fault(std::uint64_t index) {
  if (stopping_) return true;
  if (!survives_faults_) return false;
  faulted_ = true;
  fault_index_ = index;
  stopping_ = true;
  context_.semaphores.wake(waiter_);
  return true;
}

void Sequencer::stop() {
  stopping_ = true;
  if (unit_ != nullptr) unit_->cancel();
  context_.semaphores.wake(waiter_);
}

void Sequencer::reset() {
  status_ = Status::idle;
  stopping_ = faulted_ = false;
  index_ = fault_index_ = 0;
  if (unit_ != nullptr) unit_->resume();
}

void Sequencer::load(Instruction& instruction) {
  if (index_ >= count_)
    throw Fault(rule::stream_end,
                context_.agent.name() + ": the stream of " + std::to_string(count_) + " records ends without halt");
  const std::uint64_t at = index_ * instruction_bytes;
  if (instructions_.needs_block(at + instruction_bytes)) {
    context_.agent.advance_to(ready_ps_);
    instructions_.await_block(at);
    ready_ps_ = context_.agent.local_ps();
  }
  const char* const problem = try_decode(instructions_.bytes(at).first<instruction_bytes>(), instruction);
  if (problem != nullptr)
    throw Fault(rule::isa_decode,
                context_.agent.name() + " #" + std::to_string(index_) + ": the record is no instruction: " + problem);
  check(instruction, context_.engine, limits_, index_);
}

bool Sequencer::step() {
  Instruction instruction;
  load(instruction);
  if (index_ == break_at_) stop_before(instruction);
  return execute(instruction);
}

void Sequencer::stop_before(const Instruction& instruction) {
  stopped_before_ = instruction;
  context_.agent.wait_until(ready_ps_);
  context_.simulation.arbiter().settle(context_.agent.port());
  throw BreakReached(neuroncore::name(context_.engine), index_);
}

bool Sequencer::execute(const Instruction& instruction) {
  if (instruction.opcode >= Opcode::matmul) {
    const Origin origin{index_, instructions_.id(), cause_};
    forget_cause();
    ready_after(unit_->issue(instruction, origin, ready_ps_));
    return true;
  }
  execute_control(instruction);
  return instruction.opcode != Opcode::halt;
}

void Sequencer::execute_control(const Instruction& instruction) {
  context_.agent.advance_to(ready_ps_);
  const std::uint64_t requested = context_.agent.local_ps();
  const std::uint64_t id = context_.agent.next_id();
  if (instruction.opcode == Opcode::drain || instruction.opcode == Opcode::halt) {
    if (unit_ != nullptr) unit_->drain();
    context_.agent.sync();
  } else if (instruction.opcode != Opcode::nop) {
    await(instruction.waits);
  }
  if (stopping_) return;
  if (instruction.update.kind != UpdateKind::none) context_.agent.sync();
  if (auto* const races = context_.semaphores.races()) races->passed(context_.engine, index_, instruction);
  const std::uint64_t begin = context_.agent.local_ps();
  context_.monitor.control({context_.engine, instruction.opcode, index_, id, instructions_.id(), cause_, requested,
                            begin, begin, begin, &instruction});
  if (instruction.opcode == Opcode::dma_trigger) {
    if (dma_ == nullptr) throw Defect(std::string(name()) + ": a DMA trigger, and no DMA engines are connected");
    dma_->trigger(instruction.queue, instruction.descriptors, id);
    forget_cause();
  }
  context_.semaphores.apply(instruction.update, id);
  ready_after(begin);
}

bool Sequencer::satisfied() const {
  return context_.semaphores.satisfied(waits_[0]) && context_.semaphores.satisfied(waits_[1]);
}

void Sequencer::await(const std::array<Wait, 2>& waits) {
  waits_ = waits;
  context_.agent.sync();
  // Equality can be lost again within the instant; at-least cannot, unless the program counts down, which is its race.
  if (waits[0].condition == Condition::eq || waits[1].condition == Condition::eq)
    context_.simulation.arbiter().settle(context_.agent.port());
  if (!satisfied()) block(waits);
  for (const Wait& wait : waits)
    if (wait.condition != Condition::none) note_cause(wait.semaphore);
}

void Sequencer::forget_cause() { cause_ = caused_ps_ = 0; }

// Of two that came at one time, the greater id: any rule will do that no process order changes.
void Sequencer::note_cause(unsigned semaphore) {
  const auto [cause, at_ps] = context_.semaphores.last_change(semaphore);
  if (cause == 0 || std::tie(at_ps, cause) <= std::tie(caused_ps_, cause_)) return;
  cause_ = cause;
  caused_ps_ = at_ps;
}

void Sequencer::block(const std::array<Wait, 2>& waits) {
  waiting_since_ps_ = now_ps();
  context_.monitor.waiting(Stall::semaphore, waiting_since_ps_);
  context_.semaphores.watch(waiter_, waits);
  while (!satisfied() && !stopping_)
    context_.agent.wait_for(context_.semaphores.changed(waiter_), [this] { return describe_wait(); });
  context_.semaphores.unwatch(waiter_);
  context_.monitor.waited(Stall::semaphore, waiting_since_ps_, now_ps());
}

WaitingRecord Sequencer::describe_wait() const {
  const Wait& wait = context_.semaphores.satisfied(waits_[0]) ? waits_[1] : waits_[0];
  return {.who = context_.agent.name() + " #" + std::to_string(index_) + " semaphore",
          .what = "semaphore " + std::to_string(wait.semaphore) + " of " +
                  std::string(context_.semaphores.get_parent_object()->name()),
          .since_ps = waiting_since_ps_,
          .has = std::to_string(context_.semaphores.value(wait.semaphore)),
          .wants = (wait.condition == Condition::ge ? ">= " : "== ") + std::to_string(wait.value)};
}

void Sequencer::ready_after(std::uint64_t begin_ps) {
  const ClockDomain& clock = context_.clock;
  ready_ps_ = clock.time_ps(clock.edge_at_or_after(begin_ps) + parameters_.issue_cycles);
}

}  // namespace tilevp::neuroncore
