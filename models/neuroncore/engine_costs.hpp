#pragma once
// Cycles an instruction occupies a vector, scalar or gpsimd engine.
#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/neuroncore/parameters.hpp"

namespace tilevp::neuroncore {

// N = elements a partition; every cost is at least min_interval_cycles (MIN_II, about 64):
//   tensor_copy, tensor_scalar, activation    N
//   tensor_tensor   N with one input in PSUM, or all bf16 in SBUF with unit strides and add, subtract or multiply; else
//   2N memset          N/2 for zero in bf16 or fp16, else N
// NC-v2: an operand whose innermost stride exceeds 16 bytes halves the rate.
// Source: AWS Neuron documentation, nki.isa of release 2.26 (the last with formulas) and the Trainium/Inferentia2
// architecture guide. Not modelled: the faster modes that NC-v3 and v4 choose for 16-bit operands.
std::uint64_t cost_cycles(const Instruction& instruction, const EngineParameters& parameters, std::uint32_t generation);

}  // namespace tilevp::neuroncore
