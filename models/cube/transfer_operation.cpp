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

// How a layout cuts a row of the tile: pieces of `columns` elements that lie together. The first pieces of two rows lie
// `row_pitch` bytes apart, two pieces of a row `distance`.
struct Pieces {
  unsigned columns = 0;
  unsigned bytes = 0;
  std::uint64_t row_pitch = 0;
  std::uint64_t distance = 0;
  bool interleaved = false;  // CUBE_M16 at 4 bits: the two middle quarters of a piece change places
};

Pieces pieces_of(const TransferOperation& operation) {
  const unsigned width = bits(operation.type);
  if (operation.layout == Layout::row_major) {
    // Whole bytes of the row, in one piece.
    const std::uint32_t columns = width == 4 ? operation.columns / 2 * 2 : operation.columns;
    return {columns, static_cast<unsigned>(std::uint64_t{columns} * width / 8),
            std::uint64_t{operation.tile_columns} * width / 8, 0, false};
  }
  const CellShape cell = cell_shape(operation.layout, width);
  const unsigned bytes = cell.columns * width / 8;
  const std::uint64_t down = operation.layout == Layout::cube_n8 ? ceil_div(operation.tile_rows, cell.rows) : 1;
  return {cell.columns, bytes, bytes, cell_bytes * down, operation.layout == Layout::cube_m16 && width == 4};
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

// `count` pieces of a row.
template <std::size_t bytes>
void copy_pieces(std::byte* to, std::uint64_t to_step, const std::byte* from, std::uint64_t from_step,
                 std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, bytes);
}

void copy_pieces(const Pieces& pieces, std::byte* to, std::uint64_t to_step, const std::byte* from,
                 std::uint64_t from_step, std::uint32_t count) {
  if (pieces.interleaved) {
    for (std::uint32_t i = 0; i < count; ++i) copy_interleaved(to + i * to_step, from + i * from_step);
    return;
  }
  switch (pieces.bytes) {
    case 4:
      return copy_pieces<4>(to, to_step, from, from_step, count);
    case 8:
      return copy_pieces<8>(to, to_step, from, from_step, count);
    case 16:
      return copy_pieces<16>(to, to_step, from, from_step, count);
    case 32:
      return copy_pieces<32>(to, to_step, from, from_step, count);
    default:  // a whole row
      for (std::uint32_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, pieces.bytes);
  }
}

// Rows of a tile lie in pages of their own, which no prefetcher foresees. Asks the near caches for a row that comes
// later, and for what lies behind this one: mostly the next tile's. Inlined, for gcc 12 drops calls of a function that
// does nothing else.
[[gnu::always_inline]] inline void prefetch(const RowsView<const std::byte>& rows, std::uint32_t row, std::uint32_t end,
                                            std::uint64_t bytes) {
  constexpr std::uint32_t ahead = 16;
  constexpr std::uint64_t line_bytes = 64, most = 512;
  constexpr int into_level_2 = 2;
  for (std::uint64_t at = 0; at < std::min(bytes, most); at += line_bytes) {
    if (row + ahead < end) __builtin_prefetch(rows.row(row + ahead) + at, 0, into_level_2);
    __builtin_prefetch(rows.row(row) + bytes + at, 0, into_level_2);
  }
}

// Calls element(position in the payload, row, index in the row) for the valid elements behind the whole pieces.
template <class Element>
void for_each_rest(const TransferOperation& operation, std::uint32_t first, Element&& element) {
  if (first == operation.columns) return;
  for (std::uint32_t row = 0; row < operation.rows; ++row)
    for (std::uint32_t column = first; column < operation.columns; ++column)
      element(position(operation, row, column), row, column);
}

void require_size(const TransferOperation& operation, std::size_t payload) {
  const std::uint64_t stored =
      (std::uint64_t{operation.tile_rows} * operation.tile_columns * bits(operation.type) + 7) / 8;
  if (payload != stored)
    throw Defect("tile transfer: a buffer of " + std::to_string(payload) + " bytes for a tile of " +
                 std::to_string(stored));
}

}  // namespace

void rows_to_tile(const TransferOperation& operation, const RowsView<const std::byte>& rows,
                  std::span<std::byte> payload) {
  require_size(operation, payload.size());
  const unsigned width = bits(operation.type);
  if (operation.rows < operation.tile_rows || operation.columns < operation.tile_columns)
    fill(payload, width, pad_element(operation.type, operation.pad));
  const Pieces pieces = pieces_of(operation);
  const std::uint32_t whole = pieces.columns == 0 ? 0 : operation.columns / pieces.columns;
  const std::uint64_t row_bytes = operation.row_bytes();
  for (std::uint32_t row = 0; row < operation.rows && whole > 0; ++row) {
    prefetch(rows, row, operation.rows, row_bytes);
    copy_pieces(pieces, payload.data() + row * pieces.row_pitch, pieces.distance, rows.row(row), pieces.bytes, whole);
  }
  for_each_rest(operation, whole * pieces.columns, [&](std::uint64_t at, std::uint32_t row, std::uint32_t column) {
    store_code(payload.data(), width, at, load_code(rows.row(row), width, column));
  });
}

void tile_to_rows(const TransferOperation& operation, std::span<const std::byte> payload,
                  const RowsView<std::byte>& rows) {
  require_size(operation, payload.size());
  const unsigned width = bits(operation.type);
  const Pieces pieces = pieces_of(operation);
  const std::uint32_t whole = pieces.columns == 0 ? 0 : operation.columns / pieces.columns;
  for (std::uint32_t row = 0; row < operation.rows && whole > 0; ++row)
    copy_pieces(pieces, rows.row(row), pieces.bytes, payload.data() + row * pieces.row_pitch, pieces.distance, whole);
  for_each_rest(operation, whole * pieces.columns, [&](std::uint64_t at, std::uint32_t row, std::uint32_t column) {
    store_code(rows.row(row), width, column, load_code(payload.data(), width, at));
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
