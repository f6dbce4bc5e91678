#include "tilevp/numeric/strided_tile.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace tilevp::numeric {
namespace {

// Addresses by plain arithmetic on the index of an element: the last dimension is the fastest.
std::ptrdiff_t element_offset(const std::vector<FreeDim>& dims, std::size_t index) {
  std::ptrdiff_t at = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    at += static_cast<std::ptrdiff_t>(index % dims[d].count) * dims[d].stride;
    index /= dims[d].count;
  }
  return at;
}

template <typename Byte>
BasicStridedTile<Byte> tile_of(Byte* base, DType dtype, std::ptrdiff_t pitch, const std::vector<FreeDim>& dims) {
  BasicStridedTile<Byte> tile;
  tile.base = base;
  tile.dtype = dtype;
  tile.partition_stride_bytes = pitch;
  tile.dim_count = static_cast<int>(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) tile.dims[d] = dims[d];
  return tile;
}

TEST(StridedTile, GatherByHand) {
  // Partition 1 of 20 int8 holds 100..119; [2 rows of stride 8][3 columns of stride 2] from element 1.
  std::vector<std::byte> memory(40);
  for (std::size_t i = 0; i < 20; ++i) memory[20 + i] = static_cast<std::byte>(100 + i);
  const auto tile = tile_of<const std::byte>(memory.data() + 1, DType::int8, 20, {{2, 8}, {3, 2}});
  ASSERT_EQ(tile.free_size(), 6U);
  float row[6];
  gather_row(tile, 1, row);
  const float expected[] = {101, 103, 105, 109, 111, 113};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(row[i], expected[i]);
}

TEST(StridedTile, NoDimensionIsOneElement) {
  const float value = 7;
  const auto tile = tile_of(reinterpret_cast<const std::byte*>(&value), DType::fp32, 0, {});
  float out = 0;
  gather_row(tile, 0, &out);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(tile.free_size(), 1U);
}

TEST(StridedTile, RandomPatternsGatherAndScatter) {
  constexpr std::ptrdiff_t pitch = 2000;
  constexpr std::size_t middle = 1000;  // so that negative strides stay inside
  std::mt19937 random(7);
  const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE("seed 7, round " + std::to_string(round));
    std::vector<FreeDim> dims(static_cast<std::size_t>(between(0, 4)));
    for (auto& dim : dims) dim = {static_cast<std::size_t>(between(1, 5)), between(-20, 20)};
    std::vector<std::byte> memory(3 * pitch);
    for (auto& byte : memory) byte = static_cast<std::byte>(between(0, 255));
    const auto source = tile_of<const std::byte>(memory.data() + middle, DType::int16, pitch, dims);
    const auto size = source.free_size();
    const auto partition = static_cast<std::size_t>(between(0, 2));
    const auto at = [&](std::size_t index) {
      return middle + partition * pitch + static_cast<std::size_t>(2 * element_offset(dims, index));
    };
    std::vector<float> row(size);
    gather_row(source, partition, row.data());
    for (std::size_t i = 0; i < size; ++i) {
      std::int16_t expected = 0;
      std::memcpy(&expected, memory.data() + at(i), 2);
      ASSERT_EQ(row[i], static_cast<float>(expected)) << i;
    }
    std::vector<std::byte> expected = memory;
    for (std::size_t i = 0; i < size; ++i) {
      row[i] = static_cast<float>(between(-1000, 1000));
      const auto value = static_cast<std::int16_t>(row[i]);
      std::memcpy(expected.data() + at(i), &value, 2);
    }
    scatter_row(tile_of(memory.data() + middle, DType::int16, pitch, dims), partition, row.data());
    ASSERT_EQ(memory, expected) << "scatter writes these bytes and no others";
  }
}

TEST(StridedTile, ScatterRoundsAsAsked) {
  std::uint16_t out[2] = {};
  const float values[] = {1.00390625F, -1.00390625F};  // 1 + 2^-8: the middle between two bf16
  const auto tile = dense_tile(reinterpret_cast<std::byte*>(out), DType::bf16, 1, 4, 2);
  scatter_row(tile, 0, values);
  EXPECT_EQ(out[0], 0x3f80);
  scatter_row(tile, 0, values, Rounding::rna);
  EXPECT_EQ(out[0], 0x3f81);
  EXPECT_EQ(out[1], 0xbf81);
}

}  // namespace
}  // namespace tilevp::numeric
