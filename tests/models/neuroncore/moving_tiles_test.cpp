// When a packed moving tile may be used again: until somebody writes to its bytes, whichever way.
#include "tilevp/neuroncore/moving_tiles.hpp"

#include <gtest/gtest.h>

#include <array>

namespace {

using tilevp::EffectsQueue;
using tilevp::HostRange;
using tilevp::neuroncore::MovingTiles;

class MovingTilesTest : public testing::Test {
 protected:
  // 16 rows of 32 fp32, 512 bytes apart; `column` is the first.
  tilevp::numeric::StridedTile tile(std::size_t column = 0, std::size_t columns = 32) const {
    return tilevp::numeric::dense_tile<const std::byte>(&bytes_[4 * column], tilevp::numeric::DType::fp32, 16, 512,
                                                        columns);
  }
  HostRange range(std::size_t low, std::size_t high) const { return HostRange::of(&bytes_[low], &bytes_[high]); }
  bool packed(const tilevp::numeric::StridedTile& tile, unsigned stationary_columns = 128,
              std::size_t part_columns = 16) {
    return tiles_.place(tile, stationary_columns, part_columns, effects_).packed;
  }

  EffectsQueue effects_{true, 1};
  MovingTiles tiles_;

 private:
  std::array<std::byte, 16 * 512 + 1> bytes_{};
};

TEST_F(MovingTilesTest, TheSameTileIsPackedOnce) {
  const auto first = tiles_.place(tile(), 128, 16, effects_);
  EXPECT_FALSE(first.packed);
  const auto second = tiles_.place(tile(), 128, 16, effects_);
  EXPECT_TRUE(second.packed);
  EXPECT_EQ(second.index, first.index);
}

TEST_F(MovingTilesTest, AnotherViewOrAnotherWidthOfTheStationaryTileIsAnother) {
  EXPECT_FALSE(packed(tile()));
  EXPECT_FALSE(packed(tile(1)));
  EXPECT_FALSE(packed(tile(0, 31)));
  EXPECT_FALSE(packed(tile(), 127));
  EXPECT_FALSE(packed(tile(), 128, 32));
  auto other_type = tile();
  other_type.dtype = tilevp::numeric::DType::int32;
  EXPECT_FALSE(packed(other_type));
}

TEST_F(MovingTilesTest, AnEffectThatMayWriteToItEndsIt) {
  EXPECT_FALSE(packed(tile()));
  effects_.append([] {}, range(15 * 512 + 128, 16 * 512));  // behind the last row's last element
  EXPECT_TRUE(packed(tile()));
  effects_.append([] {}, range(15 * 512 + 127, 16 * 512));
  EXPECT_FALSE(packed(tile()));
  EXPECT_TRUE(packed(tile()));
}

TEST_F(MovingTilesTest, AWriteOutsideAnEffectEndsIt) {
  EXPECT_FALSE(packed(tile()));
  effects_.note_write(range(0, 1));
  EXPECT_FALSE(packed(tile()));
}

TEST_F(MovingTilesTest, WhatIsTooLongAgoToSayIsPackedAgain) {
  EXPECT_FALSE(packed(tile(0, 4)));
  for (int i = 0; i < 256; ++i) effects_.note_write(range(8000, 8001));
  EXPECT_TRUE(packed(tile(0, 4)));
  effects_.note_write(range(8000, 8001));
  EXPECT_FALSE(packed(tile(0, 4)));
}

TEST_F(MovingTilesTest, TheOldestMakesRoom) {
  for (std::size_t i = 0; i < MovingTiles::capacity; ++i) EXPECT_FALSE(packed(tile(i, 4)));
  for (std::size_t i = 0; i < MovingTiles::capacity; ++i) EXPECT_TRUE(packed(tile(i, 4)));
  EXPECT_FALSE(packed(tile(20, 4)));
  EXPECT_FALSE(packed(tile(0, 4)));
  EXPECT_TRUE(packed(tile(2, 4)));
}

}  // namespace
