#include "tilevp/numeric/narrow_float.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tilevp/numeric/round_up.hpp"

namespace tilevp::numeric {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

constexpr float power_of_two(int exponent) {  // -126 to 127
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

// A finite code of sign, exponent field and fraction.
constexpr float decode_fields(std::uint32_t code, unsigned exponent_bits, unsigned fraction_bits, int bias) {
  const std::uint32_t field = code >> fraction_bits & ((1U << exponent_bits) - 1);
  const std::uint32_t fraction = code & ((1U << fraction_bits) - 1);
  const std::uint32_t significand = fraction | (field != 0 ? 1U << fraction_bits : 0U);
  const int exponent = static_cast<int>(std::max(field, 1U)) - bias - static_cast<int>(fraction_bits);
  const float magnitude = static_cast<float>(significand) * power_of_two(exponent);
  return (code >> (exponent_bits + fraction_bits) & 1) != 0 ? -magnitude : magnitude;
}

constexpr float decode_e4m3(std::uint32_t code) {
  if ((code & 0x7f) == 0x7f) return nan;
  return decode_fields(code, 4, 3, 7);
}

constexpr float decode_e5m2(std::uint32_t code) {
  const std::uint32_t magnitude = code & 0x7f;
  if (magnitude > 0x7c) return nan;
  if (magnitude == 0x7c) return (code & 0x80) != 0 ? -infinity : infinity;
  return decode_fields(code, 5, 2, 15);
}

// The dot field, a prefix code, says how long the exponent is, the exponent how much of the byte is left for the
// fraction. An exponent is a sign and a magnitude whose leading one is not stored.
constexpr float decode_hif8_magnitude(std::uint32_t body) {
  if (body == 0) return 0.0F;
  if (body == 0x6f) return infinity;
  if (body <= 7) return power_of_two(static_cast<int>(body) - 23);
  if (body <= 15) return 1.0F + static_cast<float>(body & 7) / 8.0F;
  const unsigned exponent_bits = body < 0x20 ? 1 : body < 0x40 ? 2 : body < 0x60 ? 3 : 4;
  const unsigned fraction_bits = exponent_bits < 3 ? 3 : 5 - exponent_bits;
  const std::uint32_t field = body >> fraction_bits & ((1U << exponent_bits) - 1);
  const std::uint32_t leading = 1U << (exponent_bits - 1);
  const int size = static_cast<int>(leading | (field & (leading - 1)));
  const std::uint32_t fraction = body & ((1U << fraction_bits) - 1);
  const float significand = 1.0F + static_cast<float>(fraction) / static_cast<float>(1U << fraction_bits);
  return significand * power_of_two((field & leading) != 0 ? -size : size);
}

constexpr float decode_hif8(std::uint32_t code) {
  if (code == 0x80) return nan;
  const float magnitude = decode_hif8_magnitude(code & 0x7f);
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

template <typename Decode>
constexpr std::array<float, 256> table_of(const Decode& decode_code) {
  std::array<float, 256> table{};
  for (std::uint32_t code = 0; code < 256; ++code) table[code] = decode_code(code);
  return table;
}
constexpr auto hif8_values = table_of(decode_hif8);
constexpr auto e4m3_values = table_of(decode_e4m3);
constexpr auto e5m2_values = table_of(decode_e5m2);
constexpr auto e3m2_values = table_of([](std::uint32_t code) { return decode_fields(code, 3, 2, 3); });
constexpr auto e2m3_values = table_of([](std::uint32_t code) { return decode_fields(code, 2, 3, 1); });
constexpr auto e2m1_values = table_of([](std::uint32_t code) { return decode_fields(code, 2, 1, 1); });
constexpr auto e1m2_values = table_of([](std::uint32_t code) { return decode_fields(code, 1, 2, 1); });

// The finite magnitudes of an 8-bit format in ascending order, with their codes. Codes alternate between even and odd.
struct Ladder {
  std::array<double, 127> magnitude{};
  std::array<std::uint8_t, 127> code{};
  double smallest_normal = 0;
};

constexpr Ladder ladder_of(const std::array<float, 256>& values, double smallest_normal) {
  Ladder ladder;
  std::size_t count = 0;
  for (std::uint32_t code = 0; code < 128; ++code)
    if (values[code] < infinity) ladder.code[count++] = static_cast<std::uint8_t>(code);
  std::sort(ladder.code.begin(), ladder.code.end(),
            [&](std::uint8_t a, std::uint8_t b) { return values[a] < values[b]; });
  for (std::size_t i = 0; i < count; ++i) ladder.magnitude[i] = static_cast<double>(values[ladder.code[i]]);
  ladder.smallest_normal = smallest_normal;
  return ladder;
}
constexpr Ladder e4m3_ladder = ladder_of(e4m3_values, 0x1p-6);
constexpr Ladder hif8_ladder = ladder_of(hif8_values, 0x1p-15);

Encoded encode_on(const Ladder& ladder, double value, Rounding rounding) {
  const double magnitude = std::fabs(value);
  const auto after = std::upper_bound(ladder.magnitude.begin(), ladder.magnitude.end(), magnitude);
  const auto below = static_cast<std::size_t>(after - ladder.magnitude.begin()) - 1;
  Encoded result{.code = ladder.code[below]};
  if (ladder.magnitude[below] == magnitude) return result;
  const double middle = (ladder.magnitude[below] + ladder.magnitude[below + 1]) / 2;  // exact
  const std::uint64_t quarters = magnitude < middle ? 1 : magnitude == middle ? 2 : 3;
  const bool odd = (result.code & 1) != 0;
  if (rounds_up(rounding, std::signbit(value), odd, quarters, 2)) result.code = ladder.code[below + 1];
  result.inexact = true;
  result.underflow = magnitude < ladder.smallest_normal;
  return result;
}

Encoded encode_e4m3(double value, Rounding rounding, Overflow overflow) {
  const std::uint32_t sign = std::signbit(value) ? 0x80 : 0;
  const std::uint32_t beyond = overflow == Overflow::saturate ? sign | 0x7e : 0x7f;
  if (value != value) return {.code = 0x7f};
  if (std::isinf(value)) return {.code = beyond};
  if (std::fabs(value) > 448.0) return {.code = beyond, .inexact = true, .overflow = true};
  Encoded result = encode_on(e4m3_ladder, value, rounding);
  result.code |= sign;
  return result;
}

Encoded encode_hif8(double value, Rounding rounding, Overflow overflow) {
  const std::uint32_t sign = std::signbit(value) ? 0x80 : 0;
  const std::uint32_t beyond = sign | (overflow == Overflow::saturate ? 0x6eU : 0x6fU);
  if (value != value) return {.code = 0x80};
  if (std::isinf(value)) return {.code = beyond};
  if (std::fabs(value) > 32768.0) return {.code = beyond, .inexact = true, .overflow = true};
  Encoded result = encode_on(hif8_ladder, value, rounding);
  if (result.code != 0) result.code |= sign;  // one zero: with the sign it would be NaN
  return result;
}

// An IEEE format: the same as rounding.cpp's narrow, from a double and with what happened.
Encoded encode_ieee(double value, int exponent_bits, int fraction_bits, Rounding rounding, Overflow overflow) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const std::uint32_t sign = std::uint32_t{negative} << (exponent_bits + fraction_bits);
  const std::uint32_t infinite = ((1U << exponent_bits) - 1) << fraction_bits;
  if (value != value) return {.code = infinite | (1U << (fraction_bits - 1))};
  if (std::isinf(value)) return {.code = sign | (overflow == Overflow::saturate ? infinite - 1 : infinite)};
  if (value == 0.0) return {.code = sign};

  // magnitude = significand * 2^(exponent - 52)
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t significand = (bits & 0xfffffffffffff) | (field != 0 ? std::uint64_t{1} << 52 : 0);
  const int exponent = std::max(field, 1) - 1023;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int lowest = 1 - bias;
  const std::uint32_t beyond = sign | (overflows_to_infinity(rounding, overflow, negative) ? infinite : infinite - 1);
  if (exponent > bias) return {.code = beyond, .inexact = true, .overflow = true};
  const int quantum = std::max(exponent, lowest);
  const int shift = std::min(52 - fraction_bits + quantum - exponent, 55);  // beyond, everything is cut off
  const std::uint64_t remainder = significand & ((std::uint64_t{1} << shift) - 1);
  std::uint64_t kept = significand >> shift;
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  // To the nearest even without a branch, which real data would make unpredictable.
  kept += rounding == Rounding::rne ? std::uint64_t{remainder + (kept & 1) > half}
                                    : std::uint64_t{rounds_up(rounding, negative, (kept & 1) != 0, remainder, half)};
  const std::uint32_t result =
      (static_cast<std::uint32_t>(quantum - lowest) << fraction_bits) + static_cast<std::uint32_t>(kept);
  if (result >= infinite) return {.code = beyond, .inexact = true, .overflow = true};
  return {.code = sign | result, .inexact = remainder != 0, .underflow = remainder != 0 && exponent < lowest};
}

}  // namespace

float decode(FloatFormat format, std::uint32_t code) {
  switch (format) {
    case FloatFormat::fp32:
      return std::bit_cast<float>(code);
    case FloatFormat::tf32:
      return std::bit_cast<float>(code & ~0x1fffU);
    case FloatFormat::hf32:
      return std::bit_cast<float>(code & ~0xfffU);
    case FloatFormat::fp16:
      return from_fp16(static_cast<std::uint16_t>(code));
    case FloatFormat::bf16:
      return from_bf16(static_cast<std::uint16_t>(code));
    default:
      return decoded(format)[code & 0xff];
  }
}

std::span<const float, 256> decoded(FloatFormat format) {
  switch (format) {
    case FloatFormat::hif8:
      return hif8_values;
    case FloatFormat::e4m3:
      return e4m3_values;
    case FloatFormat::e5m2:
      return e5m2_values;
    case FloatFormat::e3m2:
      return e3m2_values;
    case FloatFormat::e2m3:
      return e2m3_values;
    case FloatFormat::e2m1:
      return e2m1_values;
    case FloatFormat::e1m2:
      return e1m2_values;
    default:
      throw Defect("no table of this float format");
  }
}

Encoded encode(FloatFormat format, double value, Rounding rounding, Overflow overflow) {
  switch (format) {
    case FloatFormat::fp32:
      return encode_ieee(value, 8, 23, rounding, overflow);
    case FloatFormat::fp16:
      return encode_ieee(value, 5, 10, rounding, overflow);
    case FloatFormat::bf16:
      return encode_ieee(value, 8, 7, rounding, overflow);
    case FloatFormat::e4m3:
      return encode_e4m3(value, rounding, overflow);
    case FloatFormat::hif8:
      return encode_hif8(value, rounding, overflow);
    default:
      throw Defect("no result is written in this float format");
  }
}

double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  // What rounding cut off, exactly (Knuth's two-sum).
  const double part_of_b = sum - a;
  const double error = (a - (sum - part_of_b)) + (b - part_of_b);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0.0 || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((error > 0.0) == (sum > 0.0) ? bits + 1 : bits - 1);
}

}  // namespace tilevp::numeric
