#pragma once
// The hazard scheduler: turns a kernel's trace into the instruction streams of the five engines and the descriptor
// rings of the DMA queues, with the semaphores that keep the trace's order wherever two operations touch the same
// bytes.
//
// Operations of one engine keep their order by themselves (the engine's interlock); between engines and DMA queues
// nothing does. Each engine has one semaphore, which the operations that somebody waits for raise by 1; each DMA queue
// has one, which every DMA engine raises by 1 at the end of a copy. DMA engines progress independently, so a count
// would not tell which of two copies ended: a queue has at most one copy outstanding. A wait whose completion is known
// already, directly or through what somebody waited for before (vector clocks), is not emitted.
//
// A barrier is three steps in the stream of every engine that the kernel uses: drain; once the copies have ended that
// this engine answers for, add 1 to the barrier's semaphore; wait until all engines have added theirs. A record waits
// before it updates, so the last two are records of their own.
#include <array>
#include <cstdint>
#include <vector>

#include "tilevp/dma/descriptor.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/neuron/hazards.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {

// "The operation must not start before operation `ordinal` of `agent` has completed."
struct Dependence {
  Agent agent = 0;
  std::uint32_t ordinal = 0;
};

struct Schedule {
  std::array<std::vector<neuroncore::Instruction>, neuroncore::engines>
      streams;                                                   // each ends with a halt; empty: unused
  std::vector<std::vector<std::vector<dma::Descriptor>>> rings;  // [queue][DMA engine]
  std::array<std::vector<std::uint8_t>, queue_classes> queues;   // of each class
  std::uint64_t waits = 0;
  std::uint64_t barriers = 0;

  std::uint64_t instructions() const;
};

// The semaphore of an agent.
inline std::uint8_t semaphore_of(Agent agent) { return agent; }
// That of the barriers, behind the agents'.
inline constexpr std::uint8_t barrier_semaphore = neuroncore::engines + dma::registers::queues;

// UserError where the machine has too few DMA queues for the classes.
Schedule schedule(const Kernel& kernel);

}  // namespace tilevp::neuron
