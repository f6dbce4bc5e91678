#pragma once
// Who acts on the bytes of a core, and what each of them knows of the others: vector clocks (Mattern 1989, Fidge 1988).
//
// An engine is two agents. Its sequencer issues, waits and rings; its unit executes, in order and later. So a sequencer
// that rings a DMA queue knows nothing of the instruction it issued before, unless it waited or drained.
#include <algorithm>
#include <array>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>

#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

using ClockAgent = std::uint16_t;

inline constexpr unsigned clock_dma_engines = 16;
inline constexpr unsigned clock_dma_queues = 16;
inline constexpr ClockAgent host_clock = 0;
inline constexpr ClockAgent first_sequencer_clock = 1;
inline constexpr ClockAgent first_unit_clock = first_sequencer_clock + engines;
inline constexpr ClockAgent first_queue_clock = first_unit_clock + engines;
inline constexpr std::size_t clock_agents = first_queue_clock + clock_dma_engines * clock_dma_queues;

constexpr ClockAgent sequencer_clock(Engine engine) {
  return static_cast<ClockAgent>(first_sequencer_clock + static_cast<unsigned>(engine));
}
constexpr ClockAgent unit_clock(Engine engine) {
  return static_cast<ClockAgent>(first_unit_clock + static_cast<unsigned>(engine));
}
constexpr ClockAgent queue_clock(unsigned dma_engine, unsigned queue) {
  return static_cast<ClockAgent>(first_queue_clock + dma_engine * clock_dma_queues + queue);
}

// Of each agent, how many of its steps have ended. Steps of a sequencer are records with waits, of a unit instructions,
// of a queue descriptors, of the host accesses.
struct Clock : boost::intrusive_ref_counter<Clock, boost::thread_unsafe_counter> {
  std::array<std::uint32_t, clock_agents> steps{};

  void join(const Clock& other) {
    for (std::size_t a = 0; a < clock_agents; ++a) steps[a] = std::max(steps[a], other.steps[a]);
  }
  void meet(const Clock& other) {
    for (std::size_t a = 0; a < clock_agents; ++a) steps[a] = std::min(steps[a], other.steps[a]);
  }
  // Whether it knows all that `other` knows.
  bool covers(const Clock& other) const {
    bool all = true;
    for (std::size_t a = 0; a < clock_agents; ++a) all &= steps[a] >= other.steps[a];
    return all;
  }
};

// A clock that is shared and does not change.
using ClockRef = boost::intrusive_ptr<const Clock>;

// Step `step` of an agent, and what was known when it began.
struct Stamp {
  ClockRef begin;
  ClockAgent agent = host_clock;
  std::uint32_t step = 0;

  bool is_known_to(const Clock& clock) const { return clock.steps[agent] >= step; }
  // What one knows who knows that the step has ended.
  void join_into(Clock& clock) const {
    if (begin) clock.join(*begin);
    clock.steps[agent] = std::max(clock.steps[agent], step);
  }
};

// A clock that one agent changes and others get to see as it is now.
class SharedClock {
 public:
  const Clock& operator*() const { return *clock_; }
  const Clock* operator->() const { return clock_.get(); }
  ClockRef now() const { return clock_; }
  // To change it: a copy first, where somebody holds the present one.
  Clock& change() {
    if (clock_->use_count() > 1) clock_ = new Clock(*clock_);
    return *clock_;
  }
  void join(const Clock& other) {
    if (!clock_->covers(other)) change().join(other);
  }

 private:
  boost::intrusive_ptr<Clock> clock_{new Clock};
};

}  // namespace tilevp::neuroncore
