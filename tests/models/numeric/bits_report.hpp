#pragma once
// What the programs built at -O0 and -O3 print, and the test expects.
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "models/numeric/edge_tiles.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::numeric::testing {

inline std::string hash_line(const char* what, const Hash& hash) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s %016" PRIx64 "\n", what, hash.value());
  return text.data();
}

inline std::string tiles_line(const Hash& hash) { return hash_line("tiles", hash); }

template <typename Visit>
void for_bits_tiles(const Visit& visit) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const std::size_t most_rows = seed % 4 == 0 ? 4 : 70;
    visit(edge_tile(random, random.between(1, 130), random.between(1, most_rows), random.between(1, 90)));
  }
}

// Rows of random bit patterns through every type, stride and rounding, both ways.
inline std::string conversions_line() {
  constexpr std::size_t count = 1003;
  Hash hash;
  Random random(99);
  std::vector<float> values(count);
  std::vector<std::byte> bytes(12 * count + 1);
  for (const DType dtype : all_dtypes)
    for (const std::ptrdiff_t stride : {1, 2, 3})
      for (const Rounding rounding : all_roundings) {
        for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
        store_from_fp32(dtype, values.data(), count, bytes.data() + 1, stride, rounding);
        for (const std::byte byte : bytes) hash.add(static_cast<std::uint32_t>(byte));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() & 0xff);
        load_as_fp32(dtype, bytes.data() + 1, count, stride, values.data());
        for (const float value : values) hash.add(std::bit_cast<std::uint32_t>(value));
      }
  return hash_line("conversions", hash);
}

}  // namespace tilevp::numeric::testing
