#include "tilevp/base/effects.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/signal_free_thread.hpp"

namespace tilevp {
namespace {

constexpr unsigned kernel_thread = 0;
constexpr unsigned worker_thread = 1;

// A ticket is (effect number, parts, next part), so that one compare-and-swap claims a part of exactly that effect.
constexpr unsigned part_bits = 8;
constexpr std::uint64_t part_mask = (1U << part_bits) - 1;

std::uint64_t ticket_of(std::uint64_t number, unsigned parts) {
  return number << (2 * part_bits) | std::uint64_t{parts} << part_bits;
}
unsigned next_of(std::uint64_t ticket) { return static_cast<unsigned>(ticket & part_mask); }
unsigned parts_in(std::uint64_t ticket) { return static_cast<unsigned>(ticket >> part_bits & part_mask); }
std::uint64_t number_of(std::uint64_t ticket) { return ticket >> (2 * part_bits); }

// Waiting for the other thread: it is at work, so a short spin ends most waits; after that the processor is offered to
// whoever wants it.
class Patience {
 public:
  void lose() {
    if (++turns_ > spins) return std::this_thread::yield();
#ifdef __x86_64__
    __builtin_ia32_pause();  // leaves a sibling hardware thread the core
#endif
  }
  bool spent() const { return turns_ > spins; }

 private:
  static constexpr unsigned spins = 10'000;  // about 100 us: most effects are shorter
  unsigned turns_ = 0;
};

}  // namespace

unsigned EffectsQueue::default_threads() {
  const char* const text = std::getenv("TILEVP_THREADS");
  if (text == nullptr || *text == '\0' || std::string_view(text) == "1") return 1;
  if (std::string_view(text) == "2") return 2;
  throw UserError("TILEVP_THREADS", "expected 1 or 2, found '" + std::string(text) + "'");
}

EffectsQueue::EffectsQueue(bool enabled, unsigned threads) : enabled_(enabled), slots_(enabled ? capacity : 0) {
  if (threads == 0 || threads > max_threads)
    throw UserError("threads", "expected 1 to " + std::to_string(max_threads) + ", found " + std::to_string(threads));
  if (enabled && threads == max_threads) worker_ = signal_free_thread([this] { work(); });
}

EffectsQueue::~EffectsQueue() {
  if (worker_.joinable()) {
    stopping_ = true;
    appended_.fetch_add(1);  // wakes a worker that waits for it to change
    appended_.notify_one();
    worker_.join();
    appended_.fetch_sub(1);
  }
  for (std::uint64_t number = executed(); number < appended_; ++number)
    slot_of(number).operations->destroy(slot_of(number).storage.data());
}

template <class Action>
void EffectsQueue::keeping_errors(Action&& action) {
  try {
    action();
  } catch (...) {
    const std::lock_guard lock(error_mutex_);
    if (error_ == nullptr) error_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
}

void EffectsQueue::rethrow() {
  if (!failed_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(error_mutex_);
  failed_ = false;
  std::rethrow_exception(std::exchange(error_, nullptr));
}

// ---- The kernel thread

// Half the queue at once, so that the two threads meet rarely.
void EffectsQueue::make_room() {
  const std::uint64_t appended = appended_.load(std::memory_order_relaxed);
  if (appended - executed() == capacity) execute_until(worker_.joinable() ? appended - capacity / 2 : appended);
}

void EffectsQueue::publish() {
  const std::uint64_t appended = appended_.load(std::memory_order_relaxed) + 1;
  appended_.store(appended, std::memory_order_release);
  if (worker_.joinable()) appended_.notify_one();
  if (at_once_) execute_until(appended);
}

void EffectsQueue::join() { execute_until(appended_.load(std::memory_order_relaxed)); }

void EffectsQueue::join_writers_of(const HostRange& range) {
  const std::uint64_t executed = this->executed();
  for (std::uint64_t number = appended_.load(std::memory_order_relaxed); number > executed; --number)
    if (slot_of(number - 1).written.overlaps(range)) return execute_until(number);
}

bool EffectsQueue::written_since(std::uint64_t writes, const HostRange& range) const {
  if (writes_ - writes > history_.size()) return true;
  for (std::uint64_t i = writes; i < writes_; ++i)
    if (history_[i % history_.size()].overlaps(range)) return true;
  return false;
}

void EffectsQueue::execute_until(std::uint64_t number) {
  if (worker_.joinable()) {
    Patience patience;
    while (executed() < number) {
      if (execute_head(kernel_thread, number) || run_part(kernel_thread))
        patience = Patience();
      else
        patience.lose();
    }
  } else {
    while (executed() < number) execute_here();
  }
  rethrow();
}

unsigned EffectsQueue::parts_of(const Operations& operations, void* effect) {
  const unsigned parts = operations.prepare(effect);
  if (parts > part_mask) throw Defect("an effect of " + std::to_string(parts) + " parts, at most 255 are counted");
  return parts;
}

void EffectsQueue::execute_here() {
  const std::uint64_t number = executed();
  Slot& slot = slot_of(number);
  void* const effect = slot.storage.data();
  keeping_errors([&] {
    const unsigned parts = parts_of(*slot.operations, effect);
    for (unsigned part = 0; part < parts; ++part) slot.operations->run(effect, part, kernel_thread);
  });
  slot.operations->destroy(effect);
  executed_.store(number + 1, std::memory_order_release);
}

// ---- The worker, and whoever helps it

void EffectsQueue::work() {
  Patience patience;
  for (;;) {
    const std::uint64_t appended = appended_.load(std::memory_order_acquire);
    if (stopping_) return;
    if (executed() == appended && patience.spent()) {
      appended_.wait(appended, std::memory_order_acquire);
      patience = Patience();
    } else if (executed() < appended && (execute_head(worker_thread, appended) || run_part(worker_thread))) {
      patience = Patience();
    } else {
      patience.lose();
    }
  }
}

bool EffectsQueue::execute_head(unsigned thread, std::uint64_t end) {
  if (head_taken_.load(std::memory_order_relaxed) || head_taken_.exchange(true, std::memory_order_acquire))
    return false;
  const std::uint64_t number = executed();
  const bool found = number < end;
  if (found) execute_with_help(thread, number);
  head_taken_.store(false, std::memory_order_release);
  return found;
}

void EffectsQueue::execute_with_help(unsigned thread, std::uint64_t number) {
  Slot& slot = slot_of(number);
  void* const effect = slot.storage.data();
  unsigned parts = 0;
  keeping_errors([&] { parts = parts_of(*slot.operations, effect); });
  parts_done_.store(0, std::memory_order_relaxed);
  ticket_.store(ticket_of(number, parts), std::memory_order_release);
  while (run_part(thread)) {
  }
  for (Patience patience; parts_done_.load(std::memory_order_acquire) < parts;) patience.lose();
  slot.operations->destroy(effect);
  executed_.store(number + 1, std::memory_order_release);
}

// Runs one part of the effect that is open; false if none is left.
bool EffectsQueue::run_part(unsigned thread) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  do {
    if (next_of(ticket) >= parts_in(ticket)) return false;
  } while (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  Slot& slot = slot_of(number_of(ticket));
  keeping_errors([&] { slot.operations->run(slot.storage.data(), next_of(ticket), thread); });
  parts_done_.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

}  // namespace tilevp
