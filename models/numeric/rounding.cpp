#include "tilevp/numeric/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "tilevp/numeric/round_up.hpp"

namespace tilevp::numeric {
namespace {

constexpr std::uint32_t infinity_fp32 = 0x7f800000;

// fp32 to sign, `exponent_bits`, `fraction_bits`, right-aligned.
std::uint32_t narrow(std::uint32_t bits, int exponent_bits, int fraction_bits, Rounding rounding, Overflow overflow) {
  const bool negative = (bits >> 31) != 0;
  const std::uint32_t sign = std::uint32_t{negative} << (exponent_bits + fraction_bits);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << fraction_bits;
  if (magnitude > infinity_fp32) return infinity | (1U << (fraction_bits - 1));
  if (magnitude == infinity_fp32) return sign | (overflow == Overflow::saturate ? infinity - 1 : infinity);

  // magnitude = significand * 2^(exponent - 23)
  const int field = static_cast<int>(magnitude >> 23);
  const std::uint32_t significand = (magnitude & 0x7fffff) | (field != 0 ? 0x800000U : 0U);
  const int exponent = std::max(field, 1) - 127;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int lowest = 1 - bias;  // exponent of the smallest normal number
  if (exponent > bias) {
    return sign | (overflows_to_infinity(rounding, overflow, negative) ? infinity : infinity - 1);
  }
  const int quantum = std::max(exponent, lowest);
  // More than 25 places below the quantum everything is cut off: a sticky bit decides.
  const int shift = std::min(23 - fraction_bits + quantum - exponent, 26);
  const std::uint32_t remainder = significand & ((1U << shift) - 1);
  std::uint32_t kept = significand >> shift;
  kept += rounds_up(rounding, negative, (kept & 1) != 0, remainder, 1U << (shift - 1)) ? 1U : 0U;
  // The leading one of a normal number, and a carry out of the fraction, add themselves to the exponent field.
  const std::uint32_t result = (static_cast<std::uint32_t>(quantum - lowest) << fraction_bits) + kept;
  return sign | (overflow == Overflow::saturate ? std::min(result, infinity - 1) : result);
}

}  // namespace

std::string_view name(Rounding rounding) {
  constexpr std::string_view names[] = {"rne", "rtz", "rtm", "rtp", "rna", "rto", "rhb"};
  return names[static_cast<std::size_t>(rounding)];
}

std::uint16_t to_bf16(float value, Rounding rounding, Overflow overflow) {
  return static_cast<std::uint16_t>(narrow(std::bit_cast<std::uint32_t>(value), 8, 7, rounding, overflow));
}

std::uint16_t to_fp16(float value, Rounding rounding, Overflow overflow) {
  return static_cast<std::uint16_t>(narrow(std::bit_cast<std::uint32_t>(value), 5, 10, rounding, overflow));
}

float to_tf32(float value, Rounding rounding, Overflow overflow) {
  return std::bit_cast<float>(narrow(std::bit_cast<std::uint32_t>(value), 8, 10, rounding, overflow) << 13);
}

double to_integer(double value, Rounding rounding) {
  if (!(std::fabs(value) < 0x1p52)) return value;  // no fraction beyond
  const bool negative = std::signbit(value);
  const double magnitude = std::fabs(value);
  const double kept = std::floor(magnitude);
  const double fraction = magnitude - kept;  // exact
  const std::uint64_t quarters = fraction == 0.0 ? 0 : fraction < 0.5 ? 1 : fraction == 0.5 ? 2 : 3;
  const bool odd = (static_cast<std::uint64_t>(kept) & 1) != 0;
  const double rounded = kept + (rounds_up(rounding, negative, odd, quarters, 2) ? 1.0 : 0.0);
  return negative ? -rounded : rounded;
}

double to_integer(float value, Rounding rounding) { return to_integer(static_cast<double>(value), rounding); }

float from_fp16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {  // zero or subnormal: a multiple of 2^-24, exact in fp32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

}  // namespace tilevp::numeric
