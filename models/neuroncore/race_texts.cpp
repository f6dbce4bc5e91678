// What a race is said to be: both sides, the bytes, the wait that is missing.
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/rules.hpp"

namespace tilevp::neuroncore {
namespace {

bool is_unit(ClockAgent agent) { return agent >= first_unit_clock && agent < first_queue_clock; }
bool is_queue(ClockAgent agent) { return agent >= first_queue_clock; }
std::string engine_text(unsigned engine) { return name(static_cast<Engine>(engine)); }
std::string record_text(Engine engine, std::uint64_t index) {
  return std::string(name(engine)) + "@" + std::to_string(index);
}
const char* verb(bool write) { return write ? "writes" : "reads"; }

}  // namespace

std::string RaceDetector::agent_text(ClockAgent agent, std::uint64_t number) const {
  if (agent == host_clock) return "the host";
  if (is_queue(agent)) {
    const unsigned at = agent - first_queue_clock;
    return "dma" + std::to_string(at / clock_dma_queues) + " queue " + std::to_string(at % clock_dma_queues) +
           " descriptor " + std::to_string(number);
  }
  const unsigned engine = is_unit(agent) ? agent - first_unit_clock : agent - first_sequencer_clock;
  return engine_text(engine) + "@" + std::to_string(number);
}

std::string RaceDetector::description_of(const RaceActor& actor) const {
  std::string text = agent_text(actor.stamp.agent, actor.number);
  if (actor.instruction) {
    text += " (" + disassemble(*actor.instruction) + ")";
  } else if (actor.source || actor.destination) {
    text += " (";
    if (actor.source) append_text(*actor.source, text);
    text += " -> ";
    if (actor.destination) append_text(*actor.destination, text);
    text += actor.trigger ? ", triggered by " + record_text(*actor.trigger, actor.trigger_index) + ")"
                          : std::string(", released by the host)");
  }
  return text;
}

std::string RaceDetector::where_text(const AccessConflict& conflict) const {
  const std::uint64_t last = conflict.bytes.address + conflict.bytes.bytes - 1;
  if (conflict.now.where.place == Place::memory)
    return "bytes " + hex_text(conflict.bytes.address) + " to " + hex_text(last);
  const bool sbuf = conflict.now.where.place == Place::sbuf;
  std::string text = "bytes " + std::to_string(conflict.bytes.address) + " to " + std::to_string(last);
  if (!sbuf) text += " (bank " + std::to_string(conflict.bytes.address / psum_bank_bytes) + ")";
  text += " of partition";
  if (conflict.end_partition - conflict.first_partition == 1)
    text += " " + std::to_string(conflict.first_partition);
  else
    text += "s " + std::to_string(conflict.first_partition) + " to " + std::to_string(conflict.end_partition - 1);
  return text + " of " + setup_.core + (sbuf ? ".sbuf" : ".psum");
}

// Whether a DMA engine other than the agent's is behind it in the same queue.
bool RaceDetector::others_pending(ClockAgent agent) const {
  const unsigned queue = (agent - first_queue_clock) % clock_dma_queues;
  for (unsigned d = 0; d < setup_.dma_engines; ++d)
    if (queue_clock(d, queue) != agent && !queues_[d * clock_dma_queues + queue].rung.empty()) return true;
  return false;
}

// DMA engines raise a semaphore once a copy each: the count that says that one has is the one that says that all have.
std::string RaceDetector::count_text(const SemaphoreOrder& semaphore, const SemaphoreOrder::Update& update) const {
  const ClockAgent agent = update.stamp.agent;
  if (!is_queue(agent)) return ">= " + std::to_string(update.count);
  if (others_pending(agent))
    return "once every DMA engine of the copy has raised it (this one raised it to " + std::to_string(update.count) +
           ")";
  return ">= " + std::to_string(semaphore.start_count() + semaphore.added_by(agent, update.stamp.step) *
                                                              static_cast<std::int64_t>(semaphore.raisers()));
}

std::string RaceDetector::missing_wait(const RaceActor& before, const RaceActor& now) const {
  const std::string first = agent_text(before.stamp.agent, before.number);
  if (before.stamp.agent == host_clock) return "the host must do so before it starts what leads to the other";
  std::string waiter = "the host must see that ";
  if (is_unit(now.stamp.agent))
    waiter = std::string(engine_text(now.stamp.agent - first_unit_clock)) + " must wait for ";
  else if (now.trigger)
    waiter =
        std::string(name(*now.trigger)) + " must wait before " + record_text(*now.trigger, now.trigger_index) + " for ";
  for (unsigned s = 0; s < semaphores_.size(); ++s) {
    const auto* const update = semaphores_[s].first_of(before.stamp.agent, before.stamp.step);
    if (update == nullptr) continue;
    return waiter + "semaphore " + std::to_string(s) + " " + count_text(semaphores_[s], *update) +
           (now.stamp.agent == host_clock && !now.trigger ? " (or an interrupt that comes after it)" : "");
  }
  return "no semaphore orders " + agent_text(now.stamp.agent, now.number) + " after " + first;
}

void RaceDetector::fault(const AccessConflict& conflict) const {
  const RaceActor& now = *conflict.now.actor;
  const RaceActor& before = *conflict.before.actor;
  throw Fault(rule::race_access, description_of(now) + " " + verb(conflict.now.write) + " " + where_text(conflict) +
                                     ", which " + description_of(before) + " " + verb(conflict.before.write) +
                                     ", and nothing orders the two: " + missing_wait(before, now));
}

void RaceDetector::fault(unsigned semaphore, const SemaphoreOrder::Ambiguity& ambiguity) const {
  const auto text = [&](const SemaphoreOrder::Update& update) { return agent_text(update.stamp.agent, update.number); };
  throw Fault(rule::race_ambiguous_wait,
              record_text(ambiguity.wait.engine, ambiguity.wait.index) + " waits for semaphore " +
                  std::to_string(semaphore) + " >= " + std::to_string(ambiguity.wait.value) + ", which " +
                  text(ambiguity.needed) + " and " + text(ambiguity.other) +
                  " both raise, and nothing orders the two: the count does not say which of them has ended");
}

}  // namespace tilevp::neuroncore
