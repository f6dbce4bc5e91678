// The close of TLOAD and TSTORE: what it resolves, defaults, and where registers end.
#include <gtest/gtest.h>

#include "models/cube/state_bench.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube::testing {
namespace {

using enum FaultCode;

TEST(CubeTransferClose, LoadsCellsAndRowMajorTiles) {
  Machine machine;
  machine.gpr[4] = 0x8000'0000;
  Plan plan;
  plan.start = {Operation::tload, DataType::fp16};
  plan.datr = BDatr{.pad = 1, .layout = nd2n8};
  plan.fpatr.reset();
  plan.dimensions = {dimension(0, 19), dimension(1, 13)};
  plan.ior = BIor{.source = {4, 0, 0}};
  plan.tiles = {destination(U, 4, true, 6)};
  auto fault = machine.run(plan);
  ASSERT_FALSE(fault) << fault->text;
  EXPECT_TRUE(machine.last_transfer->load);
  EXPECT_EQ(machine.last_transfer->base, 0x8000'0000U);
  EXPECT_EQ(machine.last_transfer->row_stride_bytes, 0U) << "an explicit zero register is a stride of zero";
  EXPECT_EQ(machine.last_transfer->row_bytes(), 38U);
  EXPECT_EQ(machine.last_transfer->pad, Pad::max);
  EXPECT_EQ(machine.last_transfer->mask, 0b1110);
  EXPECT_EQ(machine.tiles.descriptor(machine.last_transfer->tile).storage_bytes(), 768U);
  // Row-major U64 [1, 10] with 16 physical columns; no B.DATR, no B.IOR: base 0, rows of 16 words.
  plan.start.type = DataType::u64;
  plan.datr.reset();
  plan.ior.reset();
  plan.dimensions = {dimension(0, 10), dimension(2, 16)};
  plan.tiles = {destination(N, 1, true)};
  fault = machine.run(plan);
  ASSERT_FALSE(fault) << fault->text;
  EXPECT_EQ(machine.last_transfer->layout, Layout::row_major);
  EXPECT_EQ(machine.last_transfer->row_stride_bytes, 128U);
  EXPECT_EQ(machine.last_transfer->columns, 10U);
  EXPECT_EQ(machine.last_transfer->tile_columns, 16U);
  EXPECT_EQ(machine.last_transfer->pad, Pad::null);
  EXPECT_TRUE(machine.tiles.defined(machine.tiles.find(code(N, 1)).value()));
}

TEST(CubeTransferClose, StoresWhatTheTileIs) {
  Machine machine;
  machine.row_major(N, DataType::fp32, 2, 5, 512);  // 8 physical columns
  Plan plan;
  plan.start = {Operation::tstore, DataType::fp32};
  plan.fpatr.reset();
  plan.tiles = {source(code(N, 1), true, 1)};
  const Snapshot before = machine.snapshot();
  auto fault = machine.run(plan);
  ASSERT_FALSE(fault) << fault->text;
  EXPECT_FALSE(machine.last_transfer->load);
  EXPECT_EQ(machine.last_transfer->rows, 2U);
  EXPECT_EQ(machine.last_transfer->columns, 5U);
  EXPECT_EQ(machine.last_transfer->row_stride_bytes, 32U);
  EXPECT_EQ(machine.snapshot(), before);
  // A part of it: undefined elements outside of that do not count.
  machine.tiles.undefine(machine.last_transfer->tile, 1, 4);
  EXPECT_EQ(machine.run(plan)->code, tile_legality);
  machine.header = Header{};
  plan.dimensions = {dimension(0, 4)};
  EXPECT_FALSE(machine.run(plan));
}

TEST(CubeTransferClose, A17thTileOfAHandInAbsoluteSelectors) {
  Parameters absolute;
  absolute.tile_selectors = TileSelectors::absolute;
  Machine machine(absolute);
  Plan plan;
  plan.start = {Operation::tload, DataType::fp16};
  plan.fpatr.reset();
  plan.tiles = {destination(U, 1, true)};
  for (unsigned i = 0; i < 16; ++i) ASSERT_FALSE(machine.run(plan));
  const Snapshot before = machine.snapshot();
  const auto fault = machine.run(plan);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, tile_allocation);
  EXPECT_STREQ(fault->rule, rule::transfer_hand_full);
  EXPECT_EQ(machine.snapshot(), before);
}

// Relative selectors have no such end: a hundred loads into one hand, sixteen live.
TEST(CubeTransferClose, AHundredTilesOfAHandInRelativeSelectors) {
  Machine machine;
  Plan plan;
  plan.start = {Operation::tload, DataType::fp16};
  plan.fpatr.reset();
  plan.tiles = {destination(U, 1, true)};
  for (unsigned i = 0; i < 100; ++i) ASSERT_FALSE(machine.run(plan));
  EXPECT_EQ(machine.tiles.used_bytes(1), 16U * 128U);
}

}  // namespace
}  // namespace tilevp::cube::testing
