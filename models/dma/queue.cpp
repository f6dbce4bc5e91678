#include "tilevp/dma/queue.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/rules.hpp"

namespace tilevp::dma {
namespace {

constexpr StatisticDefinition descriptors_definition{"descriptors", "1", "Descriptors that have ended."};
constexpr StatisticDefinition runs_definition{
    "runs", "1", "Contiguous pieces the engine moved: the runs of the side that has more of them."};
constexpr StatisticDefinition bursts_definition{
    "bursts", "1", "Bursts of both memories for the packets moved, as the memories count them."};
constexpr StatisticDefinition bytes_definition{"bytes", "bytes", "Bytes written to destinations."};
constexpr StatisticDefinition wasted_bytes_definition{
    "wasted_bytes", "bytes", "Bytes of those bursts beyond the ones asked for, both memories together."};
constexpr StatisticDefinition busy_ps_definition{
    "busy_ps", "ps", "Time the engine spent on packets of this queue: floors and rate, without waiting for memory."};

}  // namespace

Queue::Queue(Simulation& simulation, const std::string& engine, unsigned index, const Parameters& parameters)
    : depth(simulation.probes(), engine + ".queue" + std::to_string(index) + ".depth", 32,
            "descriptors released and not yet completed"),
      index_(index),
      name_(engine + " queue " + std::to_string(index)),
      path_(engine + ".queue" + std::to_string(index)),
      simulation_(simulation),
      prefetch_(parameters.prefetch_descriptors) {
  auto& statistics = simulation.statistics();
  statistics.add(path_, descriptors_definition, descriptors_count);
  statistics.add(path_, runs_definition, runs_count);
  statistics.add(path_, bursts_definition, bursts_count);
  statistics.add(path_, bytes_definition, bytes_count);
  statistics.add(path_, wasted_bytes_definition, wasted_count);
  statistics.add(path_, busy_ps_definition, busy_ps);
}

void Queue::require_idle(const char* what) const {
  if (pending())
    throw Fault(rule::ring_busy, name_ + ": " + what + " written while " + std::to_string(rung_ - completed_) +
                                     " descriptors are pending; expected 0");
}

void Queue::set_base(std::uint64_t address) {
  require_idle("ring_base");
  ring_base_ = address;
  base_set_ = true;
  rung_ = fetched_ = completed_ = 0;
  doorbells_.clear();
}

void Queue::set_size(std::uint32_t descriptors) {
  require_idle("ring_size");
  ring_size_ = descriptors;
}

void Queue::ring(std::uint32_t count, std::uint64_t now, std::uint64_t ready_ps, std::uint64_t cause) {
  if (!base_set_ || ring_size_ == 0)
    throw Fault(rule::ring, name_ + ": doorbell before ring_base and ring_size were set");
  if (count > ring_size_ - (rung_ - completed_))
    throw Fault(rule::doorbell, name_ + " descriptor " + std::to_string(rung_) + ": doorbell of " +
                                    std::to_string(count) + " with " + std::to_string(rung_ - completed_) +
                                    " pending exceeds the ring of " + std::to_string(ring_size_));
  rung_ += count;
  doorbells_.push_back({rung_, now, ready_ps, cause});
  set_depth(now, count);
}

void Queue::set_depth(std::uint64_t now, std::int64_t change) {
  depth.set(now, rung_ - completed_);
  if (auto* const observer = simulation_.transactions())
    observer->changed({.path = path_, .what = "depth", .time_ps = now, .by = change});
}

void Queue::end_descriptor() {
  ++completed_;
  descriptors_count += 1;
  set_depth(now_ps(), -1);
}

void Queue::reset() {
  waiting.clear();
  running.reset();
  doorbells_.clear();
  ring_base_ = ring_size_ = 0;
  base_set_ = false;
  rung_ = fetched_ = completed_ = 0;
  depth.set(now_ps(), 0);
}

std::optional<Queue::Block> Queue::next_block() const {
  const std::uint64_t ahead = waiting.size();
  if (fetching_ || rung_ == fetched_ || ahead > prefetch_ / 2) return std::nullopt;
  const std::uint64_t slot = fetched_ % ring_size_;
  const std::uint64_t count = std::min({rung_ - fetched_, prefetch_ - ahead, ring_size_ - slot});
  return Block{fetched_, count, ring_base_ + slot * descriptor_bytes, doorbells_.front().cause};
}

void Queue::fetched(const Descriptor& descriptor, std::uint64_t number, std::uint64_t now, std::uint64_t fetch) {
  const Doorbell& doorbell = doorbells_.front();
  waiting.push_back({descriptor, number, doorbell.at_ps, std::max(doorbell.ready_ps, now), fetch, doorbell.cause});
  fetched_ = number + 1;
  if (fetched_ == doorbell.end) doorbells_.pop_front();
}

std::optional<std::uint64_t> Queue::ready_ps() const {
  if (running) return running->entry.ready_ps;
  if (!waiting.empty()) return waiting.front().ready_ps;
  return std::nullopt;
}

}  // namespace tilevp::dma
