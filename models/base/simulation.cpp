#include "tilevp/base/simulation.hpp"

#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp {

Simulation::Simulation(sc_core::sc_module_name name, const SimulationOptions& options)
    : sc_module(name),
      options_(options),
      effects_(options.arithmetic, options.threads),
      arbiter_("arbiter"),
      completions_("completions", *this) {}

void Simulation::thread(sc_core::sc_module& parent, const std::string& name, std::function<void()> body,
                        std::size_t stack_bytes) {
  sc_core::sc_spawn_options options;
  if (stack_bytes != 0) options.set_stack_size(static_cast<int>(stack_bytes));
  sc_core::sc_spawn([this, module = std::string(parent.name()), body = std::move(body)] { guarded(module, body); },
                    name.c_str(), &options);
}

void Simulation::guarded(const std::string& module, const std::function<void()>& body) {
  try {
    body();
  } catch (const sc_core::sc_unwind_exception&) {
    throw;
  } catch (Fault& fault) {
    if (fault.module.empty()) {
      fault.module = module;
      fault.time_ps = now_ps();
    }
    fail(std::current_exception());
  } catch (...) {
    fail(std::current_exception());
  }
}

void Simulation::finish() {
  finished_ = true;
  stop();
}

void Simulation::fail(std::exception_ptr error) {
  if (!failure_) failure_ = std::move(error);
  stop();
}

// SystemC warns about a second sc_stop.
void Simulation::stop() {
  if (!std::exchange(stopping_, true)) sc_core::sc_stop();
}

namespace {

// However a run ends, no effect outlives it: the memories they write to may be gone before the simulation is.
class AllExecuted {
 public:
  explicit AllExecuted(EffectsQueue& effects) : effects_(effects) {}
  ~AllExecuted() {
    try {
      effects_.join();
    } catch (...) {  // what ended the run goes first
    }
  }
  AllExecuted(const AllExecuted&) = delete;
  AllExecuted& operator=(const AllExecuted&) = delete;

 private:
  EffectsQueue& effects_;
};

}  // namespace

void Simulation::run(std::uint64_t max_time_ps) {
  const AllExecuted at_the_end(effects_);
  if (max_time_ps == UINT64_MAX)
    sc_core::sc_start();
  else
    sc_core::sc_start(from_ps(max_time_ps - now_ps()), sc_core::SC_EXIT_ON_STARVATION);
  if (failure_) std::rethrow_exception(failure_);
  effects_.join();
  if (finished_) return;
  std::vector<WaitingRecord> waiting = waits_.read();
  const bool starved = !sc_core::sc_pending_activity();
  const std::string when = starved ? "nothing can happen any more at " + std::to_string(now_ps())
                                   : "the time limit was reached at " + std::to_string(max_time_ps);
  const std::string agents = std::to_string(waiting.size());  // before the move: arguments have no order
  throw NoEnd(when + " ps, " + agents + " agents wait", std::move(waiting));
}

}  // namespace tilevp
