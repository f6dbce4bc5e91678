#pragma once
// Where the elements of a tile lie: row major, or in cells of 128 bytes as the CUBE reads them (PTO-ISA/pto-spec,
// asl/tile/model/shape/cube-cell.asl).
//
// rows x columns of a cell      b32    b16    b8     b4     used for
//   CUBE_M16                    16x2   16x4   16x8   16x16  A, C, D of up to 16 rows
//   CUBE_M32                    32x1   32x2   32x4   32x8   A, C, D of up to 32 rows
//   CUBE_N8                     4x8    8x8    16x8   32x8   B (rows are K, columns are N)
//
// Two orders of the elements inside an N8 cell are used here. The architectural one, which is what a programmer sees of
// a tile's bytes, keeps a column's elements together (k fastest). The stored one, in which the model holds payloads,
// keeps a row's eight elements together (n fastest): the transports between row-major memory and a tile then copy whole
// rows of a cell, and the matrix unit reads eight columns at a time. M cells are the same in both.
#include <cstdint>
#include <string_view>

namespace tilevp::cube {

enum class Layout : std::uint8_t { row_major, cube_m16, cube_m32, cube_n8 };

inline constexpr unsigned cell_bytes = 128;

constexpr std::string_view name(Layout layout) {
  switch (layout) {
    case Layout::row_major:
      return "ND";
    case Layout::cube_m16:
      return "CUBE_M16";
    case Layout::cube_m32:
      return "CUBE_M32";
    case Layout::cube_n8:
      return "CUBE_N8";
  }
  return "?";
}

struct CellShape {
  unsigned rows = 0;
  unsigned columns = 0;
  constexpr unsigned elements() const { return rows * columns; }
  bool operator==(const CellShape&) const = default;
};

// Of elements of 4, 8, 16 or 32 bits; {0, 0} where the layout has no cells of that width (64 bits, row major).
constexpr CellShape cell_shape(Layout layout, unsigned bits) {
  if (bits != 4 && bits != 8 && bits != 16 && bits != 32) return {};
  switch (layout) {
    case Layout::cube_m16:
      return {16, 64 / bits};
    case Layout::cube_m32:
      return {32, 32 / bits};
    case Layout::cube_n8:
      return {128 / bits, 8};
    case Layout::row_major:
      break;
  }
  return {};
}

constexpr std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

// Bytes that a tile of rows x columns elements occupies in cells. M layouts hold one block of 16 or 32 rows whatever
// `rows` is.
constexpr std::uint64_t cell_storage_bytes(Layout layout, unsigned bits, std::uint32_t rows, std::uint32_t columns) {
  const CellShape cell = cell_shape(layout, bits);
  if (cell.rows == 0) return 0;
  const std::uint64_t across = ceil_div(columns, cell.columns);
  return cell_bytes * across * (layout == Layout::cube_n8 ? ceil_div(rows, cell.rows) : 1);
}

// The order of the columns inside a row of an M16 cell of 4-bit elements: the two words of a row hold columns 0-3, 8-11
// and 4-7, 12-15.
constexpr std::uint32_t interleaved_4bit(std::uint32_t q) {
  if (q < 4 || q >= 12) return q;
  return q < 8 ? q + 4 : q - 4;
}

// Positions of element (row, column) in a tile, in elements; the byte is position * bits / 8, at 4 bits the low nibble
// where the position is even. `rows`: the tile's (N8 only: its cells run down K first).
constexpr std::uint64_t architectural_position(Layout layout, unsigned bits, std::uint32_t row, std::uint32_t column,
                                               std::uint32_t rows) {
  const CellShape cell = cell_shape(layout, bits);
  if (layout == Layout::cube_n8) {
    const std::uint64_t index = std::uint64_t{column / cell.columns} * ceil_div(rows, cell.rows) + row / cell.rows;
    return index * cell.elements() + std::uint64_t{column % cell.columns} * cell.rows + row % cell.rows;
  }
  const std::uint32_t q = column % cell.columns;
  const std::uint32_t place = layout == Layout::cube_m16 && bits == 4 ? interleaved_4bit(q) : q;
  return std::uint64_t{column / cell.columns} * cell.elements() + std::uint64_t{row} * cell.columns + place;
}

constexpr std::uint64_t stored_position(Layout layout, unsigned bits, std::uint32_t row, std::uint32_t column,
                                        std::uint32_t rows) {
  if (layout != Layout::cube_n8) return architectural_position(layout, bits, row, column, rows);
  const CellShape cell = cell_shape(layout, bits);
  const std::uint64_t index = std::uint64_t{column / cell.columns} * ceil_div(rows, cell.rows) + row / cell.rows;
  return index * cell.elements() + std::uint64_t{row % cell.rows} * cell.columns + column % cell.columns;
}

}  // namespace tilevp::cube
