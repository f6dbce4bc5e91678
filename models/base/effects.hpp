#pragma once
// The bounded FIFO of effects: copies, arithmetic, conversions, executed in exactly the order the kernel thread
// appended them.
//
// Metadata (definedness, counters) is updated by the kernel thread when it appends. Bytes are valid after join(), or
// after join_writers_of() for who only reads. Whoever writes bytes outside an effect joins first, and notes the write
// where tiles are kept (note_write; Scratchpad::commit_write does).
//
// One thread: the kernel thread executes what is in the queue when it is full or joined. Two threads: a worker executes
// as soon as something is appended, and the kernel thread, whenever it has to wait for the queue, takes the effect at
// its head if the worker has not (the host may give the worker no processor for a while), else helps with it: an effect
// that is divisible (below) offers its parts to both. An effect begins when the one before it is complete, so the bytes
// are the same either way. The worker calls nothing of SystemC.
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilevp/base/host_range.hpp"

namespace tilevp {

// An effect in parts: `prepare` runs first and says how many there are; then each part runs once, in any order and on
// any thread, and writes nothing another part reads or writes. `thread` < EffectsQueue::max_threads is for scratch.
template <class Effect>
concept DivisibleEffect = requires(Effect& effect, unsigned part, unsigned thread) {
  { effect.prepare() } -> std::convertible_to<unsigned>;
  effect.run(part, thread);
};

class EffectsQueue {
 public:
  static constexpr std::size_t capacity = 32;
  static constexpr std::size_t slot_bytes = 512;
  static constexpr unsigned max_threads = 2;

  // What the environment variable TILEVP_THREADS says, else 1. Throws UserError where it says neither 1 nor 2.
  static unsigned default_threads();

  // `enabled` false drops every effect (`--arithmetic off`). Throws UserError where `threads` is neither 1 nor 2.
  explicit EffectsQueue(bool enabled, unsigned threads = default_threads());
  // What has not been executed never is.
  ~EffectsQueue();
  EffectsQueue(const EffectsQueue&) = delete;
  EffectsQueue& operator=(const EffectsQueue&) = delete;

  bool enabled() const { return enabled_; }

  // Appends `effect` (divisible, or callable without arguments; at most slot_bytes, nothing allocated), which writes
  // within `written`. Waits for room when the queue is full. An exception that leaves an effect is thrown by the append
  // or join that finds it.
  template <class Effect>
  void append(Effect&& effect, HostRange written = HostRange::everything());

  // Executes everything appended so far.
  void join();
  // Executes so much of it that no effect left may write within `range`: for who only reads there.
  void join_writers_of(const HostRange& range);
  // How many writes there have been: effects appended and writes noted.
  std::uint64_t writes() const { return writes_; }
  // The bytes within `written` change outside an effect.
  void note_write(const HostRange& written) { history_[writes_++ % history_.size()] = written; }
  // Whether a write after the first `writes` may have touched `range`. True where that is too long ago to say.
  bool written_since(std::uint64_t writes, const HostRange& range) const;
  // From now on an effect executes when it is appended: somebody looks at simulated bytes without joining (DMI).
  void execute_at_once() {
    join();
    at_once_ = true;
  }

  std::uint64_t executed() const { return executed_.load(std::memory_order_acquire); }

 private:
  struct Operations {
    unsigned (*prepare)(void* effect);
    void (*run)(void* effect, unsigned part, unsigned thread);
    void (*destroy)(void* effect);
  };
  struct Slot {
    alignas(std::max_align_t) std::array<std::byte, slot_bytes> storage;
    const Operations* operations = nullptr;
    HostRange written;
  };
  template <class Effect>
  static const Operations* operations_of();

  Slot& slot_of(std::uint64_t number) { return slots_[number % capacity]; }
  void make_room();
  void publish();
  void execute_until(std::uint64_t number);
  void execute_here();
  static unsigned parts_of(const Operations& operations, void* effect);
  void rethrow();
  template <class Action>
  void keeping_errors(Action&& action);

  void work();
  // Executes the first effect before number `end`, with the other thread's help; false if there is none, or the other
  // thread is at it.
  bool execute_head(unsigned thread, std::uint64_t end);
  void execute_with_help(unsigned thread, std::uint64_t number);
  bool run_part(unsigned thread);

  bool enabled_;
  bool at_once_ = false;
  std::vector<Slot> slots_;
  // Effects are numbered from 0 in the order of appending.
  std::array<HostRange, 256> history_;
  std::uint64_t writes_ = 0;

  static constexpr std::size_t line_bytes = 64;  // what one thread writes often lies on a cache line of its own
  alignas(line_bytes) std::atomic<std::uint64_t> appended_ = 0;
  alignas(line_bytes) std::atomic<std::uint64_t> executed_ = 0;

  alignas(line_bytes) std::atomic<bool> head_taken_ = false;  // a thread executes the head effect

  // The head effect's parts while it is open: its number, how many there are, the next to run.
  alignas(line_bytes) std::atomic<std::uint64_t> ticket_ = 0;
  std::atomic<unsigned> parts_done_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::atomic<bool> stopping_ = false;
  std::thread worker_;  // none with one thread
};

template <class Effect>
const EffectsQueue::Operations* EffectsQueue::operations_of() {
  static constexpr auto at = [](void* place) { return std::launder(static_cast<Effect*>(place)); };
  static constexpr Operations operations{
      [](void* place) -> unsigned {
        if constexpr (DivisibleEffect<Effect>)
          return at(place)->prepare();
        else
          return 1;
      },
      [](void* place, [[maybe_unused]] unsigned part, [[maybe_unused]] unsigned thread) {
        if constexpr (DivisibleEffect<Effect>)
          at(place)->run(part, thread);
        else
          (*at(place))();
      },
      [](void* place) { std::destroy_at(at(place)); }};
  return &operations;
}

template <class Effect>
void EffectsQueue::append(Effect&& effect, HostRange written) {
  using Stored = std::decay_t<Effect>;
  static_assert(sizeof(Stored) <= slot_bytes, "an effect must fit its slot");
  static_assert(alignof(Stored) <= alignof(std::max_align_t));
  if (!enabled_) return;
  make_room();
  Slot& slot = slot_of(appended_.load(std::memory_order_relaxed));
  ::new (slot.storage.data()) Stored(std::forward<Effect>(effect));
  slot.operations = operations_of<Stored>();
  slot.written = written;
  note_write(written);
  publish();
}

}  // namespace tilevp
