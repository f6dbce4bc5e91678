#include "tilevp/memory/rules.hpp"

#include <array>

namespace tilevp::memory {
namespace {

constexpr char tlm[] = "IEEE 1666-2011, TLM-2.0 response status";
constexpr char platform[] = "TileVP: what only a platform can find";

constexpr std::array table{
    Rule{rule::undefined_read, "No byte is read that nobody wrote.", platform},
    Rule{rule::address_error, "An access lies within one region of the map (TLM_ADDRESS_ERROR_RESPONSE).", tlm},
    Rule{rule::command_error, "Registers are written and read as their access says (TLM_COMMAND_ERROR_RESPONSE).", tlm},
    Rule{rule::burst_error, "Registers are accessed whole and aligned (TLM_BURST_ERROR_RESPONSE).", tlm},
    Rule{rule::byte_enable_error, "The target serves the byte enables (TLM_BYTE_ENABLE_ERROR_RESPONSE).", tlm},
    Rule{rule::other_error, "The target serves the access (any other error response).", tlm},
};

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace tilevp::memory
