// Tile registers: geometry, names, capacity, definedness, the order of bytes. Numbers worked by hand from the cell
// shapes of layout.hpp.
#include "tilevp/cube/tile_registers.hpp"

#include <gtest/gtest.h>

#include "models/cube/state_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/random.hpp"
#include "tilevp/cube/element.hpp"

namespace tilevp::cube::testing {
namespace {

TEST(CubeTileGeometry, CellTilesOfThePublishedExamples) {
  // FP16 B of 13 x 19: cells of 8 x 8, 2 down and 3 across.
  const auto b = cell_tile(Layout::cube_n8, DataType::fp16, 13, 19, 1024, 0xf);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->storage_bytes(), 768U);
  EXPECT_EQ(b->rows, 16U);
  EXPECT_EQ(b->columns, 24U);
  // FP16 A [1, 9]: cells of 16 x 4, 3 of them; FP32 D [1, 10]: cells of 16 x 2, 5 of them.
  EXPECT_EQ(cell_tile(Layout::cube_m16, DataType::fp16, 1, 9, 512, 0xf)->storage_bytes(), 384U);
  EXPECT_EQ(cell_tile(Layout::cube_m16, DataType::fp32, 1, 10, 1024, 0xf)->storage_bytes(), 640U);
  // FP32 D of 64 KiB a PE has at most 1024 columns in M16.
  EXPECT_TRUE(cell_tile(Layout::cube_m16, DataType::fp32, 1, 1024, 65'536, 0xf));
  EXPECT_FALSE(cell_tile(Layout::cube_m16, DataType::fp32, 1, 1025, 65'536, 0xf));
}

// The smallest SizeCodes that fit, of PTO-ISA/pto-spec, PTO-AVS-BLOCK-TMATMUL-CUBE-CAPACITY-008.
TEST(CubeTileGeometry, SmallestSizesOfTheExecutableModel) {
  const auto fits = [](Layout layout, DataType type, std::uint32_t rows, std::uint32_t columns, std::uint32_t bytes) {
    return cell_tile(layout, type, rows, columns, bytes, 0xf).has_value() &&
           !cell_tile(layout, type, rows, columns, bytes / 2, 0xf).has_value();
  };
  EXPECT_TRUE(fits(Layout::cube_m16, DataType::fp16, 16, 17, 1024));
  EXPECT_TRUE(fits(Layout::cube_m32, DataType::fp16, 17, 17, 2048));
  EXPECT_TRUE(fits(Layout::cube_n8, DataType::fp16, 17, 9, 1024));
  EXPECT_TRUE(fits(Layout::cube_m16, DataType::fp32, 16, 9, 1024));
}

TEST(CubeTileGeometry, CellTilesRefuse) {
  EXPECT_FALSE(cell_tile(Layout::cube_m16, DataType::fp32, 1, 10, 512, 0xf));  // 640 bytes
  EXPECT_FALSE(cell_tile(Layout::cube_m16, DataType::fp16, 17, 1, 65'536, 0xf));
  EXPECT_TRUE(cell_tile(Layout::cube_m32, DataType::fp16, 17, 1, 65'536, 0xf));
  EXPECT_FALSE(cell_tile(Layout::cube_m32, DataType::fp16, 33, 1, 65'536, 0xf));
  EXPECT_FALSE(cell_tile(Layout::cube_n8, DataType::u64, 1, 1, 65'536, 0xf));
  EXPECT_FALSE(cell_tile(Layout::cube_m32, DataType::hif4x2, 1, 1, 65'536, 0xf));
  EXPECT_FALSE(cell_tile(Layout::cube_n8, DataType::fp32, 65'535, 65'535, 65'536, 0xf));
}

TEST(CubeTileGeometry, RowMajorTilesFillTheirCapacity) {
  // 512 bytes of FP32 in 16 columns are 8 rows.
  const auto tile = row_major_tile(DataType::fp32, 1, 10, 16, 512, 0xf);
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->rows, 8U);
  EXPECT_EQ(tile->valid_columns, 10U);
  EXPECT_FALSE(row_major_tile(DataType::fp32, 1, 10, 10, 512, 0xf)) << "columns are no power of two";
  EXPECT_FALSE(row_major_tile(DataType::fp32, 1, 10, 8, 512, 0xf)) << "10 valid columns of 8";
  EXPECT_FALSE(row_major_tile(DataType::fp32, 9, 10, 16, 512, 0xf)) << "9 valid rows of 8";
  EXPECT_FALSE(row_major_tile(DataType::u64, 1, 32, 32, 128, 0xf)) << "a row is 256 bytes";
  EXPECT_EQ(row_major_tile(DataType::u64, 1, 16, 16, 128, 0xf)->rows, 1U);
  EXPECT_EQ(row_major_tile(DataType::s4x2, 1, 1, 1, 128, 0xf)->rows, 256U);
}

const TileDescriptor small = cell_tile(Layout::cube_m16, DataType::fp32, 1, 1, 128, 0xf).value();

TEST(CubeTileNames, AbsoluteCodesAreRegisters) {
  TileRegisters tiles(TileSelectors::absolute, CapacityRule::core, 262'144);
  EXPECT_FALSE(tiles.find(code(U, 1)));
  const TileSlot first = tiles.next_free(U).value();
  EXPECT_EQ(first, 16);
  tiles.allocate(first, small);
  EXPECT_EQ(tiles.find(code(U, 1)), first);
  EXPECT_EQ(tiles.next_free(U, std::array{TileSlot{17}}), TileSlot{18});
  for (unsigned i = 1; i < 16; ++i) tiles.allocate(tiles.next_free(U).value(), small);
  EXPECT_FALSE(tiles.next_free(U));
  EXPECT_EQ(tiles.next_free(N), TileSlot{48});
}

TEST(CubeTileNames, RelativeCodesCountBackFromTheNewest) {
  Machine machine;
  const TileSlot a = machine.add(T, small, 1);
  const TileSlot b = machine.add(T, small, 2);
  EXPECT_EQ(machine.tiles.find(code(T, 1)), b);
  EXPECT_EQ(machine.tiles.find(code(T, 2)), a);
  EXPECT_FALSE(machine.tiles.find(code(T, 3)));
  EXPECT_FALSE(machine.tiles.find(code(U, 1)));
}

TEST(CubeTileNames, AGroupIsPublishedInTheOrderOfItsBindings) {
  TileRegisters tiles(TileSelectors::relative, CapacityRule::core, 262'144);
  const TileSlot d = tiles.next_free(M).value();
  const TileSlot row_max = tiles.next_free(M, std::array{d}).value();
  EXPECT_NE(d, row_max);
  tiles.allocate(d, small);
  tiles.allocate(row_max, small);
  EXPECT_EQ(tiles.in_flight(), 2U);
  EXPECT_FALSE(tiles.defined(d));
  tiles.publish(std::array{d, row_max});
  EXPECT_EQ(tiles.in_flight(), 0U);
  EXPECT_EQ(tiles.find(code(M, 1)), row_max);
  EXPECT_EQ(tiles.find(code(M, 2)), d);
  EXPECT_TRUE(tiles.defined(d));
}

TEST(CubeTileNames, TheSeventeenthTileOfAHandRetiresTheOldest) {
  Machine machine;
  std::vector<TileSlot> slots;
  for (unsigned i = 0; i < 16; ++i) slots.push_back(machine.add(N, small, i));
  const std::uint64_t full = machine.tiles.used_bytes(0);
  EXPECT_EQ(full, 16U * 128U);
  const TileSlot next = machine.tiles.next_free(N).value();
  machine.tiles.allocate(next, small);
  // In flight it is #1 already, and #16 is the second oldest; the oldest keeps its bytes until the commit.
  EXPECT_EQ(machine.tiles.find(code(N, 1)), next);
  EXPECT_EQ(machine.tiles.find(code(N, 16)), slots[1]);
  EXPECT_TRUE(machine.tiles.published(slots[0]));
  machine.tiles.publish({&next, 1});
  EXPECT_FALSE(machine.tiles.allocated(slots[0]));
  EXPECT_EQ(machine.tiles.find(code(N, 16)), slots[1]);
  EXPECT_EQ(machine.tiles.used_bytes(0), full);
}

TEST(CubeTileNames, AReleasedTileGivesItsNameBack) {
  Machine machine;
  std::vector<TileSlot> slots;
  for (unsigned i = 0; i < 16; ++i) slots.push_back(machine.add(N, small, i));
  const Snapshot before = machine.snapshot();
  const TileSlot next = machine.tiles.next_free(N).value();
  machine.tiles.allocate(next, small);
  machine.tiles.release({&next, 1});
  EXPECT_EQ(machine.snapshot(), before);
  EXPECT_EQ(machine.tiles.find(code(N, 16)), slots[0]);
}

// Against a list of live tiles: publish, release and retire in random order.
TEST(CubeTileNames, AgreeWithAListOfLiveTiles) {
  auto random = generator_for(7, "cube tile names");
  TileRegisters tiles(TileSelectors::relative, CapacityRule::pe, 262'144);
  std::vector<TileSlot> live;
  std::vector<TileSlot> flying;  // oldest first
  for (unsigned step = 0; step < 20'000; ++step) {
    const auto what = uniform_int(random, 0, 9);
    if (what < 5 && flying.size() < 12) {
      const TileSlot slot = tiles.next_free(U).value();
      tiles.allocate(slot, small);
      flying.push_back(slot);
    } else if (what < 8 && !flying.empty()) {
      tiles.publish({flying.data(), 1});
      live.push_back(flying.front());
      flying.erase(flying.begin());
      if (live.size() > 16) live.erase(live.begin());
    } else if (what == 8 && !flying.empty()) {
      tiles.release({&flying.back(), 1});
      flying.pop_back();
    } else if (what == 9 && !live.empty()) {
      const auto at = static_cast<std::size_t>(uniform_int(random, 0, static_cast<std::int64_t>(live.size()) - 1));
      tiles.retire(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    std::vector<TileSlot> order = live;
    order.insert(order.end(), flying.begin(), flying.end());
    for (unsigned number = 1; number <= 16; ++number) {
      const auto expected =
          number <= order.size() ? std::optional<TileSlot>(order[order.size() - number]) : std::nullopt;
      ASSERT_EQ(tiles.find(code(U, number)), expected) << "step " << step << " #" << number;
    }
    ASSERT_EQ(tiles.used_bytes(2), 128 * order.size());
    ASSERT_EQ(tiles.in_flight(), flying.size());
  }
}

TEST(CubeTileCapacity, CoreCountsTheSumOverThePes) {
  TileRegisters tiles(TileSelectors::relative, CapacityRule::core, 1024);
  EXPECT_TRUE(tiles.fits(0b1111, 256));
  EXPECT_FALSE(tiles.fits(0b1111, 512));
  EXPECT_TRUE(tiles.fits(0b1100, 512));
  TileDescriptor tile = small;
  tile.mask = 0b1100;
  tile.capacity_bytes = 256;
  tiles.allocate(0, tile);
  EXPECT_EQ(tiles.used_bytes(), 512U);
  EXPECT_EQ(tiles.used_bytes(0), 256U);
  EXPECT_EQ(tiles.used_bytes(2), 0U);
  EXPECT_TRUE(tiles.fits(0b0001, 512));
  EXPECT_FALSE(tiles.fits(0b0011, 512));
}

TEST(CubeTileCapacity, PeCountsEachForItself) {
  TileRegisters tiles(TileSelectors::relative, CapacityRule::pe, 1024);
  TileDescriptor tile = small;
  tile.mask = 0b1100;
  tile.capacity_bytes = 768;
  tiles.allocate(0, tile);
  EXPECT_TRUE(tiles.fits(0b0011, 1024));
  EXPECT_FALSE(tiles.fits(0b0110, 512));
  EXPECT_TRUE(tiles.fits(0b1111, 256));
  tiles.set_capacity(1000);
  EXPECT_FALSE(tiles.fits(0b1111, 256));
}

TEST(CubeTileDefinedness, OneElement) {
  Machine machine;
  const TileSlot slot = machine.cells(T, Layout::cube_m16, DataType::fp16, 2, 5, 256);
  EXPECT_TRUE(machine.tiles.defined(slot));
  EXPECT_FALSE(machine.tiles.defined(slot, 2, 0)) << "not a valid element";
  machine.tiles.undefine(slot, 1, 3);
  EXPECT_FALSE(machine.tiles.defined(slot));
  EXPECT_FALSE(machine.tiles.defined(slot, 1, 3));
  EXPECT_TRUE(machine.tiles.defined(slot, 1, 2));
  EXPECT_TRUE(machine.tiles.defined(slot, 0, 3));
}

// A tile that reuses the slot of an undefined one is its own.
TEST(CubeTileDefinedness, IsOfTheTileNotOfTheRegister) {
  Machine machine;
  const TileSlot slot = machine.add(T, small, 1);
  machine.tiles.undefine(slot, 0, 0);
  machine.tiles.retire(slot);
  EXPECT_EQ(machine.add(T, small, 1), slot);
  EXPECT_TRUE(machine.tiles.defined(slot));
}

TEST(CubeTileBytes, ProgramsSeeColumnsOfN8Together) {
  // FP16 B of 13 x 19 in N8: element (k, n) at ((n / 8) * 2 + k / 8) * 64 + (n mod 8) * 8 + k mod 8.
  Machine machine;
  const TileSlot slot = machine.cells(U, Layout::cube_n8, DataType::fp16, 13, 19, 1024);
  std::vector<std::byte> bytes(768);
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    bytes[i] = static_cast<std::byte>(i / 2);
    bytes[i + 1] = static_cast<std::byte>(i / 2 >> 8);
  }
  machine.tiles.set_architectural_bytes(slot, 3, bytes);
  EXPECT_EQ(machine.tiles.architectural_bytes(slot, 3), bytes);
  const auto stored = machine.tiles.payload(slot, 3);
  const auto at = [&](std::uint32_t k, std::uint32_t n) {
    return load_code(stored.data(), 16, stored_position(Layout::cube_n8, 16, k, n, 13));
  };
  EXPECT_EQ(at(8, 0), 64U);
  EXPECT_EQ(at(0, 8), 128U);
  EXPECT_EQ(at(12, 18), 340U);
  EXPECT_EQ(at(7, 3), 31U);
}

TEST(CubeTileBytes, NibblesOfN8) {
  Machine machine;
  const TileSlot slot = machine.cells(U, Layout::cube_n8, DataType::s4x2, 32, 8, 128);
  std::vector<std::byte> bytes(128);
  bytes[16] = std::byte{0x5a};  // elements 32 and 33: column 1, rows 0 and 1
  machine.tiles.set_architectural_bytes(slot, 0, bytes);
  const auto stored = machine.tiles.payload(slot, 0);
  EXPECT_EQ(stored[0], std::byte{0xa0});  // row 0: columns 0 and 1
  EXPECT_EQ(stored[4], std::byte{0x50});  // row 1
  EXPECT_EQ(machine.tiles.architectural_bytes(slot, 0), bytes);
}

TEST(CubeTileRegisters, MisuseIsADefect) {
  Machine machine;
  const TileSlot slot = machine.add(T, small, 1);
  EXPECT_THROW(machine.tiles.allocate(slot, small), Defect);
  EXPECT_THROW(machine.tiles.publish({&slot, 1}), Defect);
  EXPECT_THROW(machine.tiles.release({&slot, 1}), Defect);
  TileDescriptor one = small;
  one.mask = 0b1000;
  const TileSlot other = machine.add(T, one, 1);
  EXPECT_THROW(machine.tiles.payload(other, 1), Defect);
  machine.tiles.retire(other);
  EXPECT_THROW(machine.tiles.retire(other), Defect);
  machine.tiles.reset();
  EXPECT_EQ(machine.tiles.used_bytes(), 0U);
  EXPECT_FALSE(machine.tiles.find(code(T, 1)));
}

}  // namespace
}  // namespace tilevp::cube::testing
