#pragma once
// Random tiles at the edges of fp32, and the ordered multiplication written down with volatile scalars: no product
// header, no optimisation, each intermediate forced to fp32. Shared by the tests and by the programs built at -O0 and
// -O3.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilevp::numeric::testing {

// splitmix64 (Steele, Lea, Flood 2014): the same numbers on every host and at every optimisation level.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // low .. high, both included.
  std::size_t between(std::size_t low, std::size_t high) { return low + next() % (high - low + 1); }

 private:
  std::uint64_t state_;
};

enum class Flavour { ordinary, near_overflow, subnormal, special };

// A value whose products are ordinary, near the ends of the range, or (one in sixteen) infinities, NaN and zeros.
inline float edge_value(Random& random, Flavour flavour) {
  const std::uint64_t bits = random.next();
  const auto sign = static_cast<std::uint32_t>(bits & 0x80000000);
  const auto fraction = static_cast<std::uint32_t>((bits >> 32) & 0x7fffff);
  std::uint32_t exponent = 120 + static_cast<std::uint32_t>(bits & 15);
  if (flavour == Flavour::near_overflow) exponent = 181 + static_cast<std::uint32_t>(bits & 15);  // products near 2^124
  if (flavour == Flavour::subnormal) exponent = static_cast<std::uint32_t>(bits & 3) * 36;        // 0: itself subnormal
  if (flavour == Flavour::special && (bits & 15) == 0) {
    const std::uint32_t specials[] = {0x7f800000, 0xffc12345, 0x7f800001, 0, 0, 0x00000001, 0x7f7fffff, 0x7f800000};
    return std::bit_cast<float>(sign | specials[(bits >> 8) & 7]);
  }
  return std::bit_cast<float>(sign | (exponent << 23) | fraction);
}

struct EdgeTile {
  std::size_t depth, rows, columns;
  bool accumulate;
  std::vector<float> stationary;  // [depth][rows]
  std::vector<float> moving;      // [depth][columns]
  std::vector<float> before;      // [rows][columns], what an accumulation finds
};

inline EdgeTile edge_tile(Random& random, std::size_t depth, std::size_t rows, std::size_t columns) {
  EdgeTile tile{depth, rows, columns, random.next() % 2 == 0, {}, {}, {}};
  const auto flavour = static_cast<Flavour>(random.next() % 4);
  const auto fill = [&](std::vector<float>& values, std::size_t count, Flavour kind) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(edge_value(random, kind));
  };
  fill(tile.stationary, depth * rows, flavour);
  // Special values on one side only, else every output of a deep tile is NaN.
  fill(tile.moving, depth * columns, flavour == Flavour::special ? Flavour::ordinary : flavour);
  fill(tile.before, rows * columns, flavour);
  return tile;
}

inline std::vector<std::uint32_t> reference_bits(const EdgeTile& tile) {
  std::vector<std::uint32_t> out;
  for (std::size_t m = 0; m < tile.rows; ++m)
    for (std::size_t n = 0; n < tile.columns; ++n) {
      volatile float sum = 0.0F;
      for (std::size_t k = 0; k < tile.depth; ++k) {
        volatile float product = tile.stationary[k * tile.rows + m] * tile.moving[k * tile.columns + n];
        sum = sum + product;
      }
      if (tile.accumulate) sum = tile.before[m * tile.columns + n] + sum;
      const float result = sum;
      out.push_back(std::isnan(result) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(result));
    }
  return out;
}

// FNV-1a over 32-bit words.
class Hash {
 public:
  void add(std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) value_ = (value_ ^ ((word >> shift) & 0xff)) * 0x100000001b3ULL;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace tilevp::numeric::testing
