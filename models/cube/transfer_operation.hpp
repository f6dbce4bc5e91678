#pragma once
// What a TLOAD or TSTORE bundle does once its preflight has passed: valid elements of a tile to or from rows in memory,
// raw bits (PTO-ISA/pto-spec, asl/block/model/dispatch/tlsu-layout-conversion.asl, BSTART.TLOAD, BSTART.TSTORE).
//
// Memory holds element (r, c) at base + r * row_stride_bytes + c * bits / 8, at 4 bits the low nibble of the byte where
// c is even. Every selected PE moves the same rows. Row-major tiles (layout code 0) come and go the same way: bias,
// parameter vectors, reduction results.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilevp/cube/isa.hpp"
#include "tilevp/cube/layout.hpp"
#include "tilevp/cube/tile_registers.hpp"

namespace tilevp::cube {

enum class Pad : std::uint8_t { zero = 0, max = 1, min = 2, null = 3 };

struct TransferOperation {
  bool load = true;
  TileSlot tile = 0;  // TLOAD: allocated, not yet published
  PeMask mask = 0;
  DataType type = DataType::fp32;
  Layout layout = Layout::row_major;
  std::uint32_t rows = 0;  // elements moved
  std::uint32_t columns = 0;
  std::uint32_t tile_rows = 0;  // of the storage
  std::uint32_t tile_columns = 0;
  std::uint64_t base = 0;
  std::uint64_t row_stride_bytes = 0;  // modulo 2^64: a negative stride walks down
  Pad pad = Pad::null;

  // Bytes of one row in memory that are touched.
  std::uint64_t row_bytes() const { return (std::uint64_t{columns} * bits(type) + 7) / 8; }
};

// Rows of memory as they lie on the host: row r from `first` + r * `stride` bytes.
template <class Byte>
struct RowsView {
  Byte* first = nullptr;
  std::int64_t stride = 0;
  Byte* row(std::uint32_t index) const { return first + static_cast<std::int64_t>(index) * stride; }
};
// Rows one after the other, as they were read.
template <class Byte>
RowsView<Byte> dense_rows(const TransferOperation& operation, std::span<Byte> rows) {
  return {rows.data(), static_cast<std::int64_t>(operation.row_bytes())};
}

// TLOAD: writes the whole payload of one PE in stored order, elements outside the valid ones padded. Pad::null pads
// with zero bits: what is there is undefined, and the same on every run.
void rows_to_tile(const TransferOperation& operation, const RowsView<const std::byte>& rows,
                  std::span<std::byte> payload);
// TSTORE: the inverse, for the valid elements. At 4 bits with an odd number of columns the high nibble of a row's last
// byte keeps what `rows` holds: read it from memory first.
void tile_to_rows(const TransferOperation& operation, std::span<const std::byte> payload,
                  const RowsView<std::byte>& rows);

// The padding element of a type, in its low bits. Max and min are the infinities where the type has them, else the
// largest and smallest number (hw-native-sys/pto-isa, docs/isa/TFILLPAD.md).
std::uint64_t pad_element(DataType type, Pad pad);

}  // namespace tilevp::cube
