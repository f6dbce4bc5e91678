#include "tilevp/neuroncore/semaphore_order.hpp"

#include <algorithm>
#include <set>

namespace tilevp::neuroncore {
namespace {

// Whether all of which `needed` knows had ended before the update's operation began, or is its agent's own past.
bool is_behind(const SemaphoreOrder::Update& update, const Clock& needed) {
  const Stamp& stamp = update.stamp;
  for (std::size_t a = 0; a < clock_agents; ++a)
    if (stamp.begin->steps[a] < needed.steps[a] && a != stamp.agent) return false;
  return true;
}

}  // namespace

std::size_t SemaphoreOrder::end_of(std::int64_t value) const {
  if (start_count_ >= value) return 0;
  const auto first = std::ranges::lower_bound(updates_, value, {}, &Update::count);
  return std::min(static_cast<std::size_t>(first - updates_.begin()) + 1, updates_.size());
}

ClockRef SemaphoreOrder::clock_of(std::size_t end) {
  const std::uint64_t wanted = dropped_ + end;
  if (known_ && known_end_ == wanted) return known_;
  auto* const clock = new Clock;
  const ClockRef shared(clock);
  std::size_t begin = 0;
  if (single_ && end > 0) {
    begin = end - 1;  // the last of one agent knows of those before
  } else if (known_ && known_end_ > dropped_ && known_end_ < wanted) {
    clock->steps = known_->steps;
    begin = static_cast<std::size_t>(known_end_ - dropped_);
  }
  for (std::size_t i = begin; i < end; ++i) updates_[i].stamp.join_into(*clock);
  known_end_ = wanted;
  known_ = shared;
  return shared;
}

const SemaphoreOrder::Update& SemaphoreOrder::needed_of(std::size_t end, const Update& other) const {
  for (std::size_t i = 0; i < end; ++i) {
    const Stamp& stamp = updates_[i].stamp;
    if (stamp.agent != other.stamp.agent && !stamp.is_known_to(*other.stamp.begin)) return updates_[i];
  }
  return updates_[end == 0 ? 0 : end - 1];
}

std::optional<SemaphoreOrder::Ambiguity> SemaphoreOrder::rose(const Update& update) {
  if (!updates_.empty() && updates_.back().stamp.agent != update.stamp.agent) single_ = false;
  updates_.push_back(update);
  if (single_) return std::nullopt;
  for (const Wait& wait : waits_) {
    if (update.stamp.begin->steps[sequencer_clock(wait.engine)] >= wait.step || is_behind(update, *wait.needed))
      continue;
    const std::size_t end = wait.first_after > dropped_ ? static_cast<std::size_t>(wait.first_after - dropped_) : 0;
    return Ambiguity{wait, needed_of(end, update), update};
  }
  return std::nullopt;
}

void SemaphoreOrder::restarted(const Update& update) {
  auto* clock = new Clock;
  const ClockRef shared(clock);
  update.stamp.join_into(*clock);
  dropped_ += updates_.size();
  updates_.clear();
  waits_.clear();
  known_.reset();
  single_ = true;
  start_ = shared;
  start_count_ = update.count;
}

std::optional<SemaphoreOrder::Ambiguity> SemaphoreOrder::passed(Wait& wait, bool equal, SharedClock& clock) {
  const std::size_t end = equal ? updates_.size() : end_of(wait.value);
  wait.first_after = dropped_ + end;
  wait.needed = clock_of(end);
  clock.join(*wait.needed);
  join_start(clock);
  if (end > 0) waits_.push_back(wait);
  if (single_) return std::nullopt;
  for (std::size_t i = end; i < updates_.size(); ++i)
    if (updates_[i].stamp.begin->steps[sequencer_clock(wait.engine)] < wait.step &&
        !is_behind(updates_[i], *wait.needed))
      return Ambiguity{wait, needed_of(end, updates_[i]), updates_[i]};
  return std::nullopt;
}

void SemaphoreOrder::read(std::int64_t value, SharedClock& clock) {
  clock.join(*clock_of(end_of(value)));
  join_start(clock);
}

void SemaphoreOrder::settle(const Clock& floor) {
  Clock* start = nullptr;
  while (!updates_.empty() && updates_.front().stamp.is_known_to(floor)) {
    if (start == nullptr) {
      start = start_ ? new Clock(*start_) : new Clock;
      start_ = start;
    }
    updates_.front().stamp.join_into(*start);
    start_count_ = updates_.front().count;
    updates_.pop_front();
    ++dropped_;
  }
  std::erase_if(waits_, [&](const Wait& wait) { return floor.steps[sequencer_clock(wait.engine)] >= wait.step; });
}

void SemaphoreOrder::reset() { *this = SemaphoreOrder(); }

const SemaphoreOrder::Update* SemaphoreOrder::first_of(ClockAgent agent, std::uint32_t step) const {
  for (const Update& update : updates_)
    if (update.stamp.agent == agent && update.stamp.step >= step) return &update;
  return nullptr;
}

std::int64_t SemaphoreOrder::added_by(ClockAgent agent, std::uint32_t step) const {
  std::int64_t before = start_count_;
  std::int64_t added = 0;
  for (const Update& update : updates_) {
    if (update.stamp.agent == agent && update.stamp.step <= step) added += update.count - before;
    before = update.count;
  }
  return added;
}

std::size_t SemaphoreOrder::raisers() const {
  std::set<ClockAgent> agents;
  for (const Update& update : updates_) agents.insert(update.stamp.agent);
  return agents.size();
}

}  // namespace tilevp::neuroncore
