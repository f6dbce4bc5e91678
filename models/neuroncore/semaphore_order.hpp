#pragma once
// What a wait for a semaphore orders: for each semaphore the list of (count reached, who made it reach that and what
// they knew).
//
// A wait for a count orders its sequencer behind the updates that made the semaphore reach it first. That says
// something about the program, and not about this one run of it, only if no other update can take the place of one of
// them: each later update has to come after all of them, or after the wait. Otherwise the wait is ambiguous.
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tilevp/neuroncore/access_records.hpp"
#include "tilevp/neuroncore/vector_clock.hpp"

namespace tilevp::neuroncore {

class SemaphoreOrder {
 public:
  struct Update {
    std::int64_t count = 0;  // reached
    Stamp stamp{};
    std::uint64_t number = 0;  // of the record, instruction or descriptor
    bool by_sequencer = false;
  };
  // A wait that has passed.
  struct Wait {
    Engine engine = Engine::pe;
    std::uint64_t index = 0;  // of its record
    std::uint32_t step = 0;   // of the sequencer's clock, from it on
    std::int64_t value = 0;
    std::uint64_t first_after = 0;  // number of the first update that it does not need
    ClockRef needed{};              // what they know
  };
  struct Ambiguity {
    Wait wait{};
    Update needed{};  // one that `other` can take the place of
    Update other{};
  };

  // The semaphore rose. The ambiguity of a wait that has passed, if there is one.
  std::optional<Ambiguity> rose(const Update& update);
  // It fell or was written: what waits order from here on is what is known of now.
  void restarted(const Update& update);
  // Of a wait that is satisfied now: joins into `clock` what it orders. `wait` is filled in. The ambiguity, if there is
  // one among the updates so far.
  std::optional<Ambiguity> passed(Wait& wait, bool equal, SharedClock& clock);
  // As a read of `value` by the host orders.
  void read(std::int64_t value, SharedClock& clock);
  // Updates and waits that everybody knows of are no longer told apart.
  void settle(const Clock& floor);
  void reset();

  // The first update at or behind step `step` of an agent: what to wait for.
  const Update* first_of(ClockAgent agent, std::uint32_t step) const;
  // How much the agent has added by then, since the start of the list.
  std::int64_t added_by(ClockAgent agent, std::uint32_t step) const;
  std::int64_t start_count() const { return start_count_; }
  // Agents that have raised it, of those that are kept.
  std::size_t raisers() const;

 private:
  // Position behind the updates that reach `value` first.
  std::size_t end_of(std::int64_t value) const;
  // What the updates before that position know.
  ClockRef clock_of(std::size_t end);
  void join_start(SharedClock& clock) const {
    if (start_) clock.join(*start_);
  }
  const Update& needed_of(std::size_t end, const Update& other) const;

  std::int64_t start_count_ = 0;
  ClockRef start_{};  // what every wait orders
  std::deque<Update> updates_;
  std::uint64_t dropped_ = 0;  // updates before the first
  bool single_ = true;         // all are of one agent
  // The last answer of clock_of: mostly the next one continues it.
  std::uint64_t known_end_ = 0;
  ClockRef known_{};
  std::deque<Wait> waits_;
};

}  // namespace tilevp::neuroncore
