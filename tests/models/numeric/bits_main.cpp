// bits tiles|conversions: a hash of what this build computes. Linked with the library's sources at one optimisation
// level.
#include <cstdio>
#include <cstring>

#include "models/numeric/bits_report.hpp"
#include "tilevp/numeric/ordered_gemm.hpp"

namespace tilevp::numeric {
namespace {

StridedTile tile_of(const std::vector<float>& values, std::size_t depth, std::size_t columns) {
  return dense_tile(reinterpret_cast<const std::byte*>(values.data()), DType::fp32, depth,
                    static_cast<std::ptrdiff_t>(columns * sizeof(float)), columns);
}

}  // namespace

std::string product_line() {
  testing::Hash hash;
  PackedStationary stationary;
  PackedMoving moving;
  testing::for_bits_tiles([&](const testing::EdgeTile& tile) {
    std::vector<float> out = tile.before;
    stationary.pack(tile_of(tile.stationary, tile.depth, tile.rows));
    moving.pack(tile_of(tile.moving, tile.depth, tile.columns), stationary);
    multiply(stationary, moving, out.data(), static_cast<std::ptrdiff_t>(tile.columns), tile.accumulate);
    for (const float value : out) hash.add(std::bit_cast<std::uint32_t>(value));
  });
  return testing::tiles_line(hash);
}

}  // namespace tilevp::numeric

int main(int argc, char** argv) {
  const bool tiles = argc == 2 && std::strcmp(argv[1], "tiles") == 0;
  std::fputs((tiles ? tilevp::numeric::product_line() : tilevp::numeric::testing::conversions_line()).c_str(), stdout);
}
