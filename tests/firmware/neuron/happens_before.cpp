#include "firmware/neuron/happens_before.hpp"

#include <algorithm>
#include <stdexcept>

namespace tilevp::test {
namespace {

using neuroncore::Instruction;
using neuroncore::Opcode;

bool overlap(const neuron::Region& a, const neuron::Region& b) {
  return a.memory == b.memory && (a.memory != neuron::Memory::hbm || a.tensor == b.tensor) && (a.write || b.write) &&
         a.row_begin < b.row_end && b.row_begin < a.row_end && a.byte_begin < b.byte_end && b.byte_begin < a.byte_end;
}

bool conflict(const neuron::Operation& a, const neuron::Operation& b) {
  for (const auto& x : a.regions)
    for (const auto& y : b.regions)
      if (overlap(x, y)) return true;
  return false;
}

void add_all(std::vector<bool>& to, const std::vector<bool>& from) {
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i]) to[i] = true;
}

}  // namespace

HappensBefore::HappensBefore(const std::vector<neuron::Operation>& operations, const neuron::Schedule& schedule,
                             unsigned dma_engines)
    : operations_(operations) {
  const std::size_t count = operations.size();
  before_.assign(count, {});
  // Instructions of each stream, and who raises which semaphore to what.
  std::vector<std::size_t> at(neuroncore::engines, 0);
  std::vector<std::vector<bool>> known(neuroncore::engines, std::vector<bool>(count, false));
  std::vector<std::vector<std::size_t>> raised(256);  // by semaphore, one entry a step
  of_queue_.assign(16, {});
  const auto apply_waits = [&](const Instruction& instruction, std::vector<bool>& to) {
    for (const auto& wait : instruction.waits) {
      if (wait.condition == neuroncore::Condition::none) continue;
      const bool is_queue = wait.semaphore >= neuroncore::engines;
      const auto steps = static_cast<std::size_t>(wait.value) / (is_queue ? dma_engines : 1);
      if (steps == 0 || steps > raised[wait.semaphore].size())
        throw std::logic_error("a wait for what no earlier operation does");
      add_all(to, ended_by(raised[wait.semaphore][steps - 1]));
    }
  };
  std::int32_t arrived = 0;  // at barriers
  // Every engine's stream from its drain to its wait; then all know what any of them knew or did.
  const auto meet = [&](std::size_t barrier) {
    std::vector<bool> all(count, false);
    std::vector<std::size_t> met;
    std::vector<std::int32_t> wanted;
    for (std::size_t e = 0; e < neuroncore::engines; ++e) {
      const auto& stream = schedule.streams[e];
      if (at[e] == stream.size() || stream[at[e]].opcode != Opcode::drain) continue;
      met.push_back(e);
      ++at[e];
      while (stream[at[e]].update.kind != neuroncore::UpdateKind::add) apply_waits(stream[at[e]++], known[e]);
      apply_waits(stream[at[e]], known[e]);
      if (stream[at[e]].update.semaphore == neuron::barrier_semaphore) arrived += stream[at[e]].update.value;
      wanted.push_back(stream[++at[e]].waits[0].value);
      if (stream[at[e]++].waits[0].semaphore != neuron::barrier_semaphore) throw std::logic_error("no wait to meet");
      add_all(all, known[e]);
      for (std::size_t i = 0; i < barrier; ++i)
        if (!operations[i].is_copy && static_cast<std::size_t>(operations[i].engine) == e) {
          all[i] = true;
          add_all(all, before_[i]);
        }
    }
    for (const auto value : wanted)
      if (value != arrived) throw std::logic_error("a barrier that not all of its engines keep");
    for (const std::size_t e : met) known[e] = all;
    before_[barrier] = std::move(all);
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (operations[i].is_barrier) {
      meet(i);
      continue;
    }
    const auto engine = static_cast<std::size_t>(operations[i].engine);
    const auto& stream = schedule.streams[engine];
    while (stream[at[engine]].opcode == Opcode::semaphore) apply_waits(stream[at[engine]++], known[engine]);
    const Instruction& instruction = stream[at[engine]++];
    apply_waits(instruction, known[engine]);
    before_[i] = known[engine];
    if (instruction.opcode == Opcode::dma_trigger) {
      of_queue_[instruction.queue].push_back(i);
      raised[schedule.rings[instruction.queue][0].back().semaphore].push_back(i);
    } else if (instruction.update.kind == neuroncore::UpdateKind::add) {
      raised[instruction.update.semaphore].push_back(i);
    }
  }
  const auto sync = static_cast<std::size_t>(neuroncore::Engine::sync);
  at_end_ = known[sync];
  for (; at[sync] < schedule.streams[sync].size(); ++at[sync]) apply_waits(schedule.streams[sync][at[sync]], at_end_);
}

// What has ended once `operation` has: itself, what had ended before it started, and of an engine all that it did
// before.
std::vector<bool> HappensBefore::ended_by(std::size_t operation) const {
  std::vector<bool> ended = before_[operation];
  ended[operation] = true;
  if (operations_[operation].is_copy) return ended;
  for (std::size_t i = 0; i < operation; ++i)
    if (!operations_[i].is_copy && operations_[i].engine == operations_[operation].engine) {
      ended[i] = true;
      add_all(ended, before_[i]);
    }
  return ended;
}

std::string HappensBefore::first_violation() const {
  const auto pair = [](std::size_t a, std::size_t b) { return std::to_string(a) + " and " + std::to_string(b); };
  for (std::size_t b = 0; b < operations_.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      const auto& first = operations_[a];
      const auto& second = operations_[b];
      if (!first.is_copy && !second.is_copy && first.engine == second.engine) continue;
      if (!ordered(a, b) && conflict(first, second)) return "unordered: " + pair(a, b);
    }
  for (std::size_t barrier = 0; barrier < operations_.size(); ++barrier) {
    if (!operations_[barrier].is_barrier) continue;
    for (std::size_t a = 0; a < barrier; ++a)
      for (std::size_t b = barrier + 1; b < operations_.size(); ++b) {
        const bool same =
            !operations_[a].is_copy && !operations_[b].is_copy && operations_[a].engine == operations_[b].engine;
        if (!operations_[a].is_barrier && !operations_[b].is_barrier && !same && !ordered(a, b))
          return "a barrier between, and unordered: " + pair(a, b);
      }
  }
  for (const auto& copies : of_queue_) {
    for (std::size_t i = 1; i < copies.size(); ++i)
      if (!ordered(copies[i - 1], copies[i])) return "two copies of a queue: " + pair(copies[i - 1], copies[i]);
    for (const std::size_t copy : copies)
      if (!at_end_[copy]) return "not ended at the halt: " + std::to_string(copy);
  }
  return "";
}

std::vector<WaitPlace> waits_of(const neuron::Schedule& schedule) {
  std::vector<WaitPlace> places;
  for (std::size_t e = 0; e < schedule.streams.size(); ++e)
    for (std::size_t i = 0; i < schedule.streams[e].size(); ++i)
      for (std::size_t slot = 0; slot < 2; ++slot)
        if (schedule.streams[e][i].waits[slot].condition != neuroncore::Condition::none) places.push_back({e, i, slot});
  return places;
}

neuron::Schedule without(neuron::Schedule schedule, const WaitPlace& wait) {
  schedule.streams[wait.engine][wait.instruction].waits[wait.slot] = {};
  return schedule;
}

}  // namespace tilevp::test
