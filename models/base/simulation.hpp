#pragma once
// Everything that one run shares: the arbiter, the completions, the effects, the waits, the probes and the first
// failure.
//
// There are no globals: a Simulation is made first and handed to every module by reference.
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <systemc>

#include "tilevp/base/arbiter.hpp"
#include "tilevp/base/completion_queue.hpp"
#include "tilevp/base/effects.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/probe.hpp"
#include "tilevp/base/statistics.hpp"
#include "tilevp/base/transaction_observer.hpp"
#include "tilevp/base/wait_board.hpp"

namespace tilevp {

struct SimulationOptions {
  std::uint64_t seed = 1;
  // How far an agent that is the sole user of what it touches may run ahead of simulated time.
  std::uint64_t quantum_ps = 0;
  // Off: every transaction, check and time as usual, but no bytes are computed or moved (`--arithmetic off`).
  bool arithmetic = true;
  // 2: a worker executes the effects beside the kernel thread. Same bytes, same times.
  unsigned threads = EffectsQueue::default_threads();
};

inline std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }
inline sc_core::sc_time from_ps(std::uint64_t ps) { return sc_core::sc_time::from_value(ps); }

// Runs `action` on behalf of the module of that name: a fault that leaves it is the module's, at the present time. For
// completions, which run outside their module's processes.
template <class Action>
void located(std::string_view module, Action&& action) {
  try {
    action();
  } catch (Fault& fault) {
    fault.module = module;
    fault.time_ps = now_ps();
    throw;
  }
}

class Simulation : public sc_core::sc_module {
 public:
  explicit Simulation(sc_core::sc_module_name name, const SimulationOptions& options = {});

  const SimulationOptions& options() const { return options_; }
  Arbiter& arbiter() { return arbiter_; }
  CompletionQueue& completions() { return completions_; }
  EffectsQueue& effects() { return effects_; }
  WaitBoard& waits() { return waits_; }
  ProbeRegistry& probes() { return probes_; }
  StatisticsRegistry& statistics() { return statistics_; }

  // Who watches transactions; null: nobody. The observer outlives the run.
  TransactionObserver* transactions() const { return transactions_; }
  void observe(TransactionObserver& observer) { transactions_ = &observer; }
  // The agents by port number, as their ids are shown: "core0.pe".
  const std::map<unsigned, std::string>& agent_names() const { return agent_names_; }
  void name_agent(unsigned port, const std::string& name) { agent_names_.emplace(port, name); }

  // Starts an SC_THREAD. An exception that leaves `body` ends the run and is kept with its type (SystemC would lose
  // it). A Fault gets `module` and the present time when it has none. Call it while `parent` is being constructed.
  // `stack_bytes` 0: SystemC's default of about 256 KB.
  void thread(sc_core::sc_module& parent, const std::string& name, std::function<void()> body,
              std::size_t stack_bytes = 0);
  // Runs `body`; an exception is kept and the simulation stopped. For SC_METHODs.
  void guarded(const std::string& module, const std::function<void()>& body);

  // Ends the run well: the program has returned.
  void finish();
  bool finished() const { return finished_; }
  // Ends the run with the failure `error`; only the first is kept.
  void fail(std::exception_ptr error);
  std::exception_ptr failure() const { return failure_; }

  // Runs until finish(), a failure, starvation or `max_time_ps`. Rethrows the failure; throws NoEnd with the list of
  // waits when the simulation ran dry or out of time before finish().
  void run(std::uint64_t max_time_ps = UINT64_MAX);

 private:
  void stop();

  SimulationOptions options_;
  EffectsQueue effects_;
  WaitBoard waits_;
  ProbeRegistry probes_;
  StatisticsRegistry statistics_;
  Arbiter arbiter_;
  CompletionQueue completions_;
  TransactionObserver* transactions_ = nullptr;
  std::map<unsigned, std::string> agent_names_;
  bool finished_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

}  // namespace tilevp
