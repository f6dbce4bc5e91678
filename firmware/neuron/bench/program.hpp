#pragma once
#include <memory>

#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron::bench {

// dma/bench: what the DMA engines reach for runs of so many bytes, beside the published curve.
std::unique_ptr<runtime::Program> make_program();

}  // namespace tilevp::neuron::bench
