#include "tilevp/neuroncore/semaphores.hpp"

#include <limits>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/race_detector.hpp"
#include "tilevp/neuroncore/rules.hpp"
#include "tilevp/neuroncore/statistics.hpp"

namespace tilevp::neuroncore {

SemaphoreFile::SemaphoreFile(sc_core::sc_module_name name, Simulation& simulation) : sc_module(name) {
  probes_.reserve(registers::semaphores);
  for (unsigned s = 0; s < registers::semaphores; ++s)
    probes_.push_back(std::make_unique<Probe>(simulation.probes(), std::string(this->name()) + "." + std::to_string(s),
                                              32, "value of the semaphore, two's complement"));
  simulation.statistics().add(this->name(), statistic_semaphore_updates, updates_);
}

void SemaphoreFile::set(unsigned semaphore, std::int32_t value, std::uint64_t cause) {
  values_[semaphore] = value;
  changes_[semaphore] = {cause, now_ps()};
  updates_ += 1;
  probes_[semaphore]->set(now_ps(), static_cast<std::uint32_t>(value));
  for (const auto& waiter : waiters_) {
    if (!waiter->watching) continue;
    for (const Wait& wait : waiter->waits)
      if (wait.condition != Condition::none && wait.semaphore == semaphore && satisfied(wait))
        waiter->changed.notify(sc_core::SC_ZERO_TIME);
  }
}

void SemaphoreFile::add(unsigned semaphore, std::int64_t amount, std::uint64_t cause) {
  const std::int64_t sum = values_[semaphore] + amount;
  if (sum < std::numeric_limits<std::int32_t>::min() || sum > std::numeric_limits<std::int32_t>::max())
    throw Fault(rule::semaphore_overflow, std::string(name()) + ": semaphore " + std::to_string(semaphore) + " at " +
                                              std::to_string(values_[semaphore]) + " changed by " +
                                              std::to_string(amount) + " leaves 32 signed bits");
  if (races_ != nullptr) races_->semaphore_changed(semaphore, values_[semaphore], sum, false, cause);
  set(semaphore, static_cast<std::int32_t>(sum), cause);
}

void SemaphoreFile::write(unsigned semaphore, std::int32_t value, std::uint64_t cause) {
  if (races_ != nullptr) races_->semaphore_changed(semaphore, values_[semaphore], value, true, cause);
  set(semaphore, value, cause);
}

void SemaphoreFile::apply(const Update& update, std::uint64_t cause) {
  switch (update.kind) {
    case UpdateKind::none:
      return;
    case UpdateKind::add:
      return add(update.semaphore, update.value, cause);
    case UpdateKind::subtract:
      return add(update.semaphore, -std::int64_t{update.value}, cause);
    case UpdateKind::write:
      return write(update.semaphore, update.value, cause);
  }
}

void SemaphoreFile::reset() {
  for (unsigned s = 0; s < registers::semaphores; ++s)
    if (values_[s] != 0) set(s, 0, 0);
}

unsigned SemaphoreFile::add_waiter() {
  waiters_.push_back(std::make_unique<Waiter>());
  return static_cast<unsigned>(waiters_.size() - 1);
}

void SemaphoreFile::watch(unsigned slot, const std::array<Wait, 2>& waits) {
  waiters_[slot]->waits = waits;
  waiters_[slot]->watching = true;
}

void SemaphoreFile::unwatch(unsigned slot) { waiters_[slot]->watching = false; }

}  // namespace tilevp::neuroncore
