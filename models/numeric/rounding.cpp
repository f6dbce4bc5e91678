#include "tilevp/numeric/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "tilevp/base/errors.hpp"

namespace tilevp::numeric {
namespace {

constexpr std::uint32_t infinity_fp32 = 0x7f800000;

// Whether the kept part of a magnitude goes up by one unit. `remainder` is what is cut off and `half` its middle.
bool rounds_up(Rounding rounding, bool negative, bool odd, std::uint32_t remainder, std::uint32_t half) {
  if (remainder == 0) return false;
  switch (rounding) {
    case Rounding::rne:
      return remainder > half || (remainder == half && odd);
    case Rounding::rtz:
      return false;
    case Rounding::rtm:
      return negative;
    case Rounding::rtp:
      return !negative;
    case Rounding::rna:
      return remainder >= half;
    case Rounding::rto:
      return !odd;
    case Rounding::rhb:
      return remainder > half || (remainder == half && !negative);
  }
  throw Defect("rounding outside its enumeration");
}

// Whether a finite magnitude that rounds beyond the largest finite number becomes infinity.
bool overflows_to_infinity(Rounding rounding, bool negative) {
  switch (rounding) {
    case Rounding::rne:
    case Rounding::rna:
    case Rounding::rhb:
      return true;
    case Rounding::rtz:
    case Rounding::rto:
      return false;
    case Rounding::rtm:
      return negative;
    case Rounding::rtp:
      return !negative;
  }
  throw Defect("rounding outside its enumeration");
}

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
    const bool to_infinity = overflow == Overflow::ieee && overflows_to_infinity(rounding, negative);
    return sign | (to_infinity ? infinity : infinity - 1);
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

double to_integer(float value, Rounding rounding) {
  // A float of 2^23 or more has no fraction; below, floor and the differences are exact in double.
  if (!(std::fabs(value) < 8388608.0F)) return static_cast<double>(value);
  const double exact = static_cast<double>(value);
  const bool negative = std::signbit(exact);
  const double magnitude = std::fabs(exact);
  const double kept = std::floor(magnitude);
  // In units of 2^-25, the last place of the floats just below 0.5; what is smaller only has to be seen as inexact.
  const auto remainder = static_cast<std::uint32_t>(std::ceil((magnitude - kept) * 0x1p25));
  const bool odd = (static_cast<std::uint32_t>(kept) & 1) != 0;
  const double rounded = kept + (rounds_up(rounding, negative, odd, remainder, 1U << 24) ? 1.0 : 0.0);
  return negative ? -rounded : rounded;
}

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
