#pragma once
// The bounded FIFO of effects: copies, arithmetic, conversions, executed in exactly the order the kernel thread
// appended them.
//
// Metadata (definedness, counters) is updated by the kernel thread when it appends. Bytes are valid after join();
// whoever reads or writes simulated bytes outside an effect joins first.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilevp {

class EffectsQueue {
 public:
  static constexpr std::size_t capacity = 32;
  static constexpr std::size_t slot_bytes = 512;

  // `enabled` false drops every effect (`--arithmetic off`).
  explicit EffectsQueue(bool enabled) : enabled_(enabled), slots_(enabled ? capacity : 0) {}
  ~EffectsQueue();
  EffectsQueue(const EffectsQueue&) = delete;
  EffectsQueue& operator=(const EffectsQueue&) = delete;

  bool enabled() const { return enabled_; }

  // Appends `effect` (callable without arguments, at most slot_bytes, nothing allocated). Drains first when the queue
  // is full.
  template <class Effect>
  void append(Effect&& effect);

  // Executes everything appended so far.
  void join();
  // From now on an effect executes when it is appended: somebody looks at simulated bytes without joining (DMI).
  void execute_at_once() {
    join();
    at_once_ = true;
  }

  std::uint64_t executed() const { return executed_; }

 private:
  struct Slot {
    alignas(std::max_align_t) std::array<std::byte, slot_bytes> storage;
    void (*run_and_destroy)(void*) = nullptr;
    void (*destroy)(void*) = nullptr;
  };

  bool enabled_;
  bool at_once_ = false;
  std::vector<Slot> slots_;
  std::size_t count_ = 0;
  std::uint64_t executed_ = 0;
};

template <class Effect>
void EffectsQueue::append(Effect&& effect) {
  using Stored = std::decay_t<Effect>;
  static_assert(sizeof(Stored) <= slot_bytes, "an effect must fit its slot");
  static_assert(alignof(Stored) <= alignof(std::max_align_t));
  if (!enabled_) return;
  if (at_once_) {
    effect();
    ++executed_;
    return;
  }
  if (count_ == capacity) join();
  Slot& slot = slots_[count_];
  ::new (slot.storage.data()) Stored(std::forward<Effect>(effect));
  slot.run_and_destroy = [](void* place) {
    auto* stored = std::launder(static_cast<Stored*>(place));
    (*stored)();
    std::destroy_at(stored);
  };
  slot.destroy = [](void* place) { std::destroy_at(std::launder(static_cast<Stored*>(place))); };
  ++count_;
}

}  // namespace tilevp
