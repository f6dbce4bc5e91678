#pragma once
// Tiles for the numerics tests: payloads in the stored order, made of logical matrices of codes and read back.
#include <cstdint>
#include <random>
#include <vector>

#include "tilevp/cube/element.hpp"
#include "tilevp/cube/layout.hpp"
#include "tilevp/cube/matrix_unit.hpp"

namespace tilevp::cube::testing {

struct Codes {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint64_t> at{};  // row by row
  std::uint64_t operator()(std::uint32_t row, std::uint32_t column) const { return at[row * columns + column]; }
};

inline Codes row_of(std::vector<std::uint64_t> values) {
  const auto count = static_cast<std::uint32_t>(values.size());
  return {1, count, std::move(values)};
}

// A tile whose elements outside rows x columns hold garbage: nothing may depend on them.
struct StoredTile {
  Layout layout = Layout::row_major;
  unsigned bits = 32;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;  // row major: of the tile, not of the matrix in it
  std::vector<std::byte> bytes{};

  StoredTile() = default;
  StoredTile(Layout tile_layout, unsigned element_bits, std::uint32_t tile_rows, std::uint32_t tile_columns,
             std::uint32_t seed = 1)
      : layout(tile_layout), bits(element_bits), rows(tile_rows), columns(tile_columns) {
    std::mt19937 random(seed);
    const std::uint64_t size = layout == Layout::row_major ? std::uint64_t{rows} * columns * bits / 8
                                                           : cell_storage_bytes(layout, bits, rows, columns);
    bytes.resize(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  }

  std::uint64_t position(std::uint32_t row, std::uint32_t column) const {
    return layout == Layout::row_major ? std::uint64_t{row} * columns + column
                                       : stored_position(layout, bits, row, column, rows);
  }
  void put(const Codes& codes) {
    for (std::uint32_t row = 0; row < codes.rows; ++row)
      for (std::uint32_t column = 0; column < codes.columns; ++column) {
        if (bits == 64)
          std::memcpy(bytes.data() + position(row, column) * 8, &codes.at[row * codes.columns + column], 8);
        else
          store_code(bytes.data(), bits, position(row, column), static_cast<std::uint32_t>(codes(row, column)));
      }
  }
  Codes get(std::uint32_t count_rows, std::uint32_t count_columns) const {
    Codes codes{count_rows, count_columns, {}};
    for (std::uint32_t row = 0; row < count_rows; ++row)
      for (std::uint32_t column = 0; column < count_columns; ++column)
        codes.at.push_back(load_code(bytes.data(), bits, position(row, column)));
    return codes;
  }
  TileView view() const { return {bytes, rows, columns}; }
  TileTarget target() { return {bytes, columns}; }
};

inline StoredTile tile_of(Layout layout, unsigned bits, const Codes& codes, std::uint32_t seed = 1) {
  StoredTile tile(layout, bits, codes.rows, codes.columns, seed);
  tile.put(codes);
  return tile;
}

// A matrix bundle with its logical operands. Runs it and keeps what it wrote.
struct MatrixCase {
  MatrixOperation op{};
  Codes a{}, b{};
  Codes c{}, bias{}, cscale{}, row_max_in{}, quant_vector{}, slope_vector{};  // empty: none

  Codes d{}, row_max{}, group_max{};
  std::uint8_t flags = 0;
  bool padding_kept = true;  // D's

  void run() {
    op.m = a.rows;
    op.k = a.columns;
    op.n = b.columns;
    MatrixOperands operands;
    const StoredTile a_tile = tile_of(op.m_layout, bits(op.a_type), a);
    const StoredTile b_tile = tile_of(Layout::cube_n8, bits(op.b_type), b, 2);
    operands.a = a_tile.view();
    operands.b = b_tile.view();
    StoredTile c_tile, bias_tile, cscale_tile, row_max_tile, quant_tile, slope_tile;
    const auto give = [](const Codes& codes, Layout layout, unsigned width, StoredTile& tile, TileView& view,
                         auto& id) {
      id.reset();
      if (codes.at.empty()) return;
      tile = tile_of(layout, width, codes, 3);
      view = tile.view();
      id = 9;
    };
    give(c, op.m_layout, 32, c_tile, operands.c, op.c);
    give(bias, Layout::row_major, 32, bias_tile, operands.bias, op.bias);
    give(cscale, Layout::cube_m32, 8, cscale_tile, operands.cscale, op.cscale);
    give(row_max_in, Layout::row_major, 32, row_max_tile, operands.row_max_in, op.row_max_in);
    give(quant_vector, Layout::row_major, 64, quant_tile, operands.quant_vector, op.quant_vector);
    give(slope_vector, Layout::row_major, 64, slope_tile, operands.slope_vector, op.slope_vector);
    const std::uint32_t groups = op.post.group_max ? ceil_div(op.n, group_columns[op.post.group_n_code]) : 1;
    StoredTile d_tile(op.m_layout, bits(op.d_type), op.m, op.n, 4);
    StoredTile row_max_out(Layout::row_major, 32, op.m, 1, 5);
    StoredTile group_max_out(Layout::row_major, 32, op.m, groups, 6);
    const StoredTile before = d_tile;
    flags = execute(op, operands, {d_tile.target(), row_max_out.target(), group_max_out.target()});
    d = d_tile.get(op.m, op.n);
    row_max = row_max_out.get(op.m, 1);
    group_max = group_max_out.get(op.m, groups);
    StoredTile restored = d_tile;
    restored.put(before.get(op.m, op.n));
    padding_kept = restored.bytes == before.bytes;
  }
};

}  // namespace tilevp::cube::testing
