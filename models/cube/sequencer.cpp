#include "tilevp/cube/sequencer.hpp"

#include <array>
#include <utility>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube {
namespace {

enum Stall : unsigned {
  stalled_fetch = 1,
  stalled_source = 2,
  stalled_space = 3,
  stalled_order = 4,
  stalled_window = 5
};
constexpr std::array<StallDefinition, 5> stall_definitions{{
    {{"stalled_fetch_cycles", "cycles", "Cycles its stream waited for records from memory."},
     {"stalled_fetch_ps", "ps", "As stalled_fetch_cycles, in ps."},
     "fetch"},
    {{"stalled_source_cycles", "cycles", "Cycles a bundle waited for the producer of a source to commit."},
     {"stalled_source_ps", "ps", "As stalled_source_cycles, in ps."},
     "source"},
    {{"stalled_space_cycles", "cycles",
      "Cycles a bundle waited for older ones to commit because it would fault as things were: it found no register or "
      "no capacity for its results, mostly."},
     {"stalled_space_ps", "ps", "As stalled_space_cycles, in ps."},
     "space"},
    {{"stalled_order_cycles", "cycles",
      "Cycles spent on waiting for every bundle before to commit: ahead of a fault, after the last bundle."},
     {"stalled_order_ps", "ps", "As stalled_order_cycles, in ps."},
     "order"},
    {{"stalled_window_cycles", "cycles", "Cycles an instruction waited because too many were in flight."},
     {"stalled_window_ps", "ps", "As stalled_window_cycles, in ps."},
     "window"},
}};

std::vector<ValueName> fault_values() {
  std::vector<ValueName> values;
  for (unsigned code = 0; code <= static_cast<unsigned>(FaultCode::service_request); ++code)
    values.push_back({code, name(static_cast<FaultCode>(code)).data()});
  return values;
}

}  // namespace

Sequencer::Sequencer(sc_core::sc_module_name name, const SequencerContext& context,
                     std::function<void()> status_changed, std::function<void()> reset_done)
    : sc_module(name),
      fetch("fetch", context.agent),
      context_(context),
      monitor_(context.agent.simulation(), this->name(), context.clock, stall_definitions,
               "an instruction is decoded or a bundle judged"),
      instructions_(fetch, context.agent, monitor_.stalls(), stalled_fetch, context.parameters.sequencer.fetch_bytes),
      status_changed_(std::move(status_changed)),
      reset_done_(std::move(reset_done)),
      pc_probe_(context.agent.simulation().probes(), std::string(this->name()) + ".pc", 64,
                "address of what closed the last bundle, or of the fault"),
      status_probe_(context.agent.simulation().probes(), std::string(this->name()) + ".status", 2, "status register",
                    {{0, "idle"}, {1, "running"}, {2, "halted"}, {3, "faulted"}}),
      fault_probe_(context.agent.simulation().probes(), std::string(this->name()) + ".fault", 4,
                   "code of the fault that stopped it", fault_values()) {
  context.agent.simulation().thread(*this, "run", [this] { run(); });
}

// ---- Starting and stopping.

void Sequencer::start(std::uint64_t pc, std::uint64_t end, std::uint64_t cause) {
  if (status_ == Status::running)
    throw Fault(rule::start_status, context_.agent.name() + ": started while it runs, at " + hex_text(pc_));
  if (resetting_) throw Fault(rule::start_status, context_.agent.name() + ": started before its reset was complete");
  if (pc > end)
    throw Fault(rule::fetch_pc,
                context_.agent.name() + ": started at " + hex_text(pc) + ", beyond the program's end " + hex_text(end));
  pc_ = pc;
  end_ = end;
  cause_ = cause;
  header_ = Header{};
  status_ = Status::running;
  status_probe_.set(now_ps(), static_cast<std::uint64_t>(status_));
  started_.notify(sc_core::SC_ZERO_TIME);
}

void Sequencer::restart(registers::Restart how, std::uint64_t end, std::uint64_t cause) {
  if (status_ != Status::faulted)
    throw Fault(rule::start_status, context_.agent.name() + ": restarted while it does not stand at a fault");
  const Header kept = how == registers::Restart::resume ? header_ : Header{};
  start(pc_, end, cause);
  header_ = kept;
}

void Sequencer::set_pc(std::uint64_t pc) {
  if (status_ != Status::running) pc_ = pc;
}

void Sequencer::set_gpr(unsigned index, std::uint64_t value) {
  if (index != 0 && status_ != Status::running) gpr_.at(index) = value;
}

// A granted begin and end never move: units stay occupied for as long as they were granted, but nothing that has not
// committed ever does.
void Sequencer::reset() {
  resetting_ = true;
  ++stops_;
  status_ = Status::idle;
  context_.window.drop();
  context_.transfer.cancel();
  stop_.notify(sc_core::SC_ZERO_TIME);
  started_.notify(sc_core::SC_ZERO_TIME);
}

void Sequencer::finish_reset() {
  await_leftovers();
  context_.matrix.reset();
  context_.tiles.reset();
  header_ = Header{};
  gpr_ = {};
  pc_ = fault_pc_ = 0;
  fault_ = BundleFault{};
  status_probe_.set(now_ps(), 0);
  fault_probe_.set(now_ps(), 0);
  resetting_ = false;
  reset_done_();
}

void Sequencer::await_leftovers() {
  while (context_.window.dropping()) context_.window.await_change();
  while (context_.transfer.active()) sc_core::wait(context_.transfer.idle());
}

void Sequencer::run() {
  for (;;) {
    await_start();
    try {
      execute_program();
    } catch (const Stopped&) {
    }
    count_busy();
  }
}

void Sequencer::await_start() {
  for (;;) {
    if (resetting_) finish_reset();
    if (status_ == Status::running) return;
    sc_core::wait(started_);
  }
}

void Sequencer::execute_program() {
  seen_stops_ = stops_;
  await_leftovers();
  checkpoint();
  cycle_ = counted_to_ = cycle_now();
  base_ = pc_;
  instructions_.begin(base_, end_ - base_, cause_);
  while (pc_ != end_) {
    checkpoint();
    step();
  }
  end_program();
}

void Sequencer::end_program() {
  await_until_cycle();
  drain();
  if (header_.active) {
    waiting_since_ps_ = now_ps();
    for (;;) {
      context_.agent.wait_for(stop_, [this] { return describe_open_bundle(); });
      checkpoint();
    }
  }
  status_ = Status::halted;
  status_probe_.set(now_ps(), static_cast<std::uint64_t>(status_));
  status_changed_();
}

WaitingRecord Sequencer::describe_open_bundle() const {
  return {
      .who = context_.agent.name(),
      .what = std::string(cube::name(header_.start.operation)) + " bundle of " + hex_text(header_.pc) + " to be closed",
      .since_ps = waiting_since_ps_,
      .has = "the program's end at " + hex_text(end_),
      .wants = "BSTOP, or the next BSTART"};
}

// ---- Waiting.

void Sequencer::await_until_cycle() {
  context_.agent.wait_until(time_ps());
  checkpoint();
}

void Sequencer::await_change(unsigned cause) {
  if (time_ps() > now_ps()) {  // it has nothing to wait for before
    await_until_cycle();
    return;
  }
  const std::uint64_t from = now_ps();
  monitor_.stalls().waiting(cause, from);
  context_.window.await_change();
  if (now_ps() > from)
    monitor_.stalls().waited(cause, from, now_ps());
  else
    monitor_.stalls().waiting(0, from);
  checkpoint();
}

void Sequencer::drain() {
  while (!context_.window.empty()) await_change(stalled_order);
  cycle_ = std::max(cycle_, cycle_now());
}

void Sequencer::await_window() {
  while (context_.window.full()) await_change(stalled_window);
  cycle_ = std::max(cycle_, cycle_now());
}

void Sequencer::await_verdict(const Wait& wait) {
  if (!wait.producer) {
    // What it would fault on may be there by now.
    if (time_ps() > now_ps()) {
      await_until_cycle();
      context_.agent.simulation().arbiter().settle(context_.agent.port());
      checkpoint();
    } else if (!context_.window.empty()) {
      await_change(stalled_space);
    }
  } else {
    while (!context_.tiles.published(*wait.producer)) await_change(stalled_source);
  }
}

}  // namespace tilevp::cube
