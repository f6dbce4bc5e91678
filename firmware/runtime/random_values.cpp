#include "tilevp/runtime/random_values.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/base/random.hpp"

namespace tilevp::runtime {

RandomKind parse_random(const std::string& where, const std::string& text) {
  if (text == "integers") return RandomKind::integers;
  if (text == "normal") return RandomKind::normal;
  throw UserError(where, "expected integers or normal, found '" + text + "'");
}

RandomValues::RandomValues(RandomKind kind, std::uint64_t seed, std::string_view name)
    : kind_(kind), generator_(generator_for(seed, name)) {}

float RandomValues::next() {
  if (kind_ == RandomKind::integers) return static_cast<float>(uniform_int(generator_, -4, 4));
  constexpr std::uint64_t steps = 1U << 16;
  std::uint64_t sum = 0;
  for (int i = 0; i < 3; ++i)  // four uniform numbers of 16 bits in each draw
    for (std::uint64_t bits = generator_(), part = 0; part < 4; ++part, bits >>= 16) sum += bits % steps;
  return static_cast<float>(static_cast<double>(sum) / static_cast<double>(steps) - 6.0);
}

}  // namespace tilevp::runtime
