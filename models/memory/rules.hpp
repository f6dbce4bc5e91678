#pragma once
// The rules of memory-mapped accesses: what an initiator is told by error responses and by definedness.
#include <span>

#include "tilevp/base/rules.hpp"

namespace tilevp::memory {

// In the order of the table in rules.cpp; ids are unique.
std::span<const Rule> rules();
// Those of the TLM-2.0 base protocol, which a ProtocolChecker watches; their ids are in protocol_rules.hpp.
std::span<const Rule> protocol_rules();

namespace rule {
inline constexpr char undefined_read[] = "memory.undefined_read";
inline constexpr char address_error[] = "memory.address_error";
inline constexpr char command_error[] = "memory.command_error";
inline constexpr char burst_error[] = "memory.burst_error";
inline constexpr char byte_enable_error[] = "memory.byte_enable_error";
inline constexpr char other_error[] = "memory.error";
}  // namespace rule

}  // namespace tilevp::memory
