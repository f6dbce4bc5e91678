#pragma once
// Seeded random numbers: a generator of its own for every user, from (seed, name), so that nobody's draws move
// another's.
#include <cstdint>
#include <random>
#include <string_view>

namespace tilevp {

// FNV-1a of the name, mixed with the seed. The same on every host (std::hash is not).
constexpr std::uint64_t seed_for(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ seed;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

inline std::mt19937_64 generator_for(std::uint64_t seed, std::string_view name) {
  return std::mt19937_64(seed_for(seed, name));
}

// Uniform in [low, high], by rejection: std::uniform_int_distribution differs between standard libraries.
inline std::int64_t uniform_int(std::mt19937_64& generator, std::int64_t low, std::int64_t high) {
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (span == 0) return static_cast<std::int64_t>(generator());
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % span;
  std::uint64_t draw = generator();
  while (draw >= limit) draw = generator();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw % span);
}

}  // namespace tilevp
