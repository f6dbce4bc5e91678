#pragma once
// What a thread that acts on shared things needs: a port number, local time, waiting with a reason.
#include <string>

#include "tilevp/base/simulation.hpp"

namespace tilevp {

class Agent {
 public:
  // `port` is the agent's number in every same-instant decision; unique in a platform.
  Agent(Simulation& simulation, std::string name, unsigned port)
      : simulation_(simulation), name_(std::move(name)), port_(port) {
    simulation_.name_agent(port_, name_);
  }

  Simulation& simulation() const { return simulation_; }
  const std::string& name() const { return name_; }
  unsigned port() const { return port_; }

  // The id of the agent's next operation (transaction_observer.hpp). Only on the agent's own thread, whose order of
  // operations nothing else can change.
  std::uint64_t next_id() { return id_of(port_, ++operations_); }

  // Local time: at or after the simulated time.
  std::uint64_t local_ps() const;
  // Moves local time forward to `time_ps` (never back); waits only when it is more than the quantum ahead.
  void advance_to(std::uint64_t time_ps);
  // Waits until simulated time has caught up with local time. Call it before touching anything shared (R1).
  void sync();
  // Waits (in simulated time) until `time_ps`; no-op when that has passed.
  void wait_until(std::uint64_t time_ps) {
    advance_to(time_ps);
    sync();
  }
  // Synchronises, then waits for `event` while the wait board shows `describe()`. Capture one pointer in `describe`.
  void wait_for(const sc_core::sc_event& event, const std::function<WaitingRecord()>& describe);

 private:
  Simulation& simulation_;
  std::string name_;
  unsigned port_;
  std::uint64_t local_ps_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace tilevp
