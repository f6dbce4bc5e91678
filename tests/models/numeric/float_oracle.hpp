#pragma once
// What a narrow float format holds and how a value rounds to it, by search in a table of doubles. It shares nothing
// with the code under test: no bit of an fp32 is looked at, every comparison is between doubles that are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tilevp/numeric/rounding.hpp"

namespace tilevp::numeric::testing {

class FloatOracle {
 public:
  FloatOracle(int exponent_bits, int fraction_bits) : exponent_bits_(exponent_bits), fraction_bits_(fraction_bits) {
    for (std::uint32_t code = 0; code < infinity(); ++code) magnitudes_.push_back(finite(code));
    magnitudes_.push_back(std::ldexp(1.0, 1 << (exponent_bits - 1)));  // where the next binade would begin
  }

  std::uint32_t infinity() const { return ((1U << exponent_bits_) - 1) << fraction_bits_; }
  std::uint32_t sign() const { return 1U << (exponent_bits_ + fraction_bits_); }
  // Ascending: code c of a non-negative finite number has magnitude magnitudes()[c].
  const std::vector<double>& magnitudes() const { return magnitudes_; }

  // The value of any code; NaN for NaN.
  double value(std::uint32_t code) const {
    const std::uint32_t magnitude = code & (sign() - 1);
    double result = std::numeric_limits<double>::quiet_NaN();
    if (magnitude < infinity()) result = magnitudes_[magnitude];
    if (magnitude == infinity()) result = std::numeric_limits<double>::infinity();
    return (code & sign()) != 0 ? -result : result;
  }

  // The code `value` rounds to. NaN is not asked.
  std::uint32_t round(double value, Rounding rounding, bool saturate) const {
    const double magnitude = std::fabs(value);
    const std::uint32_t sign_bit = std::signbit(value) ? sign() : 0;
    const std::uint32_t largest = infinity() - 1;
    if (std::isinf(value)) return sign_bit | (saturate ? largest : infinity());
    const std::uint32_t code = round_magnitude(magnitude, std::signbit(value), rounding);
    return sign_bit | (saturate ? std::min(code, largest) : code);
  }

 private:
  double finite(std::uint32_t code) const {
    const int bias = (1 << (exponent_bits_ - 1)) - 1;
    const int field = static_cast<int>(code >> fraction_bits_);
    const double fraction = static_cast<double>(code & ((1U << fraction_bits_) - 1)) / (1 << fraction_bits_);
    return field == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, field - bias);
  }

  std::uint32_t round_magnitude(double magnitude, bool negative, Rounding rounding) const {
    // Neighbours: magnitudes_[below] <= magnitude < magnitudes_[below + 1], the last standing for infinity.
    if (!(magnitudes_[last_] <= magnitude &&
          magnitude < magnitudes_[last_ + 1])) {  // sweeps ask for neighbours in turn
      const auto after = std::upper_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
      last_ = std::min(static_cast<std::uint32_t>(after - magnitudes_.begin()), infinity()) - 1;
    }
    const std::uint32_t below = last_;
    if (magnitudes_[below] == magnitude) return below;
    const std::uint32_t above = below + 1;
    const std::uint32_t up = negative ? below : above;  // toward +infinity
    const std::uint32_t down = negative ? above : below;
    const double middle = (magnitudes_[below] + magnitudes_[above]) / 2;
    const std::uint32_t nearest = magnitude < middle ? below : above;
    const bool tie = magnitude == middle;
    const std::uint32_t even = below % 2 == 0 ? below : above;
    switch (rounding) {
      case Rounding::rne:
        return tie ? even : nearest;
      case Rounding::rtz:
        return below;
      case Rounding::rtm:
        return down;
      case Rounding::rtp:
        return up;
      case Rounding::rna:
        return tie ? above : nearest;
      case Rounding::rto:
        return even == below ? above : below;
      case Rounding::rhb:
        return tie ? up : nearest;
    }
    return 0;
  }

  int exponent_bits_;
  int fraction_bits_;
  std::vector<double> magnitudes_;
  mutable std::uint32_t last_ = 0;
};

inline const FloatOracle& bf16_oracle() {
  static const FloatOracle oracle(8, 7);
  return oracle;
}
inline const FloatOracle& fp16_oracle() {
  static const FloatOracle oracle(5, 10);
  return oracle;
}
inline const FloatOracle& tf32_oracle() {
  static const FloatOracle oracle(8, 10);
  return oracle;
}

// What the code under test makes of `value` in the format of `oracle`.
inline std::uint32_t narrow_by(const FloatOracle& oracle, float value, Rounding rounding, Overflow overflow) {
  if (&oracle == &bf16_oracle()) return to_bf16(value, rounding, overflow);
  if (&oracle == &fp16_oracle()) return to_fp16(value, rounding, overflow);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(to_tf32(value, rounding, overflow));
  EXPECT_EQ(bits & 0x1fff, 0U) << "tf32 keeps ten fraction bits";
  return bits >> 13;
}

}  // namespace tilevp::numeric::testing
