#pragma once
// How memory-mapped sockets of a platform are bound to each other.
#include <memory>
#include <vector>

#include "tilevp/base/simulation.hpp"
#include "tilevp/memory/protocol_checker.hpp"

namespace tilevp::platform {

class Wiring {
 public:
  // `watched`: with a checker of the base protocol on every connection; a breach ends the run as a fault.
  Wiring(Simulation& simulation, bool watched) : simulation_(simulation), watched_(watched) {}

  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target) {
    if (!watched_) {
      initiator.bind(target);
      return;
    }
    memory::ProtocolChecker& checker = checker_of(initiator.name());
    initiator.bind(checker.in);
    checker.out.bind(target);
  }

 private:
  memory::ProtocolChecker& checker_of(const char* initiator);

  Simulation& simulation_;
  bool watched_;
  std::vector<std::unique_ptr<memory::ProtocolChecker>> checkers_;
};

}  // namespace tilevp::platform
