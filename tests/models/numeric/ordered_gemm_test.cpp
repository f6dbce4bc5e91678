#include "tilevp/numeric/ordered_gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "models/numeric/edge_tiles.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::numeric {
namespace {

using testing::edge_tile;
using testing::EdgeTile;
using testing::Random;
using testing::reference_bits;

template <typename T>
StridedTile tile_of(const std::vector<T>& values, DType dtype, std::size_t depth, std::size_t columns) {
  return dense_tile(reinterpret_cast<const std::byte*>(values.data()), dtype, depth,
                    static_cast<std::ptrdiff_t>(columns * sizeof(T)), columns);
}

// Bits of the product, computed in rows `gap` floats apart whose gaps must come out untouched.
std::vector<std::uint32_t> product_bits(const EdgeTile& tile, PackedStationary& stationary, PackedMoving& moving,
                                        std::size_t gap) {
  const std::size_t stride = tile.columns + gap;
  std::vector<float> out(tile.rows * stride, -77.0F);
  for (std::size_t i = 0; i < tile.before.size(); ++i)
    out[i / tile.columns * stride + i % tile.columns] = tile.before[i];
  stationary.pack(tile_of(tile.stationary, DType::fp32, tile.depth, tile.rows));
  moving.pack(tile_of(tile.moving, DType::fp32, tile.depth, tile.columns), stationary);
  multiply(stationary, moving, out.data(), static_cast<std::ptrdiff_t>(stride), tile.accumulate);
  std::vector<std::uint32_t> bits;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (i % stride < tile.columns)
      bits.push_back(std::bit_cast<std::uint32_t>(out[i]));
    else
      EXPECT_EQ(out[i], -77.0F) << "gap of row " << i / stride;
  return bits;
}

// Shapes by class: whole tiles, ragged ones, few rows, single elements, depths around the blocking of the row kernel.
EdgeTile random_tile(Random& random, int index) {
  switch (index % 5) {
    case 0:
      return edge_tile(random, random.between(1, 160), random.between(1, 140), random.between(1, 100));
    case 1:
      return edge_tile(random, random.between(1, 40), random.between(1, 4), random.between(1, 1100));
    case 2:
      return edge_tile(random, 128, 48 * random.between(1, 2), 64);
    case 3:
      return edge_tile(random, random.between(0, 17), random.between(1, 20), random.between(1, 40));
    default:
      return edge_tile(random, random.between(100, 128), random.between(5, 8), random.between(1, 520));
  }
}

// 300 random tiles on one instruction set. The packed operands are reused, as a model does, so stale padding would be
// seen.
void check_random_tiles(SimdLevel level) {
  if (!simd_supported(level)) GTEST_SKIP() << "this processor has no " << name(level);
  set_simd_level(level);
  PackedStationary stationary;
  PackedMoving moving;
  for (int index = 0; index < 300; ++index) {
    Random random(1000 + static_cast<std::uint64_t>(index));
    const EdgeTile tile = random_tile(random, index);
    SCOPED_TRACE("seed " + std::to_string(1000 + index) + ": K=" + std::to_string(tile.depth) +
                 " M=" + std::to_string(tile.rows) + " N=" + std::to_string(tile.columns));
    ASSERT_EQ(product_bits(tile, stationary, moving, static_cast<std::size_t>(index % 3)), reference_bits(tile));
  }
}

TEST(OrderedGemm, RandomTilesScalar) { check_random_tiles(SimdLevel::scalar); }
TEST(OrderedGemm, RandomTilesSse2) { check_random_tiles(SimdLevel::sse2); }
TEST(OrderedGemm, RandomTilesAvx2) { check_random_tiles(SimdLevel::avx2); }
TEST(OrderedGemm, RandomTilesAvx512) { check_random_tiles(SimdLevel::avx512); }

// One output from depth terms, by hand.
float dot(const std::vector<float>& a, const std::vector<float>& b, std::size_t rows = 8) {
  EdgeTile tile{a.size(), rows, 1, false, {}, b, std::vector<float>(rows)};
  for (const float value : a) tile.stationary.insert(tile.stationary.end(), rows, value);
  PackedStationary stationary;
  PackedMoving moving;
  return std::bit_cast<float>(product_bits(tile, stationary, moving, 0).front());
}

TEST(OrderedGemm, OrderAndRoundingByHand) {
  for (const SimdLevel level : all_simd_levels) {
    if (!simd_supported(level)) continue;
    set_simd_level(level);
    SCOPED_TRACE(std::string(name(level)));
    for (const std::size_t rows : {std::size_t{1}, std::size_t{8}}) {
      // 2^24 + 1 = 2^24 in fp32, so 1 is lost where it comes second and kept where it comes last.
      EXPECT_EQ(dot({0x1p24F, 1, -0x1p24F}, {1, 1, 1}, rows), 0.0F);
      EXPECT_EQ(dot({0x1p24F, -0x1p24F, 1}, {1, 1, 1}, rows), 1.0F);
      // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 rounds to 1 + 2^-11; a fused step would keep the 2^-24.
      EXPECT_EQ(dot({-(1 + 0x1p-11F), 1 + 0x1p-12F}, {1, 1 + 0x1p-12F}, rows), 0.0F);
      // Each product overflows before it is added: infinity - infinity. Fused, the second would be finite and infinity
      // stay.
      EXPECT_EQ(std::bit_cast<std::uint32_t>(dot({0x1p100F, 0x1p100F}, {0x1p100F, -0x1p100F}, rows)), 0x7fc00000U);
      // From +0: a sum of negative zeros is +0.
      EXPECT_EQ(std::bit_cast<std::uint32_t>(dot({-0.0F, -0.0F}, {1, 1}, rows)), 0U);
      // Subnormal products are kept.
      EXPECT_EQ(dot({0x1p-100F}, {0x1p-49F}, rows), 0x1p-149F);
    }
  }
}

TEST(OrderedGemm, OverwriteAndAccumulate) {
  const std::vector<float> a(5, 1.0F), b(1, 3.0F);
  PackedStationary stationary;
  stationary.pack(tile_of(a, DType::fp32, 1, 5));
  PackedMoving moving;
  moving.pack(tile_of(b, DType::fp32, 1, 1), stationary);
  std::vector<float> out(5, 10.0F);
  multiply(stationary, moving, out.data(), 1, true);
  EXPECT_THAT(out, ::testing::Each(13.0F));
  multiply(stationary, moving, out.data(), 1, false);
  EXPECT_THAT(out, ::testing::Each(3.0F));
}

// A stride-2 window of bf16 rows in a memory of partitions, against indices worked out here.
TEST(OrderedGemm, MovingFromAStridedWindow) {
  constexpr std::size_t depth = 7, rows = 9, pitch = 600;
  std::vector<std::uint16_t> memory(depth * pitch);
  for (std::size_t i = 0; i < memory.size(); ++i)  // small integers are exact in bf16: the upper half of their fp32
    memory[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(i % 113)) >> 16);
  std::vector<float> weights(depth * rows);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) - 2;
  StridedTile window = tile_of(memory, DType::bf16, depth, pitch);
  window.base += std::ptrdiff_t{3} * 2;
  window.dims[0] = {4, 40};
  window.dims[1] = {11, 2};
  window.dim_count = 2;
  PackedStationary stationary;
  stationary.pack(tile_of(weights, DType::fp32, depth, rows));
  PackedMoving moving;
  moving.pack(window, stationary);
  memory.assign(memory.size(), 0x7fc0);  // packed is a copy: what happens to the source now is not seen
  std::vector<float> out(rows * 44);
  multiply(stationary, moving, out.data(), 44, false);
  for (std::size_t m = 0; m < rows; ++m)
    for (std::size_t n = 0; n < 44; ++n) {
      std::size_t expected = 1000000;  // an offset, to stay unsigned
      for (std::size_t k = 0; k < depth; ++k) {
        const std::size_t value = (k * pitch + 3 + n / 11 * 40 + n % 11 * 2) % 113;
        expected = expected + value * ((k * rows + m) % 5) - 2 * value;
      }
      ASSERT_EQ(out[m * 44 + n], static_cast<float>(expected) - 1000000.0F) << m << "," << n;
    }
}

TEST(OrderedGemm, OperandsThatDoNotBelongTogether) {
  const std::vector<float> values(64, 1.0F);
  std::vector<float> out(64);
  PackedStationary stationary, narrow, empty;
  PackedMoving moving;
  EXPECT_THROW(moving.pack(tile_of(values, DType::fp32, 4, 8), empty), Defect);
  stationary.pack(tile_of(values, DType::fp32, 4, 8));
  moving.pack(tile_of(values, DType::fp32, 3, 8), stationary);
  try {
    multiply(stationary, moving, out.data(), 8, false);
    FAIL() << "accepted";
  } catch (const Defect& defect) {
    EXPECT_STREQ(defect.what(), "tile multiply of 4 stationary by 3 moving partitions");
  }
  narrow.pack(tile_of(values, DType::fp32, 3, 2));
  EXPECT_THROW(multiply(narrow, moving, out.data(), 8, false), Defect);
  set_simd_level(SimdLevel::scalar);
  stationary.pack(tile_of(values, DType::fp32, 4, 8));
  moving.pack(tile_of(values, DType::fp32, 4, 8), stationary);
  set_simd_level(SimdLevel::sse2);
  stationary.pack(tile_of(values, DType::fp32, 4, 8));
  EXPECT_THROW(multiply(stationary, moving, out.data(), 8, false), Defect);
}

TEST(Simd, EnvironmentChooses) {
  setenv("TILEVP_SIMD", "sse2", 1);
  EXPECT_EQ(simd_level(), SimdLevel::sse2);
  set_simd_level(SimdLevel::scalar);
  EXPECT_EQ(simd_level(), SimdLevel::scalar) << "a choice made by the program wins";
}

TEST(Simd, WidestByDefault) {
  unsetenv("TILEVP_SIMD");
  SimdLevel widest = SimdLevel::sse2;
  if (__builtin_cpu_supports("avx2") != 0) widest = SimdLevel::avx2;
  if (__builtin_cpu_supports("avx512f") != 0) widest = SimdLevel::avx512;
  EXPECT_EQ(simd_level(), widest);
}

TEST(Simd, UnknownNameIsTheUsersMistake) {
  setenv("TILEVP_SIMD", "neon", 1);
  try {
    simd_level();
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "TILEVP_SIMD: unknown instruction set 'neon', expected one of scalar, sse2, avx2, avx512");
  }
}

TEST(Simd, UnsupportedLevelIsTheUsersMistake) {
  if (simd_supported(SimdLevel::avx512)) GTEST_SKIP() << "every level is supported on this processor";
  EXPECT_THROW(set_simd_level(SimdLevel::avx512), UserError);
  setenv("TILEVP_SIMD", "avx512", 1);
  EXPECT_THROW(simd_level(), UserError);
}

}  // namespace
}  // namespace tilevp::numeric
