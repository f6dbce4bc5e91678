#pragma once
// How memory-mapped sockets of a platform are bound to each other.

namespace tilevp::platform {

class Wiring {
 public:
  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target) {
    initiator.bind(target);
  }
};

}  // namespace tilevp::platform
