#pragma once
// Every limit and placement rule of an instruction, checked before it issues. What depends on the state of memories or
// semaphores (undefined reads, accumulation groups, overflow) is checked where the state is.
#include <cstdint>

#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

inline constexpr unsigned dma_queue_count = 16;
inline constexpr unsigned max_free_size_sbuf = 65'536;
inline constexpr unsigned max_free_size_psum = 4'096;

// What the checks need to know of the machine.
struct LegalityLimits {
  std::uint32_t generation = 2;
  std::uint32_t sbuf_usable_bytes = 0;
};

// Throws Fault with the rule's id; the message names the instruction (`nc_matmul #412`), the operand and both numbers.
// `index` is the instruction's position in its stream.
void check(const Instruction& instruction, Engine engine, const LegalityLimits& limits, std::uint64_t index);

}  // namespace tilevp::neuroncore
