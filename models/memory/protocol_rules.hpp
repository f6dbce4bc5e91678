#pragma once
// The rules of the TLM-2.0 base protocol that ProtocolChecker watches.
#include "tilevp/memory/rules.hpp"

// In the order of the table in protocol_rules.cpp; ids are unique.
namespace tilevp::memory::rule {
inline constexpr char phase_path[] = "protocol.phase_path";
inline constexpr char phase_order[] = "protocol.phase_order";
inline constexpr char request_exclusion[] = "protocol.request_exclusion";
inline constexpr char response_exclusion[] = "protocol.response_exclusion";
inline constexpr char initial_attributes[] = "protocol.initial_attributes";
inline constexpr char initial_status[] = "protocol.initial_status";
inline constexpr char response_status[] = "protocol.response_status";
inline constexpr char attributes[] = "protocol.attributes";
inline constexpr char memory_manager[] = "protocol.memory_manager";
inline constexpr char lifetime[] = "protocol.lifetime";
inline constexpr char timing[] = "protocol.timing";
inline constexpr char mixing[] = "protocol.mixing";
inline constexpr char blocking_context[] = "protocol.blocking_context";
inline constexpr char recursion[] = "protocol.recursion";
inline constexpr char nonblocking_wait[] = "protocol.nonblocking_wait";
inline constexpr char dmi[] = "protocol.dmi";
inline constexpr char debug[] = "protocol.debug";
}  // namespace tilevp::memory::rule
