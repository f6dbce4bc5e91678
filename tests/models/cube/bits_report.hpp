#pragma once
// A hash over what the matrix unit makes of random payloads: every type on either side, odd and whole shapes, both
// layouts, all ways of summing and converting. Compared between builds and instruction sets.
#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>

#include "models/cube/stored_tiles.hpp"
#include "tilevp/cube/prequant.hpp"

namespace tilevp::cube::testing {

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x100000001b3; }

inline std::uint64_t hash_of(std::uint64_t hash, const std::vector<std::byte>& bytes) {
  for (const std::byte byte : bytes) hash = mixed(hash, std::to_integer<std::uint64_t>(byte));
  return hash;
}

inline std::uint64_t bits_of_one(std::mt19937& random, DataType a_type, DataType b_type, std::uint64_t hash) {
  const auto below = [&](unsigned bound) { return static_cast<std::uint32_t>(random() % bound); };
  MatrixOperation op;
  op.a_type = a_type;
  op.b_type = b_type;
  op.accumulator = accumulator_of(numeric_class(a_type));
  op.m_layout = below(2) == 0 ? Layout::cube_m16 : Layout::cube_m32;
  op.m = below(3) == 0 ? 1 + below(16) : 1;
  op.n = 1 + below(150);
  op.k = 1 + below(70);
  const PreQuantMode* mode = nullptr;
  do mode = &prequant_modes[below(27)];
  while (!accepts(*mode, op.accumulator) || mode->parameter == Parameter::vector);
  op.post.prequant = mode->code;
  op.post.relu = static_cast<std::uint8_t>(below(3));
  op.post.row_max = true;
  op.slope_word = 0x1f400;
  op.quant_word = mode->shift ? 0 : std::uint64_t{0x1fd00} << scale_shift;
  op.d_type = result_type(*mode, op.accumulator);
  op.saturate = mode->may_saturate() && below(2) == 0;
  op.accumulate = static_cast<Accumulate>(below(3));
  op.c = below(2) == 0 ? std::optional<std::uint8_t>{1} : std::nullopt;
  const std::uint32_t seed = below(1000);
  const StoredTile a(op.m_layout, bits(a_type), op.m, op.k, seed);
  const StoredTile b(Layout::cube_n8, bits(b_type), op.k, op.n, seed + 1);
  const StoredTile c(op.m_layout, 32, op.m, op.n, seed + 2);
  StoredTile d(op.m_layout, bits(op.d_type), op.m, op.n, seed + 3);
  StoredTile row_max(Layout::row_major, 32, op.m, 1, seed + 4);
  MatrixOperands operands{.a = a.view(), .b = b.view()};
  operands.c = c.view();
  const std::uint8_t flags = execute(op, operands, {d.target(), row_max.target(), {}});
  return mixed(hash_of(hash_of(hash, d.bytes), row_max.bytes), flags);
}

inline std::string bits_line() {
  std::mt19937 random(4);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (unsigned a = 0; a < 32; ++a)
    for (unsigned b = 0; b < 32; ++b) {
      if (!is_assigned(a) || !is_assigned(b)) continue;
      const auto a_type = static_cast<DataType>(a), b_type = static_cast<DataType>(b);
      if (!is_ordinary(a_type) || !is_ordinary(b_type) || numeric_class(a_type) != numeric_class(b_type)) continue;
      for (int i = 0; i < 2; ++i) hash = bits_of_one(random, a_type, b_type, hash);
    }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64 "\n", hash);
  return text.data();
}

}  // namespace tilevp::cube::testing
