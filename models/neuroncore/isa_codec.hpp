#pragma once
// The decoder's core, for whoever decodes millions of records: it makes no strings.
#include <cstddef>
#include <span>

#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

// Fills `instruction` from a record. Returns null, or what is wrong with the record (a literal); `instruction` is then
// of no use.
const char* try_decode(std::span<const std::byte, instruction_bytes> record, Instruction& instruction);

}  // namespace tilevp::neuroncore
