#pragma once
// SIGINT and SIGTERM end a run at the next instant of simulated time, so that traces are closed and the report written.
#include <functional>
#include <memory>
#include <stdexcept>
#include <systemc>
#include <thread>

#include "tilevp/base/simulation.hpp"

namespace tilevp::platform {

class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

// While alive, SIGINT and SIGTERM make the simulation fail with Interrupted; a second signal ends the process at once.
// `tick`, where given, is called on the kernel thread about five times a second of host time while simulated time
// moves. Neither adds an event to the simulation, so no result depends on them.
class HostClock : public sc_core::sc_prim_channel {
 public:
  HostClock(Simulation& simulation, std::function<void()> tick);
  ~HostClock() override;

 private:
  void update() override;
  void watch();

  Simulation& simulation_;
  std::function<void()> tick_;
  std::thread watcher_;
};

}  // namespace tilevp::platform
