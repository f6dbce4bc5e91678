#include "tilevp/platform/wiring.hpp"

#include <algorithm>
#include <string>

#include "tilevp/base/errors.hpp"

namespace tilevp::platform {

memory::ProtocolChecker& Wiring::checker_of(const char* initiator) {
  std::string name = "check_" + std::string(initiator);
  std::ranges::replace(name, '.', '_');
  return *checkers_.emplace_back(
      std::make_unique<memory::ProtocolChecker>(name.c_str(), [this](const memory::ProtocolBreach& breach) {
        Fault fault(breach.rule, breach.text);
        fault.module = breach.text.substr(0, breach.text.find(':'));
        fault.time_ps = now_ps();
        simulation_.fail(std::make_exception_ptr(fault));
      }));
}

}  // namespace tilevp::platform
