#include "tilevp/runtime/value_text.hpp"

#include <cmath>

#include "tilevp/described/text.hpp"

namespace tilevp::runtime {

std::string value_text(double value) {
  return std::isfinite(value) ? described::number_text(value) : std::to_string(value);
}

std::string rounding_text(std::size_t rounded, std::size_t overflowed, std::size_t size, std::string_view type) {
  const std::string of_all = " of " + std::to_string(size) + " values ";
  const std::string name(type);
  if (rounded == overflowed) return std::to_string(overflowed) + of_all + "beyond " + name + " became infinite";
  const std::string rest = std::to_string(rounded - overflowed) + of_all + "rounded to " + name;
  return overflowed == 0 ? rest : rest + ", " + std::to_string(overflowed) + " beyond it became infinite";
}

}  // namespace tilevp::runtime
