// The bits do not depend on the optimisation level or the vector width.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "models/numeric/bits_report.hpp"
#include "models/numeric/edge_tiles.hpp"
#include "models/numeric/wide_kernel_on_avx2.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::numeric {
namespace {

using testing::EdgeTile;
using testing::Random;

// Standard output of a program that must succeed.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot start " + command;
  std::string text;
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) text += line.data();
  return pclose(pipe) == 0 ? text : command + " failed after: " + text;
}

std::string reference_report() {
  testing::Hash hash;
  testing::for_bits_tiles([&](const EdgeTile& tile) {
    for (const std::uint32_t bits : testing::reference_bits(tile)) hash.add(bits);
  });
  return testing::tiles_line(hash);
}

TEST(SameBits, TilesAtO0AndO3OnEveryLevel) {
  const std::string expected = reference_report();
  for (const SimdLevel level : all_simd_levels) {
    if (!simd_supported(level)) continue;
    for (const char* program : {TILEVP_BITS_O0, TILEVP_BITS_O3})
      EXPECT_EQ(output_of("TILEVP_SIMD=" + std::string(name(level)) + " " + program + " tiles"), expected)
          << name(level) << " of " << program;
  }
}

// The conversions have no second implementation to hash here (convert_test and rounding_test prove their values); this
// library, built as usual, must agree with both other builds.
TEST(SameBits, ConversionsAtO0AndO3) {
  const std::string expected = testing::conversions_line();
  for (const char* program : {TILEVP_BITS_O0, TILEVP_BITS_O3})
    EXPECT_EQ(output_of(std::string(program) + " conversions"), expected) << program;
}

// [ceil(columns / width)][depth][width], zero padded, from [depth][columns].
std::vector<float> panels(const std::vector<float>& values, std::size_t depth, std::size_t columns, std::size_t width) {
  std::vector<float> out((columns + width - 1) / width * panel_stride(depth, width));
  for (std::size_t k = 0; k < depth; ++k)
    for (std::size_t c = 0; c < columns; ++c)
      out[c / width * panel_stride(depth, width) + k * width + c % width] = values[k * columns + c];
  return out;
}

TEST(SameBits, Avx512SourceCompiledForAvx2) {
  if (!simd_supported(SimdLevel::avx2)) GTEST_SKIP() << "this processor has no AVX2";
  const GemmKernel& kernel = wide_on_avx2::kernel;
  ASSERT_EQ(kernel.tile_rows, 16U);
  ASSERT_EQ(kernel.panel_columns, 16U);
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const bool few = seed % 3 == 0;
    const EdgeTile tile = testing::edge_tile(random, random.between(1, 130), random.between(1, few ? 4 : 50),
                                             random.between(1, few ? 700 : 60));
    std::vector<float> out = tile.before;
    const GemmOutput target{out.data(), static_cast<std::ptrdiff_t>(tile.columns), tile.accumulate};
    const auto stationary = panels(tile.stationary, tile.depth, tile.rows, kernel.tile_rows);
    if (few) {
      const std::size_t stride = (tile.columns + row_padding - 1) / row_padding * row_padding;
      std::vector<float> moving(tile.depth * stride);
      for (std::size_t i = 0; i < tile.moving.size(); ++i)
        moving[i / tile.columns * stride + i % tile.columns] = tile.moving[i];
      kernel.multiply_rows(
          {stationary.data(), kernel.tile_rows, moving.data(), stride, tile.depth, tile.rows, tile.columns, target});
    } else {
      const auto moving = panels(tile.moving, tile.depth, tile.columns, kernel.panel_columns);
      kernel.multiply_panels({stationary.data(), moving.data(), tile.depth, tile.rows, tile.columns, target});
    }
    std::vector<std::uint32_t> bits(out.size());
    std::memcpy(bits.data(), out.data(), out.size() * sizeof(float));
    ASSERT_EQ(bits, testing::reference_bits(tile)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tilevp::numeric
