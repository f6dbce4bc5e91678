#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron::conv2d {

// neuron/conv2d: a dense 2-D convolution on one NeuronCore.
std::unique_ptr<runtime::Program> make_program();

}  // namespace tilevp::neuron::conv2d
