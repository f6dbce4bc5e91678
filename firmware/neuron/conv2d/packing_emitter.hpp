#pragma once
// Column packing: tiles of the output in up to 8 PSUM banks at once.
#include "tilevp/neuron/conv2d/emitter.hpp"

namespace tilevp::neuron::conv2d {

// As emit(), of a plan of Variant::packed.
void emit_packed(Kernel& kernel, const Plan& plan, const Addresses& addresses);

}  // namespace tilevp::neuron::conv2d
