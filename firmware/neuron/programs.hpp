#pragma once
#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron {

// Adds the programs of this machine: neuron/conv2d, neuron/matmul, dma/bench.
void register_programs(runtime::ProgramRegistry& registry);

}  // namespace tilevp::neuron
