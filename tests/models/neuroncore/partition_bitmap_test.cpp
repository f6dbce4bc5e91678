// The bitmap against a plain array of bits.
#include "tilevp/neuroncore/partition_bitmap.hpp"

#include <gtest/gtest.h>

#include "tilevp/base/random.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace {

using namespace tilevp::neuroncore;

constexpr std::uint32_t row_bytes = 1000;

class Naive {
 public:
  template <class Fn>
  static void for_each(const Operand& tile, unsigned partitions, std::uint32_t size, Fn&& fn) {
    for (unsigned p = tile.partition; p < tile.partition + partitions; ++p)
      for (int i = 0; i < tile.dims[0].num; ++i)
        for (int j = 0; j < tile.dims[1].num; ++j)
          for (int k = 0; k < tile.dims[2].num; ++k)
            for (std::uint32_t b = 0; b < size; ++b) {
              const int element = i * tile.dims[0].step + j * tile.dims[1].step + k * tile.dims[2].step;
              fn(p, static_cast<std::uint32_t>(static_cast<int>(tile.offset) + element * static_cast<int>(size)) + b);
            }
  }
  void put(const Operand& tile, unsigned partitions, std::uint32_t size, bool value) {
    for_each(tile, partitions, size, [&](unsigned p, std::uint32_t at) { bits_[p * row_bytes + at] = value; });
  }
  bool all(const Operand& tile, unsigned partitions, std::uint32_t size) const {
    bool every = true;
    for_each(tile, partitions, size, [&](unsigned p, std::uint32_t at) { every = every && bits_[p * row_bytes + at]; });
    return every;
  }
  bool at(unsigned p, std::uint32_t offset) const { return bits_[p * row_bytes + offset]; }

 private:
  std::vector<bool> bits_ = std::vector<bool>(128 * row_bytes);
};

TEST(PartitionBitmap, AgreesWithAPlainArray) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto generator = tilevp::generator_for(seed, "partition_bitmap");
    const auto draw = [&](std::int64_t low, std::int64_t high) { return tilevp::uniform_int(generator, low, high); };
    PartitionBitmap bitmap(row_bytes);
    Naive naive;
    for (int step = 0; step < 400; ++step) {
      const std::uint32_t size = 1U << draw(0, 2);
      const bool tall = draw(0, 2) == 0;
      Operand tile;
      tile.partition = static_cast<std::uint8_t>(tall ? 0 : draw(0, 127));
      const auto partitions = static_cast<unsigned>(tall ? 128 : draw(1, 128 - tile.partition));
      tile.dims = {
          Dim{static_cast<std::int16_t>(draw(-40, 40)), static_cast<std::uint16_t>(draw(1, 3))},
          Dim{static_cast<std::int16_t>(draw(0, 1) == 0 ? 8 : draw(-9, 9)), static_cast<std::uint16_t>(draw(1, 4))},
          Dim{static_cast<std::int16_t>(draw(0, 1) == 0 ? 1 : draw(-3, 3)), static_cast<std::uint16_t>(draw(1, 8))}};
      if (draw(0, 2) == 0)  // a row: many whole columns
        tile.dims = {Dim{0, 1}, Dim{0, 1}, Dim{1, static_cast<std::uint16_t>(draw(1, row_bytes / size))}};
      tile.offset = static_cast<std::uint32_t>(draw(0, row_bytes / size - 1)) * size;
      const ByteSpan span = span_of(tile, size);
      if (span.low < 0 || span.high > row_bytes) continue;
      const std::int64_t action = draw(0, 3);
      if (action == 0) {
        bitmap.clear(tile, partitions, size);
        naive.put(tile, partitions, size, false);
      } else if (action == 1) {
        const auto hole = bitmap.first_clear(tile, partitions, size);
        ASSERT_EQ(!hole, naive.all(tile, partitions, size)) << "seed " << seed << " step " << step;
        if (hole) {
          ASSERT_FALSE(naive.at(hole->partition, hole->offset)) << "seed " << seed << " step " << step;
        }
      } else {
        bitmap.set(tile, partitions, size);
        naive.put(tile, partitions, size, true);
        ASSERT_FALSE(bitmap.first_clear(tile, partitions, size)) << "seed " << seed << " step " << step;
      }
    }
  }
}

// may_overlap may say yes too often, never no wrongly.
TEST(TileGeometry, TilesSaidToBeApartShareNoByte) {
  auto generator = tilevp::generator_for(5, "tile_geometry");
  const auto draw = [&](std::int64_t low, std::int64_t high) { return tilevp::uniform_int(generator, low, high); };
  int apart_in_one_box = 0;
  for (int step = 0; step < 3000; ++step) {
    std::array<Operand, 2> tiles;
    std::array<std::uint32_t, 2> sizes{};
    for (std::size_t t = 0; t < 2; ++t) {
      sizes[t] = 1U << draw(0, 2);
      tiles[t].offset = static_cast<std::uint32_t>(draw(500, 540));
      tiles[t].dims = {Dim{0, 1},
                       Dim{static_cast<std::int16_t>(draw(-2, 2) * 8), static_cast<std::uint16_t>(draw(1, 3))},
                       Dim{static_cast<std::int16_t>(draw(-2, 2) * 2), static_cast<std::uint16_t>(draw(1, 6))}};
    }
    std::vector<bool> touched(1000);
    Naive::for_each(tiles[0], 1, sizes[0], [&](unsigned, std::uint32_t at) { touched[at] = true; });
    bool meet = false;
    Naive::for_each(tiles[1], 1, sizes[1], [&](unsigned, std::uint32_t at) { meet = meet || touched[at]; });
    const TileExtent a = extent_of(tiles[0], 1, sizes[0]);
    const TileExtent b = extent_of(tiles[1], 1, sizes[1]);
    const bool boxes_meet = a.span.low < b.span.high && b.span.low < a.span.high;
    if (meet) {
      ASSERT_TRUE(may_overlap(a, b)) << "step " << step;
    }
    if (boxes_meet && !may_overlap(a, b)) ++apart_in_one_box;
  }
  EXPECT_GT(apart_in_one_box, 100);
}

// 100 bytes of partitions 4 to 7 in two columns of 64, and the part of them in the second.
TEST(PartitionBitmap, CountsByPartition) {
  PartitionBitmap bitmap(row_bytes);
  bitmap.set({4, 4}, 10, 100);
  bitmap.set({7, 1}, 10, 101);
  const auto all = bitmap.count(0, row_bytes);
  const auto second = bitmap.count(64, 64);
  for (unsigned p = 0; p < max_partitions; ++p) {
    const std::uint64_t more = p == 7 ? 1 : 0;
    EXPECT_EQ(all[p], p >= 4 && p < 8 ? 100 + more : 0) << p;
    EXPECT_EQ(second[p], p >= 4 && p < 8 ? 46 + more : 0) << p;
  }
}

}  // namespace
