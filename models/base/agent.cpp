#include "tilevp/base/agent.hpp"

#include <algorithm>

namespace tilevp {

std::uint64_t Agent::local_ps() const { return std::max(local_ps_, now_ps()); }

void Agent::advance_to(std::uint64_t time_ps) {
  local_ps_ = std::max(local_ps(), time_ps);
  if (local_ps_ - now_ps() > simulation_.options().quantum_ps) sync();
}

void Agent::sync() {
  const std::uint64_t now = now_ps();
  if (local_ps_ > now) sc_core::wait(from_ps(local_ps_ - now));
}

void Agent::wait_for(const sc_core::sc_event& event, const std::function<WaitingRecord()>& describe) {
  sync();
  const WaitBoard::Guard guard(simulation_.waits(), describe);
  sc_core::wait(event);
}

}  // namespace tilevp
