#include "tilevp/cube/m_rows.hpp"

#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/element.hpp"

namespace tilevp::cube {
namespace {

struct Pieces {
  std::size_t bytes;    // of a row in a cell
  std::uint32_t cells;  // that hold `columns`
  bool interleaved;     // 4-bit codes of M16: 0-3, 8-11, 4-7, 12-15
};

Pieces pieces_of(Layout layout, unsigned bits, std::uint32_t columns, std::size_t payload_bytes) {
  const std::size_t bytes = layout == Layout::cube_m16 ? 8 : 4;
  const std::uint32_t cells = ceil_div(columns, cell_shape(layout, bits).columns);
  if (payload_bytes < std::size_t{cells} * cell_bytes)
    throw Defect("tile of " + std::to_string(payload_bytes) + " bytes read or written as " + std::to_string(cells) +
                 " cells");
  return {bytes, cells, layout == Layout::cube_m16 && bits == 4};
}

// Its own inverse.
void swap_middle(std::byte* piece) {
  std::byte middle[4];
  std::memcpy(middle, piece + 2, 4);
  std::memcpy(piece + 2, middle + 2, 2);
  std::memcpy(piece + 4, middle, 2);
}

template <std::size_t bytes>
void gather(const std::byte* from, std::uint32_t cells, std::byte* out) {
  for (std::size_t cell = 0; cell < cells; ++cell) std::memcpy(out + cell * bytes, from + cell * cell_bytes, bytes);
}

}  // namespace

std::size_t gathered_bytes(Layout layout, unsigned bits, std::uint32_t columns) {
  return std::size_t{ceil_div(columns, cell_shape(layout, bits).columns)} * (layout == Layout::cube_m16 ? 8 : 4);
}

void gather_row(Layout layout, unsigned bits, std::span<const std::byte> payload, std::uint32_t row,
                std::uint32_t columns, std::byte* out) {
  const Pieces pieces = pieces_of(layout, bits, columns, payload.size());
  const std::byte* from = payload.data() + row * pieces.bytes;
  if (pieces.bytes == 8)
    gather<8>(from, pieces.cells, out);
  else
    gather<4>(from, pieces.cells, out);
  if (pieces.interleaved)
    for (std::size_t cell = 0; cell < pieces.cells; ++cell) swap_middle(out + cell * 8);
}

void scatter_row(Layout layout, unsigned bits, std::span<std::byte> payload, std::uint32_t row, std::uint32_t columns,
                 const std::byte* codes) {
  const Pieces pieces = pieces_of(layout, bits, columns, payload.size());
  const std::uint32_t cell_columns = cell_shape(layout, bits).columns;
  const std::uint32_t whole = columns / cell_columns;
  std::byte* to = payload.data() + row * pieces.bytes;
  for (std::size_t cell = 0; cell < whole; ++cell) {
    std::memcpy(to + cell * cell_bytes, codes + cell * pieces.bytes, pieces.bytes);
    if (pieces.interleaved) swap_middle(to + cell * cell_bytes);
  }
  for (std::uint32_t column = whole * cell_columns; column < columns; ++column)
    store_code(payload.data(), bits, stored_position(layout, bits, row, column, 0), load_code(codes, bits, column));
}

}  // namespace tilevp::cube
