#include "tilevp/cube/transfer_operation.hpp"

#include <algorithm>
#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/element.hpp"

namespace tilevp::cube {
namespace {

// Repeats the element over the whole payload.
void fill(std::span<std::byte> payload, unsigned width, std::uint64_t element) {
  if (element == 0) {
    std::memset(payload.data(), 0, payload.size());
    return;
  }
  if (width == 4) element |= element << 4;
  const std::size_t bytes = std::max(1U, width / 8);
  for (std::size_t at = 0; at + bytes <= payload.size(); at += bytes) std::memcpy(payload.data() + at, &element, bytes);
}

// How a layout cuts a row of the tile: pieces of `columns` elements that lie together.
struct Pieces {
  unsigned columns = 0;
  unsigned bytes = 0;
  bool interleaved = false;  // CUBE_M16 at 4 bits: the two middle quarters of a piece change places
};

Pieces pieces_of(const TransferOperation& operation) {
  const unsigned width = bits(operation.type);
  if (operation.layout == Layout::row_major) {
    // Whole bytes of the row, in one piece.
    const std::uint32_t columns = width == 4 ? operation.columns / 2 * 2 : operation.columns;
    return {columns, static_cast<unsigned>(std::uint64_t{columns} * width / 8), false};
  }
  const CellShape cell = cell_shape(operation.layout, width);
  return {cell.columns, cell.columns * width / 8, operation.layout == Layout::cube_m16 && width == 4};
}

std::uint64_t position(const TransferOperation& operation, std::uint32_t row, std::uint32_t column) {
  if (operation.layout == Layout::row_major) return std::uint64_t{row} * operation.tile_columns + column;
  return stored_position(operation.layout, bits(operation.type), row, column, operation.tile_rows);
}

void copy_interleaved(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, 2);
  std::memcpy(to + 2, from + 4, 2);
  std::memcpy(to + 4, from + 2, 2);
  std::memcpy(to + 6, from + 6, 2);
}

// Calls piece(payload byte, row byte, bytes) for the whole pieces of every valid row and element(position in the
// payload, row byte, index in the row) for the elements after them.
template <class Piece, class Element>
void walk(const TransferOperation& operation, const Pieces& pieces, Piece&& piece, Element&& element) {
  const unsigned width = bits(operation.type);
  const std::uint32_t whole = pieces.columns == 0 ? 0 : operation.columns / pieces.columns;
  const std::uint32_t first_rest = whole * pieces.columns;
  for (std::uint32_t row = 0; row < operation.rows; ++row) {
    const std::uint64_t row_byte = row * operation.row_bytes();
    if (whole > 0) {
      // From one piece to the next of a row there is a fixed distance.
      const std::uint64_t at = position(operation, row, 0) * width / 8;
      const std::uint64_t distance =
          whole > 1 ? position(operation, row, pieces.columns) * width / 8 - at : std::uint64_t{0};
      for (std::uint32_t i = 0; i < whole; ++i)
        piece(at + i * distance, row_byte + std::uint64_t{i} * pieces.bytes, pieces.bytes);
    }
    for (std::uint32_t column = first_rest; column < operation.columns; ++column)
      element(position(operation, row, column), row_byte, column);
  }
}

void require_sizes(const TransferOperation& operation, std::size_t payload, std::size_t rows) {
  const std::uint64_t stored =
      (std::uint64_t{operation.tile_rows} * operation.tile_columns * bits(operation.type) + 7) / 8;
  if (payload != stored || rows != operation.rows * operation.row_bytes())
    throw Defect("tile transfer: buffers of " + std::to_string(payload) + " and " + std::to_string(rows) +
                 " bytes for a tile of " + std::to_string(stored) + " and rows of " +
                 std::to_string(operation.rows * operation.row_bytes()));
}

}  // namespace

void rows_to_tile(const TransferOperation& operation, std::span<const std::byte> rows, std::span<std::byte> payload) {
  require_sizes(operation, payload.size(), rows.size());
  const unsigned width = bits(operation.type);
  if (operation.rows < operation.tile_rows || operation.columns < operation.tile_columns)
    fill(payload, width, pad_element(operation.type, operation.pad));
  const Pieces pieces = pieces_of(operation);
  walk(
      operation, pieces,
      [&](std::uint64_t at, std::uint64_t row_byte, unsigned bytes) {
        if (pieces.interleaved)
          copy_interleaved(payload.data() + at, rows.data() + row_byte);
        else
          std::memcpy(payload.data() + at, rows.data() + row_byte, bytes);
      },
      [&](std::uint64_t at, std::uint64_t row_byte, std::uint32_t column) {
        store_code(payload.data(), width, at, load_code(rows.data() + row_byte, width, column));
      });
}

void tile_to_rows(const TransferOperation& operation, std::span<const std::byte> payload, std::span<std::byte> rows) {
  require_sizes(operation, payload.size(), rows.size());
  const unsigned width = bits(operation.type);
  const Pieces pieces = pieces_of(operation);
  walk(
      operation, pieces,
      [&](std::uint64_t at, std::uint64_t row_byte, unsigned bytes) {
        if (pieces.interleaved)
          copy_interleaved(rows.data() + row_byte, payload.data() + at);
        else
          std::memcpy(rows.data() + row_byte, payload.data() + at, bytes);
      },
      [&](std::uint64_t at, std::uint64_t row_byte, std::uint32_t column) {
        store_code(rows.data() + row_byte, width, column, load_code(payload.data(), width, at));
      });
}

std::uint64_t pad_element(DataType type, Pad pad) {
  if (pad != Pad::max && pad != Pad::min) return 0;
  const unsigned width = bits(type);
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  if (numeric_class(type) == NumericClass::signed_integer) return pad == Pad::max ? sign - 1 : sign;
  if (numeric_class(type) == NumericClass::unsigned_integer) return pad == Pad::max ? sign + (sign - 1) : 0;
  const auto signed_pair = [pad](std::uint64_t largest, std::uint64_t sign_bit) {
    return pad == Pad::max ? largest : largest | sign_bit;
  };
  switch (type) {
    case DataType::fp64:
      return signed_pair(0x7ff0'0000'0000'0000, sign);
    case DataType::fp32:
    case DataType::tf32:
    case DataType::hf32:
      return signed_pair(0x7f80'0000, sign);
    case DataType::fp16:
      return signed_pair(0x7c00, sign);
    case DataType::bf16:
      return signed_pair(0x7f80, sign);
    case DataType::hif8:
      return signed_pair(0x6f, sign);
    case DataType::e4m3:
      return signed_pair(0x7e, sign);  // 448: no infinity
    case DataType::e5m2:
      return signed_pair(0x7c, sign);
    case DataType::e3m2:
    case DataType::e2m3:
      return signed_pair(0x1f, 0x20);  // 6 bits
    case DataType::e8m0:
      return pad == Pad::max ? 0xfe : 0x00;  // 2^127, 2^-127
    default:
      return signed_pair(0x7, sign);  // the 4-bit floats
  }
}

}  // namespace tilevp::cube
