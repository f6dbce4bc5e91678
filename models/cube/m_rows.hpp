#pragma once
// Rows of a tile in CUBE_M16 or CUBE_M32, gathered into consecutive codes and back. A cell holds 64 (M16) or 32 (M32)
// bits of each of its rows.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilevp/cube/layout.hpp"

namespace tilevp::cube {

// Bytes that `columns` codes take, in whole pieces of a cell's row: what gather_row writes.
std::size_t gathered_bytes(Layout layout, unsigned bits, std::uint32_t columns);

// Codes (row, 0) ... (row, columns - 1) into `out`, little endian, one after the other; after them what the last cell
// holds beyond. Defect where the payload is too short.
void gather_row(Layout layout, unsigned bits, std::span<const std::byte> payload, std::uint32_t row,
                std::uint32_t columns, std::byte* out);

// The reverse. Elements beyond `columns` keep what they hold. `codes` has gathered_bytes().
void scatter_row(Layout layout, unsigned bits, std::span<std::byte> payload, std::uint32_t row, std::uint32_t columns,
                 const std::byte* codes);

}  // namespace tilevp::cube
