#pragma once
// Buffers of one size side by side in SBUF: what a kernel fills and empties in turn.
#include <string>
#include <vector>

#include "tilevp/neuron/allocator.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {

// `count` tensors of `elements` a partition, named "name0", "name1", ... Throws as Allocator::allocate does.
std::vector<Tensor> sbuf_slots(Kernel& kernel, Allocator& sbuf, const std::string& name, std::int64_t count,
                               numeric::DType dtype, std::int64_t elements);

}  // namespace tilevp::neuron
