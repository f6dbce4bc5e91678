#pragma once
// SIGINT and SIGTERM end a run at the next instant of simulated time, so that traces are closed and the report written.
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <systemc>
#include <thread>

#include "tilevp/base/simulation.hpp"
#include "tilevp/platform/streamed_output.hpp"

namespace tilevp::platform {

class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal);
  int signal() const { return signal_; }

 private:
  int signal_;
};

// While alive, SIGINT and SIGTERM make the simulation fail with Interrupted; a second signal ends the process at once.
// Keep it until `outputs` are closed: a signal that comes while they are changes nothing. `outputs` are flushed about
// once a second of host time, and `tick`, where given, is called about five times a second, both on the kernel thread
// while simulated time moves. Neither adds an event to the simulation, so no result depends on them. A pipe whose
// reader goes away, and a file beyond its limit, are errors of the output that writes to them.
class HostClock : public sc_core::sc_prim_channel {
 public:
  HostClock(Simulation& simulation, StreamedOutputs& outputs, std::function<void()> tick);
  ~HostClock() override;

 private:
  void update() override;
  void watch(int period_ms);
  void flush_in_time();

  Simulation& simulation_;
  StreamedOutputs& outputs_;
  std::function<void()> tick_;
  std::chrono::steady_clock::time_point flushed_;
  std::thread watcher_;
};

}  // namespace tilevp::platform
