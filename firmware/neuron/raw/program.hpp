#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron::raw {

// neuron/raw: exactly the records and descriptors of a file.
std::unique_ptr<runtime::Program> make_program();

}  // namespace tilevp::neuron::raw
