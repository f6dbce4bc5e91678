#pragma once
// What a machine holds where a run stopped at `--break`, as text.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilevp/base/break_point.hpp"
#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/memory/memory.hpp"
#include "tilevp/neuroncore/neuroncore.hpp"

namespace tilevp::platform {

struct NeuronParts {
  neuroncore::NeuronCore& core;
  const std::vector<std::unique_ptr<dma::DmaEngine>>& engines;
  const memory::Memory* hbm;  // null: a plug-in's, which does not say what was written
  std::uint64_t hbm_base;
  std::uint64_t hbm_bytes;
  std::uint64_t core_base;
  // A debug read; false where not all bytes lie in memory.
  std::function<bool(std::uint64_t address, std::span<std::byte> bytes)> read;
};

// The instruction or descriptor that the run stopped before, in one line.
std::string neuron_stopped_text(const NeuronParts& parts, const BreakReached& where);

// Its operands (shape, type, the first rows; '?' for a value whose bytes nobody wrote), the sequencers with what they
// have in flight, the queues that were ever released something, the semaphores that are not 0.
std::string neuron_state_text(const NeuronParts& parts, const BreakReached& where);

}  // namespace tilevp::platform
