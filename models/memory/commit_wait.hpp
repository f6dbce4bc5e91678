#pragma once
// Runs an action when an access ends, in the completion order of the platform, while the calling thread waits for it.
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "tilevp/base/simulation.hpp"

namespace tilevp::memory {

class CommitWait {
 public:
  explicit CommitWait(Simulation& simulation) : simulation_(simulation) {}

  // Calls `action` at `end_ps` as an operation of agent `rank`; returns after that. An exception of `action` is thrown
  // here, in the thread that waited. Bytes of effects appended before are in place when `action` runs.
  void run_at(std::uint64_t end_ps, unsigned rank, const std::function<void()>& action);

 private:
  Simulation& simulation_;
  // Events are costly to make; a caller borrows one.
  std::vector<std::unique_ptr<sc_core::sc_event>> idle_events_;
};

}  // namespace tilevp::memory
