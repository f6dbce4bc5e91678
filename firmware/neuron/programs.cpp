#include "tilevp/neuron/programs.hpp"

#include "tilevp/neuron/bench/program.hpp"
#include "tilevp/neuron/conv2d/program.hpp"
#include "tilevp/neuron/matmul/program.hpp"
#include "tilevp/neuron/raw/program.hpp"

namespace tilevp::neuron {

void register_programs(runtime::ProgramRegistry& registry) {
  registry.add("neuron/conv2d", conv2d::make_program);
  registry.add("neuron/matmul", matmul::make_program);
  registry.add("neuron/raw", raw::make_program);
  registry.add("dma/bench", bench::make_program);
}

}  // namespace tilevp::neuron
