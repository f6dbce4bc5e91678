#pragma once
// One step of a sum of floats by its definition, for every rounding: what the vector loops must equal, and what takes
// their place where they do not reach. The product of two fp32 is exact in a double; so is what the sum needs
// (numeric::sum_to_odd).
#include <bit>
#include <cmath>

#include "tilevp/cube/matrix_operation.hpp"
#include "tilevp/numeric/narrow_float.hpp"

namespace tilevp::cube {

class OrderedSum {
 public:
  OrderedSum(Accumulate accumulate, numeric::Rounding rounding, bool saturate)
      : fused_(accumulate == Accumulate::fma),
        rounding_(rounding),
        overflow_(saturate ? numeric::Overflow::saturate : numeric::Overflow::infinite) {}

  float add_product(float sum, float a, float b) const {
    const double product = static_cast<double>(a) * static_cast<double>(b);
    const double term = fused_ ? product : static_cast<double>(round(product));
    return round(numeric::sum_to_odd(static_cast<double>(sum), term));
  }

 private:
  float round(double value) const {
    if (value == 0.0) return 0.0F;                                // +0
    if (!std::isfinite(value)) return static_cast<float>(value);  // of an operand: saturation is of finite numbers
    return std::bit_cast<float>(numeric::encode(numeric::FloatFormat::fp32, value, rounding_, overflow_).code);
  }

  bool fused_;
  numeric::Rounding rounding_;
  numeric::Overflow overflow_;
};

// Whether fp32 holds every product of two finite values: rounding once and rounding twice are then the same.
// Of fp16 and the narrower types it does (22 bits, 2^-48 to 2^32).
constexpr bool products_are_exact(DataType a, DataType b) {
  const auto narrow = [](DataType type) { return type == DataType::fp16 || bits(type) <= 8; };
  return narrow(a) && narrow(b);
}

}  // namespace tilevp::cube
