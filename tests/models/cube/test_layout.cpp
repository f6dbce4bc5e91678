// Cell layouts against the points of PTO-ISA/pto-spec, asl/tile/model/shape/cube-cell, worked by hand.
#include <gtest/gtest.h>

#include <set>

#include "tilevp/cube/layout.hpp"

namespace tilevp::cube {
namespace {

TEST(CubeLayout, CellsHold128Bytes) {
  for (const Layout layout : {Layout::cube_m16, Layout::cube_m32, Layout::cube_n8})
    for (const unsigned bits : {4U, 8U, 16U, 32U}) EXPECT_EQ(cell_shape(layout, bits).elements() * bits, 128U * 8U);
  EXPECT_EQ(cell_shape(Layout::cube_m16, 16), (CellShape{16, 4}));
  EXPECT_EQ(cell_shape(Layout::cube_m32, 32), (CellShape{32, 1}));
  EXPECT_EQ(cell_shape(Layout::cube_n8, 8), (CellShape{16, 8}));
  EXPECT_EQ(cell_shape(Layout::cube_n8, 64), CellShape{});
}

TEST(CubeLayout, N8RunsDownTheColumnsOfACellAndThenDownK) {
  EXPECT_EQ(cell_storage_bytes(Layout::cube_n8, 16, 13, 19), 768U);  // 6 cells
  EXPECT_EQ(architectural_position(Layout::cube_n8, 16, 8, 0, 13), 64U);
  EXPECT_EQ(architectural_position(Layout::cube_n8, 16, 0, 8, 13), 128U);
  EXPECT_EQ(architectural_position(Layout::cube_n8, 16, 12, 18, 13), 340U);
  EXPECT_EQ(architectural_position(Layout::cube_n8, 16, 7, 0, 9), 7U);
  EXPECT_EQ(architectural_position(Layout::cube_n8, 16, 0, 7, 9), 56U);
  EXPECT_EQ(architectural_position(Layout::cube_n8, 16, 8, 9, 9), 200U);
}

TEST(CubeLayout, MCellsHoldAllRowsOfSomeColumns) {
  EXPECT_EQ(cell_storage_bytes(Layout::cube_m16, 16, 1, 9), 384U);
  EXPECT_EQ(architectural_position(Layout::cube_m16, 16, 0, 8, 1), 128U);
  EXPECT_EQ(architectural_position(Layout::cube_m16, 32, 0, 9, 1), 129U);
  EXPECT_EQ(architectural_position(Layout::cube_m16, 32, 2, 3, 16), 32U + 4U + 1U);
}

TEST(CubeLayout, FourBitRowsOfM16AreInterleaved) {
  const unsigned expected[16] = {0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15};
  for (unsigned column = 0; column < 16; ++column)
    EXPECT_EQ(architectural_position(Layout::cube_m16, 4, 0, column, 1), expected[column]);
  EXPECT_EQ(architectural_position(Layout::cube_m32, 4, 0, 5, 1), 5U);
}

TEST(CubeLayout, BothOrdersPlaceEveryElementOnceInItsCell) {
  for (const unsigned bits : {4U, 8U, 16U, 32U}) {
    std::set<std::uint64_t> architectural;
    std::set<std::uint64_t> stored;
    const unsigned cell = cell_shape(Layout::cube_n8, bits).elements();
    for (unsigned k = 0; k < 40; ++k)
      for (unsigned n = 0; n < 20; ++n) {
        const auto a = architectural_position(Layout::cube_n8, bits, k, n, 40);
        const auto s = stored_position(Layout::cube_n8, bits, k, n, 40);
        EXPECT_EQ(a / cell, s / cell);
        architectural.insert(a);
        stored.insert(s);
      }
    EXPECT_EQ(architectural.size(), 800U);
    EXPECT_EQ(stored.size(), 800U);
  }
  EXPECT_EQ(stored_position(Layout::cube_n8, 16, 1, 2, 8), 10U);  // row 1 of eight, column 2
}

}  // namespace
}  // namespace tilevp::cube
