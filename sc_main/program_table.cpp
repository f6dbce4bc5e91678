// Which programs this build has.
#include "tilevp/neuron/programs.hpp"
#include "tilevp/sc_main/programs.hpp"

namespace tilevp::command {

const runtime::ProgramRegistry& programs() {
  static const runtime::ProgramRegistry registry = [] {
    runtime::ProgramRegistry all;
    neuron::register_programs(all);
    return all;
  }();
  return registry;
}

}  // namespace tilevp::command
