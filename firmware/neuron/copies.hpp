#pragma once
// Copies as descriptors: dealt to the core's DMA engines by partitions.
#include <vector>

#include "tilevp/dma/descriptor.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {

// Appends the descriptors of one copy to the ring of each engine, the same number to each; the last one signals
// `semaphore`, and an engine without data gets an empty one for it. A part of P partitions gives an engine at most
// ceil(P / engines) of them; the next part goes on with the next engine. Returns that number.
std::uint32_t append_copy(const Machine& machine, const std::vector<CopyPart>& parts, std::uint8_t semaphore,
                          std::vector<std::vector<dma::Descriptor>>& rings);

}  // namespace tilevp::neuron
