#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron::matmul {

// neuron/matmul: a matrix product on one NeuronCore.
std::unique_ptr<runtime::Program> make_program();

}  // namespace tilevp::neuron::matmul
