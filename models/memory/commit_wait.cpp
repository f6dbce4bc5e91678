#include "tilevp/memory/commit_wait.hpp"

#include <utility>

namespace tilevp::memory {
namespace {

struct Action final : Completion {
  Simulation* simulation = nullptr;
  const std::function<void()>* call = nullptr;
  sc_core::sc_event* done = nullptr;
  std::exception_ptr error;

  void complete() override {
    try {
      simulation->effects().join();
      (*call)();
    } catch (...) {
      error = std::current_exception();
    }
    done->notify(sc_core::SC_ZERO_TIME);
  }
};

}  // namespace

void CommitWait::run_at(std::uint64_t end_ps, unsigned rank, const std::function<void()>& action) {
  if (idle_events_.empty()) idle_events_.push_back(std::make_unique<sc_core::sc_event>());
  std::unique_ptr<sc_core::sc_event> event = std::move(idle_events_.back());
  idle_events_.pop_back();
  Action operation;
  operation.simulation = &simulation_;
  operation.call = &action;
  operation.done = event.get();
  simulation_.completions().complete_at(end_ps, rank, operation);
  sc_core::wait(*event);
  idle_events_.push_back(std::move(event));
  if (operation.error) std::rethrow_exception(operation.error);
}

}  // namespace tilevp::memory
