#include "tilevp/base/effects.hpp"

namespace tilevp {

EffectsQueue::~EffectsQueue() {
  for (std::size_t i = 0; i < count_; ++i) slots_[i].destroy(slots_[i].storage.data());
}

void EffectsQueue::join() {
  for (std::size_t i = 0; i < count_; ++i) slots_[i].run_and_destroy(slots_[i].storage.data());
  executed_ += count_;
  count_ = 0;
}

}  // namespace tilevp
