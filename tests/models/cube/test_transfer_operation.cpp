// Rows of memory into tiles and back, against the index formulas of the cell layouts (PTO-ISA/pto-spec,
// asl/tile/model/shape/cube-cell.asl), written down here once more.
#include "tilevp/cube/transfer_operation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cube/state_bench.hpp"
#include "tilevp/base/random.hpp"

namespace tilevp::cube::testing {
namespace {

struct Shape {
  unsigned rows, columns;
};

Shape cell(Layout layout, unsigned width) {
  const unsigned by_width = width == 32 ? 0 : width == 16 ? 1 : width == 8 ? 2 : 3;
  constexpr Shape m16[] = {{16, 2}, {16, 4}, {16, 8}, {16, 16}};
  constexpr Shape m32[] = {{32, 1}, {32, 2}, {32, 4}, {32, 8}};
  constexpr Shape n8[] = {{4, 8}, {8, 8}, {16, 8}, {32, 8}};
  return (layout == Layout::cube_m16 ? m16 : layout == Layout::cube_m32 ? m32 : n8)[by_width];
}

// Where programs see element (r, c), in elements.
std::uint64_t place(Layout layout, unsigned width, const TileDescriptor& tile, unsigned r, unsigned c) {
  if (layout == Layout::row_major) return std::uint64_t{r} * tile.columns + c;
  const Shape s = cell(layout, width);
  const std::uint64_t size = s.rows * s.columns;
  if (layout == Layout::cube_n8) {
    const std::uint64_t down = (tile.valid_rows + s.rows - 1) / s.rows;
    return (c / 8 * down + r / s.rows) * size + c % 8 * s.rows + r % s.rows;
  }
  unsigned q = c % s.columns;
  if (layout == Layout::cube_m16 && width == 4) {
    constexpr unsigned order[] = {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
    q = order[q];
  }
  return c / s.columns * size + r * s.columns + q;
}

std::uint64_t element(const std::vector<std::byte>& bytes, unsigned width, std::uint64_t position) {
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const std::uint64_t at = position * width + bit;
    value |= std::uint64_t{std::to_integer<unsigned>(bytes[at / 8]) >> (at % 8) & 1} << bit;
  }
  return value;
}

struct Transport {
  Layout layout;
  DataType type;
  unsigned rows, columns;
  std::uint32_t capacity;
};

TransferOperation operation_of(const Transport& t, const TileDescriptor& tile, Pad pad) {
  TransferOperation operation;
  operation.type = t.type;
  operation.layout = t.layout;
  operation.rows = t.rows;
  operation.columns = t.columns;
  operation.tile_rows = tile.rows;
  operation.tile_columns = tile.columns;
  operation.pad = pad;
  return operation;
}

void check(const Transport& t, Pad pad, std::mt19937_64& random) {
  const unsigned width = bits(t.type);
  unsigned physical = 1;
  while (physical < t.columns) physical *= 2;
  const auto tile = t.layout == Layout::row_major ? row_major_tile(t.type, t.rows, t.columns, physical, t.capacity, 0x8)
                                                  : cell_tile(t.layout, t.type, t.rows, t.columns, t.capacity, 0x8);
  ASSERT_TRUE(tile);
  TileRegisters tiles(TileSelectors::relative, CapacityRule::pe, 262'144);
  tiles.allocate(0, *tile);
  const TransferOperation operation = operation_of(t, *tile, pad);
  std::vector<std::byte> rows(t.rows * operation.row_bytes());
  for (std::byte& byte : rows) byte = static_cast<std::byte>(random());
  for (std::byte& byte : tiles.payload(0, 0)) byte = static_cast<std::byte>(random());
  rows_to_tile(operation, dense_rows(operation, std::span<const std::byte>(rows)), tiles.payload(0, 0));
  const auto seen = tiles.architectural_bytes(0, 0);
  const std::uint64_t pad_value =
      pad_element(t.type, pad) & (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1);
  for (unsigned r = 0; r < tile->rows; ++r)
    for (unsigned c = 0; c < tile->columns; ++c) {
      const bool valid = r < t.rows && c < t.columns;
      const std::uint64_t expected =
          valid ? element(rows, width, r * operation.row_bytes() * 8 / width + c) : pad_value;
      ASSERT_EQ(element(seen, width, place(t.layout, width, *tile, r, c)), expected)
          << name(t.layout) << " " << name(t.type) << " " << t.rows << " x " << t.columns << " (" << r << ", " << c
          << ")";
    }
  // The same from rows that lie apart, upwards and downwards.
  const std::vector<std::byte> stored(tiles.payload(0, 0).begin(), tiles.payload(0, 0).end());
  const std::uint64_t apart = operation.row_bytes() + 13;
  for (const bool down : {false, true}) {
    std::vector<std::byte> memory(t.rows * apart);
    const auto stride = static_cast<std::int64_t>(apart) * (down ? -1 : 1);
    std::byte* const first = memory.data() + (down ? (t.rows - 1) * apart : 0);
    for (unsigned r = 0; r < t.rows; ++r)
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(r * operation.row_bytes()), operation.row_bytes(),
                  first + r * stride);
    std::ranges::fill(tiles.payload(0, 0), std::byte{0x5a});
    rows_to_tile(operation, {first, stride}, tiles.payload(0, 0));
    ASSERT_TRUE(std::ranges::equal(tiles.payload(0, 0), stored)) << name(t.layout) << " " << name(t.type);
  }
  // Back: the rows as they were; an unused nibble at the end of a row keeps what is there.
  std::vector<std::byte> back(rows.size(), std::byte{0xe7});
  tile_to_rows(operation, tiles.payload(0, 0), dense_rows(operation, std::span(back)));
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const bool half = width == 4 && t.columns % 2 == 1 && at % operation.row_bytes() == operation.row_bytes() - 1;
    const std::byte expected = half ? (rows[at] & std::byte{0x0f}) | std::byte{0xe0} : rows[at];
    ASSERT_EQ(back[at], expected) << name(t.layout) << " " << name(t.type) << " byte " << at;
  }
}

TEST(CubeTransfer, ElementsLandWhereTheFormulasSay) {
  auto random = generator_for(11, "cube transfer");
  constexpr DataType types[] = {DataType::fp32, DataType::bf16, DataType::e4m3, DataType::s4x2};
  for (const Layout layout : {Layout::row_major, Layout::cube_m16, Layout::cube_m32, Layout::cube_n8})
    for (const DataType type : types)
      for (const unsigned columns : {1U, 7U, 8U, 16U, 17U, 33U, 40U})
        for (const unsigned rows : {1U, 5U, 16U}) check({layout, type, rows, columns, 16'384}, Pad::min, random);
  check({Layout::cube_n8, DataType::fp16, 13, 19, 1024}, Pad::max, random);
  check({Layout::cube_n8, DataType::u4x2, 65, 9, 1024}, Pad::zero, random);
  check({Layout::row_major, DataType::u64, 1, 10, 128}, Pad::max, random);
  check({Layout::row_major, DataType::u64, 3, 5, 256}, Pad::null, random);
}

TEST(CubeTransfer, RandomShapes) {
  auto random = generator_for(12, "cube transfer shapes");
  constexpr DataType types[] = {DataType::s32, DataType::fp16, DataType::hif8, DataType::e2m1x2};
  for (unsigned round = 0; round < 150; ++round) {
    const auto layout = static_cast<Layout>(uniform_int(random, 0, 3));
    const DataType type = types[uniform_int(random, 0, 3)];
    const auto rows = static_cast<unsigned>(uniform_int(random, 1, layout == Layout::cube_n8 ? 70 : 16));
    check({layout, type, rows, static_cast<unsigned>(uniform_int(random, 1, 40)), 32'768},
          static_cast<Pad>(uniform_int(random, 0, 3)), random);
  }
}

TEST(CubeTransfer, PaddingElements) {
  EXPECT_EQ(pad_element(DataType::fp16, Pad::zero), 0U);
  EXPECT_EQ(pad_element(DataType::fp16, Pad::max), 0x7c00U);
  EXPECT_EQ(pad_element(DataType::fp16, Pad::min), 0xfc00U);
  EXPECT_EQ(pad_element(DataType::fp32, Pad::min), 0xff80'0000U);
  EXPECT_EQ(pad_element(DataType::bf16, Pad::max), 0x7f80U);
  EXPECT_EQ(pad_element(DataType::fp64, Pad::min), 0xfff0'0000'0000'0000U);
  EXPECT_EQ(pad_element(DataType::e4m3, Pad::max), 0x7eU);
  EXPECT_EQ(pad_element(DataType::hif8, Pad::min), 0xefU);
  EXPECT_EQ(pad_element(DataType::e3m2, Pad::min), 0x3fU);
  EXPECT_EQ(pad_element(DataType::e2m1x2, Pad::min), 0xfU);
  EXPECT_EQ(pad_element(DataType::s8, Pad::max), 0x7fU);
  EXPECT_EQ(pad_element(DataType::s4x2, Pad::min), 0x8U);
  EXPECT_EQ(pad_element(DataType::u16, Pad::max), 0xffffU);
  EXPECT_EQ(pad_element(DataType::u16, Pad::min), 0U);
  EXPECT_EQ(pad_element(DataType::u64, Pad::max), ~std::uint64_t{0});
  EXPECT_EQ(pad_element(DataType::s64, Pad::min), std::uint64_t{1} << 63);
  EXPECT_EQ(pad_element(DataType::e8m0, Pad::max), 0xfeU);
}

}  // namespace
}  // namespace tilevp::cube::testing
