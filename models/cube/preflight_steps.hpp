#pragma once
// What the closes of matrix bundles and of transfers share. Not for other folders.
#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tilevp/cube/preflight.hpp"

namespace tilevp::cube {

inline BundleFault fault_at(unsigned step, FaultCode code, const char* rule, std::string text) {
  return {code, rule, std::move(text), step};
}

// "T#1": as a source code of B.IOT is written.
std::string selector_name(std::uint8_t selector);
// "3 x 17".
std::string shape_text(std::uint32_t rows, std::uint32_t columns);

// What a hand or the tile memory of a PE, asked for `bytes`, has no room for.
std::string full_hand_text(Hand hand);
std::string capacity_text(std::uint64_t bytes, const TileRegisters& tiles);

// The source codes of the effective B.IOT, in encoded order.
using Selectors = boost::container::static_vector<std::uint8_t, 2 * max_tile_bindings>;
Selectors source_selectors(const Header& header);

// Of these, the first whose tile exists and has no committed producer yet.
std::optional<TileSlot> in_flight_source(const TileRegisters& tiles, const Selectors& selectors);

// Whether the elements of the upper left rows x columns are all defined.
bool defined_region(const TileRegisters& tiles, TileSlot slot, std::uint32_t rows, std::uint32_t columns);

// A bundle all of whose bindings have mask zero.
inline bool no_participation(const Header& header) {
  return header.zero_participation && header.tiles.empty() && header.shared.empty();
}

// `would_wait`: a fault is not raised, so what costs most bundles a wait (no room for their results) needs no text.
Verdict close_matrix(const Header& header, const Gprs& gpr, const Parameters& parameters, TileRegisters& tiles,
                     bool would_wait);
Verdict close_transfer(const Header& header, const Gprs& gpr, TileRegisters& tiles, bool would_wait);

}  // namespace tilevp::cube
