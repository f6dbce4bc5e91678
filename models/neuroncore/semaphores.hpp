#pragma once
// The 256 semaphores of a core: signed 32-bit counters that instructions, DMA engines and the host change, and that
// sequencers wait on without changing them (public reverse engineering: GrigoryEvko/nvopen-tools).
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "tilevp/base/simulation.hpp"
#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuroncore {

class RaceDetector;

class SemaphoreFile : public sc_core::sc_module {
 public:
  SemaphoreFile(sc_core::sc_module_name name, Simulation& simulation);

  std::int32_t value(unsigned semaphore) const { return values_[semaphore]; }
  bool satisfied(const Wait& wait) const {
    return wait.condition == Condition::none ||
           (wait.condition == Condition::ge ? values_[wait.semaphore] >= wait.value
                                            : values_[wait.semaphore] == wait.value);
  }
  // The operation that changed the semaphore last, and when. Id 0: none did, or it has no id.
  struct Change {
    std::uint64_t cause = 0;
    std::uint64_t at_ps = 0;
  };
  const Change& last_change(unsigned semaphore) const { return changes_[semaphore]; }

  // At the present time, by the operation `cause`. Throws Fault `semaphore.overflow` where the sum leaves 32 bits.
  void add(unsigned semaphore, std::int64_t amount, std::uint64_t cause);
  void write(unsigned semaphore, std::int32_t value, std::uint64_t cause);
  void apply(const Update& update, std::uint64_t cause);

  // Notified a delta after a change of a semaphore that waiter `slot` watches. Slots are given out while building.
  unsigned add_waiter();
  void watch(unsigned slot, const std::array<Wait, 2>& waits);
  void unwatch(unsigned slot);
  const sc_core::sc_event& changed(unsigned slot) const { return waiters_[slot]->changed; }
  // Lets the waiter look again though nothing has changed.
  void wake(unsigned slot) { waiters_[slot]->changed.notify(sc_core::SC_ZERO_TIME); }

  // All at 0.
  void reset();

  // What waits and updates order is told to it; null: nobody looks for races. Engines ask here, too.
  void watch(RaceDetector& races) { races_ = &races; }
  RaceDetector* races() const { return races_; }

 private:
  struct Waiter {
    std::array<Wait, 2> waits{};
    bool watching = false;
    sc_core::sc_event changed;
  };
  void set(unsigned semaphore, std::int32_t value, std::uint64_t cause);

  std::array<std::int32_t, registers::semaphores> values_{};
  std::array<Change, registers::semaphores> changes_{};
  std::vector<std::unique_ptr<Waiter>> waiters_;
  std::vector<std::unique_ptr<Probe>> probes_;
  RaceDetector* races_ = nullptr;
  Counter updates_;
};

}  // namespace tilevp::neuroncore
