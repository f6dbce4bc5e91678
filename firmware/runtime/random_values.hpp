#pragma once
// Random values of operands: the same for a seed and a name on every host.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace tilevp::runtime {

// integers: whole numbers from -4 to 4, whose sums of products are exact in fp32 up to a million terms. normal: nearly
// normal with mean 0 and variance 1 (the sum of twelve uniform numbers less 6).
enum class RandomKind : std::uint8_t { integers, normal };

// UserError(`where`) for another text.
RandomKind parse_random(const std::string& where, const std::string& text);

class RandomValues {
 public:
  RandomValues(RandomKind kind, std::uint64_t seed, std::string_view name);
  float next();

 private:
  RandomKind kind_;
  std::mt19937_64 generator_;
};

}  // namespace tilevp::runtime
