// Which programs this build has.
#include "tilevp/neuron/programs.hpp"
#include "tilevp/pto/programs.hpp"
#include "tilevp/sc_main/programs.hpp"

namespace tilevp::command {

runtime::ProgramRegistry builtin_programs() {
  runtime::ProgramRegistry all;
  neuron::register_programs(all);
  pto::register_programs(all);
  return all;
}

}  // namespace tilevp::command
