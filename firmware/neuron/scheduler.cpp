#include "tilevp/neuron/scheduler.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/neuron/copies.hpp"

namespace tilevp::neuron {
namespace {

using neuroncore::engines;
using neuroncore::Instruction;
using neuroncore::Opcode;

constexpr std::size_t max_agents = engines + dma::registers::queues;

// Of each agent, how many of its operations are known to have completed.
using Clock = std::array<std::uint32_t, max_agents>;

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

// Queues in the order of the classes: inputs and outputs get most of them, weights and local copies two each.
std::array<std::vector<std::uint8_t>, queue_classes> share_queues(const Machine& machine) {
  const unsigned count = std::min<unsigned>(machine.dma_queues, dma::registers::queues);
  if (count < queue_classes)
    throw UserError("dma queues",
                    "a kernel needs " + std::to_string(queue_classes) + ", the core has " + std::to_string(count));
  const unsigned few = count >= 8 ? 2 : 1;
  const unsigned many = (count - 2 * few) / 2;
  std::array<std::vector<std::uint8_t>, queue_classes> queues;
  std::uint8_t next = 0;
  const auto give = [&](QueueClass to, unsigned n) {
    for (unsigned i = 0; i < n; ++i) queues[static_cast<std::size_t>(to)].push_back(next++);
  };
  give(QueueClass::inputs, many);
  give(QueueClass::weights, few);
  give(QueueClass::outputs, many);
  give(QueueClass::local, few);
  return queues;
}

class Scheduler {
 public:
  explicit Scheduler(const Kernel& kernel) : kernel_(kernel) {
    result_.queues = share_queues(kernel.machine());
    result_.rings.assign(dma::registers::queues, {});
    for (auto& rings : result_.rings) rings.assign(kernel.machine().dma_engines, {});
    for (const Operation& operation : kernel.operations())
      if (!operation.is_barrier) used_[static_cast<std::size_t>(operation.engine)] = true;
  }

  Schedule run() {
    for (const Operation& operation : kernel_.operations()) operation.is_barrier ? plan_barrier() : plan(operation);
    number();
    for (std::size_t i = 0; i < planned_.size(); ++i)
      kernel_.operations()[i].is_barrier ? emit_barrier() : emit(kernel_.operations()[i], planned_[i]);
    finish();
    return std::move(result_);
  }

 private:
  struct Planned {
    Agent agent = 0;
    std::uint32_t ordinal = 0;
    std::uint32_t first_wait = 0;  // in waits_
    std::uint32_t waits = 0;
  };
  using Arrival = std::array<std::vector<Dependence>, engines>;  // the copies each engine answers for at a barrier

  HazardMap& map_of(const Region& region) {
    if (region.memory != Memory::hbm) return region.memory == Memory::sbuf ? sbuf_ : psum_;
    if (region.tensor >= hbm_.size()) hbm_.resize(region.tensor + 1);
    return hbm_[region.tensor];
  }

  Agent agent_of(const Operation& operation) {
    if (!operation.is_copy) return static_cast<Agent>(operation.engine);
    const auto& queues = result_.queues[static_cast<std::size_t>(operation.queue_class)];
    auto& turn = turn_[static_cast<std::size_t>(operation.queue_class)];
    return static_cast<Agent>(engines + queues[turn++ % queues.size()]);
  }

  // Decides whom the operation waits for.
  void plan(const Operation& operation) {
    const Agent agent = agent_of(operation);
    const auto sequencer = static_cast<std::size_t>(operation.engine);
    const auto ordinal = static_cast<std::uint32_t>(clocks_[agent].size());
    needed_.fill(0);
    for (const Region& region : operation.regions)
      map_of(region).find(region, agent,
                          [&](Agent other, std::uint32_t at) { needed_[other] = std::max(needed_[other], at + 1); });
    if (operation.is_copy) {
      needed_[agent] = ordinal;  // the queue's copy before
      triggered_by_[agent] = sequencer;
    }
    for (const Region& region : operation.regions) map_of(region).record(region, agent, ordinal);

    Planned planned{agent, ordinal, static_cast<std::uint32_t>(waits_.size()), 0};
    for (Agent other = 0; other < max_agents; ++other)
      if (needed_[other] > known_[sequencer][other] && !implied_by_another(other))
        waits_.push_back({other, needed_[other] - 1});
    planned.waits = static_cast<std::uint32_t>(waits_.size()) - planned.first_wait;
    for (std::uint32_t i = 0; i < planned.waits; ++i) {
      const Dependence wait = waits_[planned.first_wait + i];
      join(known_[sequencer], clocks_[wait.agent][wait.ordinal]);
      known_[sequencer][wait.agent] = std::max(known_[sequencer][wait.agent], wait.ordinal + 1);
    }
    clocks_[agent].push_back(known_[sequencer]);
    planned_.push_back(planned);
  }

  // Of each queue the last copy, which the one before had to wait for, unless some engine knows that it has ended.
  void plan_barrier() {
    need_all_copies();
    Arrival arrival;
    for (Agent agent = engines; agent < max_agents; ++agent)
      if (!known_by_any(agent) && !implied_by_another(agent))
        arrival[triggered_by_[agent]].push_back({agent, needed_[agent] - 1});
    arrivals_.push_back(std::move(arrival));
    Clock all{};
    for (std::size_t agent = 0; agent < max_agents; ++agent)
      all[agent] = static_cast<std::uint32_t>(clocks_[agent].size());
    for (std::size_t e = 0; e < engines; ++e)
      if (used_[e]) known_[e] = all;
    planned_.emplace_back();
  }

  void need_all_copies() {
    needed_.fill(0);
    for (std::size_t agent = engines; agent < max_agents; ++agent)
      needed_[agent] = static_cast<std::uint32_t>(clocks_[agent].size());
  }

  bool known_by_any(Agent agent) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const Clock& known) { return known[agent] >= needed_[agent]; });
  }

  // Whether another needed operation started only after this one was known to have completed.
  bool implied_by_another(Agent agent) const {
    for (std::size_t other = 0; other < max_agents; ++other)
      if (other != agent && needed_[other] > 0 && clocks_[other][needed_[other] - 1][agent] >= needed_[agent])
        return true;
    return false;
  }

  // Semaphore values: only operations of an engine that somebody waits for raise its semaphore; every copy does.
  void number() {
    for (std::size_t agent = 0; agent < engines; ++agent) value_[agent].assign(clocks_[agent].size(), 0);
    for (const Dependence& wait : waits_)
      if (wait.agent < engines) value_[wait.agent][wait.ordinal] = 1;
    for (std::size_t agent = 0; agent < engines; ++agent) {
      signals_[agent].assign(value_[agent].begin(), value_[agent].end());
      std::int32_t sum = 0;
      for (std::int32_t& value : value_[agent]) value = sum += value;
    }
  }

  neuroncore::Wait wait_for(const Dependence& on) const {
    const auto per_copy = static_cast<std::int32_t>(kernel_.machine().dma_engines);
    const std::int32_t value =
        on.agent < engines ? value_[on.agent][on.ordinal] : per_copy * static_cast<std::int32_t>(on.ordinal + 1);
    return {neuroncore::Condition::ge, semaphore_of(on.agent), value};
  }

  // Waits that do not fit into the instruction itself, two a record.
  void emit_waits(std::vector<Instruction>& stream, std::span<const Dependence> waits) {
    for (std::size_t i = 0; i < waits.size(); i += 2) {
      Instruction record;
      record.opcode = Opcode::semaphore;
      record.waits[0] = wait_for(waits[i]);
      if (i + 1 < waits.size()) record.waits[1] = wait_for(waits[i + 1]);
      stream.push_back(record);
    }
    result_.waits += waits.size();
  }

  void emit(const Operation& operation, const Planned& planned) {
    auto& stream = result_.streams[static_cast<std::size_t>(operation.engine)];
    std::span<const Dependence> waits(waits_.data() + planned.first_wait, planned.waits);
    if (!operation.is_copy) {
      emit_waits(stream, waits);
      stream.push_back(operation.instruction);
      if (signals_[planned.agent][planned.ordinal] != 0)
        stream.back().update = {neuroncore::UpdateKind::add, semaphore_of(planned.agent), 1};
      return;
    }
    Instruction trigger;
    trigger.opcode = Opcode::dma_trigger;
    const std::size_t inline_waits = std::min<std::size_t>(waits.size(), 2);
    emit_waits(stream, waits.subspan(inline_waits));
    for (std::size_t i = 0; i < inline_waits; ++i) trigger.waits[i] = wait_for(waits[i]);
    result_.waits += inline_waits;
    trigger.queue = static_cast<std::uint8_t>(planned.agent - engines);
    trigger.descriptors =
        append_copy(kernel_.machine(), operation.parts, semaphore_of(planned.agent), result_.rings[trigger.queue]);
    stream.push_back(trigger);
  }

  void emit_barrier() {
    const Arrival& arrival = arrivals_[result_.barriers++];
    const auto all = static_cast<std::int32_t>(std::count(used_.begin(), used_.end(), true));
    for (std::size_t e = 0; e < engines; ++e) {
      if (!used_[e]) continue;
      auto& stream = result_.streams[e];
      stream.emplace_back().opcode = Opcode::drain;
      if (arrival[e].empty()) stream.emplace_back().opcode = Opcode::semaphore;
      emit_waits(stream, arrival[e]);
      stream.back().update = {neuroncore::UpdateKind::add, barrier_semaphore, 1};
      Instruction& meet = stream.emplace_back();
      meet.opcode = Opcode::semaphore;
      meet.waits[0] = {neuroncore::Condition::ge, barrier_semaphore, all * static_cast<std::int32_t>(result_.barriers)};
      ++result_.waits;
    }
  }

  // A halt waits for what its own engine issued, not for copies: the sync engine waits for the last copy of each queue.
  void finish() {
    std::vector<Dependence> last;
    const Clock& known = known_[static_cast<std::size_t>(Engine::sync)];
    need_all_copies();
    for (Agent agent = engines; agent < max_agents; ++agent)
      if (needed_[agent] > known[agent] && !implied_by_another(agent)) last.push_back({agent, needed_[agent] - 1});
    emit_waits(result_.streams[static_cast<std::size_t>(Engine::sync)], last);
    for (auto& stream : result_.streams)
      if (!stream.empty()) stream.emplace_back().opcode = Opcode::halt;
  }

  const Kernel& kernel_;
  Schedule result_;
  HazardMap sbuf_;
  HazardMap psum_;
  std::vector<HazardMap> hbm_;
  std::array<std::size_t, queue_classes> turn_{};
  std::array<Clock, engines> known_{};                 // to each sequencer, at its current point
  std::array<std::vector<Clock>, max_agents> clocks_;  // what was known when each operation started
  std::array<std::uint32_t, max_agents> needed_{};     // count of completed operations an operation needs
  std::vector<Dependence> waits_;
  std::vector<Planned> planned_;
  std::array<bool, engines> used_{};                    // by the kernel
  std::array<std::size_t, max_agents> triggered_by_{};  // the engine that triggered a queue's last copy
  std::vector<Arrival> arrivals_;
  std::array<std::vector<std::int32_t>, engines> value_;  // of the semaphore once the operation has completed
  std::array<std::vector<std::uint8_t>, engines> signals_;
};

}  // namespace

std::uint64_t Schedule::instructions() const {
  std::uint64_t total = 0;
  for (const auto& stream : streams) total += stream.size();
  return total;
}

Schedule schedule(const Kernel& kernel) { return Scheduler(kernel).run(); }

}  // namespace tilevp::neuron
