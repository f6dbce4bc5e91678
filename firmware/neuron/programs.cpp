#include "tilevp/neuron/programs.hpp"

#include "tilevp/neuron/conv2d/program.hpp"

namespace tilevp::neuron {

void register_programs(runtime::ProgramRegistry& registry) { registry.add("neuron/conv2d", conv2d::make_program); }

}  // namespace tilevp::neuron
