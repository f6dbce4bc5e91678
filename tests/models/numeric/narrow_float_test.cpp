#include "tilevp/numeric/narrow_float.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "models/numeric/float_oracle.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::numeric {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Values of all codes with the sign clear, by the text of the formats. NaN where the code is none.
std::vector<double> values_of(FloatFormat format) {
  std::vector<double> values;
  const auto fields = [&](int exponent_bits, int fraction_bits, int bias) {
    for (int field = 0; field < 1 << exponent_bits; ++field)
      for (int fraction = 0; fraction < 1 << fraction_bits; ++fraction) {
        const double part = std::ldexp(fraction, -fraction_bits);
        values.push_back(field == 0 ? std::ldexp(part, 1 - bias) : std::ldexp(1 + part, field - bias));
      }
  };
  switch (format) {
    case FloatFormat::e4m3:
      fields(4, 3, 7);
      values.back() = std::nan("");
      return values;
    case FloatFormat::e5m2:
      fields(5, 2, 15);
      values[0x7c] = infinity;
      values[0x7d] = values[0x7e] = values[0x7f] = std::nan("");
      return values;
    case FloatFormat::e3m2:
      fields(3, 2, 3);
      return values;
    case FloatFormat::e2m3:
      fields(2, 3, 1);
      return values;
    case FloatFormat::e2m1:
      return {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    case FloatFormat::e1m2:
      return {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75};
    default:
      break;
  }
  // HiF8: denormal 2^-22 .. 2^-16, then exponent 0 and pairs of +-E with 3, 3, 3, 2 and 1 fraction bits.
  values.push_back(0);
  for (int exponent = -22; exponent <= -16; ++exponent) values.push_back(std::ldexp(1.0, exponent));
  const auto binade = [&](int exponent, int fraction_bits) {
    for (int fraction = 0; fraction < 1 << fraction_bits; ++fraction)
      values.push_back(std::ldexp(1 + std::ldexp(fraction, -fraction_bits), exponent));
  };
  binade(0, 3);
  for (const int exponent : {1, -1, 2, 3, -2, -3}) binade(exponent, 3);
  for (const int exponent : {4, 5, 6, 7, -4, -5, -6, -7}) binade(exponent, 2);
  for (const int exponent : {8, 9, 10, 11, 12, 13, 14, 15}) binade(exponent, 1);
  for (const int exponent : {-8, -9, -10, -11, -12, -13, -14, -15}) binade(exponent, 1);
  values[0x6f] = infinity;
  return values;
}

constexpr FloatFormat small_formats[] = {FloatFormat::hif8, FloatFormat::e4m3, FloatFormat::e5m2, FloatFormat::e3m2,
                                         FloatFormat::e2m3, FloatFormat::e2m1, FloatFormat::e1m2};

bool same(double a, double b) { return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b)); }

TEST(NarrowFloat, EveryCodeOfTheSmallFormats) {
  for (const FloatFormat format : small_formats) {
    const std::vector<double> values = values_of(format);
    const auto sign = static_cast<std::uint32_t>(values.size());
    for (std::uint32_t code = 0; code < sign; ++code) {
      EXPECT_TRUE(same(static_cast<double>(decode(format, code)), values[code]))
          << static_cast<int>(format) << ' ' << code;
      const bool one_zero = format == FloatFormat::hif8 && code == 0;  // 0x80 is NaN
      const double negative = one_zero ? std::nan("") : -values[code];
      EXPECT_TRUE(same(static_cast<double>(decode(format, code | sign)), negative))
          << static_cast<int>(format) << " -" << code;
      EXPECT_TRUE(same(static_cast<double>(decoded(format)[code]), values[code]));
    }
  }
}

TEST(NarrowFloat, LargestAndSmallest) {
  EXPECT_EQ(decode(FloatFormat::e4m3, 0x7e), 448.0F);
  EXPECT_EQ(decode(FloatFormat::e5m2, 0x7b), 57344.0F);
  EXPECT_EQ(decode(FloatFormat::e3m2, 0x1f), 28.0F);
  EXPECT_EQ(decode(FloatFormat::e2m3, 0x3f), -7.5F);
  EXPECT_EQ(decode(FloatFormat::hif8, 0x6e), 32768.0F);
  EXPECT_EQ(decode(FloatFormat::hif8, 0x01), 0x1p-22F);
  EXPECT_EQ(decode(FloatFormat::e2m1, 0xf7), 6.0F) << "the upper four bits are another element's";
}

TEST(NarrowFloat, SixteenAndThirtyTwoBits) {
  EXPECT_EQ(decode(FloatFormat::fp16, 0x0001), 0x1p-24F);
  EXPECT_EQ(decode(FloatFormat::bf16, 0xc040), -3.0F);
  EXPECT_EQ(decode(FloatFormat::fp32, 0x00000001), 0x1p-149F);
  EXPECT_EQ(decode(FloatFormat::tf32, 0x3f803fff), 1.0F + 0x1p-10F);
  EXPECT_EQ(decode(FloatFormat::hf32, 0x3f803fff), 1.0F + 0x1.8p-10F);
}

// What `magnitude` rounds to among ascending magnitudes, as an index; the last stands for what is too large.
std::size_t round_on(const std::vector<double>& ladder, double magnitude, bool negative, Rounding rounding) {
  const auto below =
      static_cast<std::size_t>(std::upper_bound(ladder.begin(), ladder.end(), magnitude) - ladder.begin()) - 1;
  if (ladder[below] == magnitude) return below;
  const double middle = (ladder[below] + ladder[below + 1]) / 2;
  const bool up = rounding == Rounding::rne   ? magnitude > middle || (magnitude == middle && below % 2 == 1)
                  : rounding == Rounding::rtz ? false
                  : rounding == Rounding::rtm ? negative
                  : rounding == Rounding::rtp ? !negative
                  : rounding == Rounding::rna ? magnitude >= middle
                  : rounding == Rounding::rto ? below % 2 == 0
                                              : magnitude > middle || (magnitude == middle && !negative);
  return up ? below + 1 : below;
}

// Every finite number, every middle, and both one unit of a double away, in every rounding.
template <typename Check>
void for_critical(const std::vector<double>& ladder, const Check& check) {
  for (std::size_t i = 0; i + 1 < ladder.size(); ++i)
    for (const double point : {ladder[i], (ladder[i] + ladder[i + 1]) / 2})
      for (const double magnitude : {std::nextafter(point, 0.0), point, std::nextafter(point, infinity)})
        for (const double value : {magnitude, -magnitude})
          for (const Rounding rounding : all_roundings) check(value, rounding);
}

TEST(NarrowFloat, EightBitResultsAtEveryNumberAndMiddle) {
  for (const FloatFormat format : {FloatFormat::e4m3, FloatFormat::hif8}) {
    const std::vector<double> values = values_of(format);
    std::map<double, std::uint32_t> codes;
    for (std::uint32_t code = 0; code < values.size(); ++code)
      if (values[code] < infinity) codes[values[code]] = code;
    std::vector<double> ladder;
    for (const auto& [value, code] : codes) ladder.push_back(value);
    const double smallest_normal = format == FloatFormat::e4m3 ? 0x1p-6 : 0x1p-15;
    const bool e4m3 = format == FloatFormat::e4m3;
    for_critical(ladder, [&](double value, Rounding rounding) {
      const std::uint32_t sign = std::signbit(value) ? 0x80 : 0;
      const std::size_t index = round_on(ladder, std::fabs(value), std::signbit(value), rounding);
      const std::uint32_t code = codes[ladder[index]];
      const bool inexact = ladder[index] != std::fabs(value);
      const Encoded expected{.code = code == 0 && !e4m3 ? 0 : sign | code,
                             .inexact = inexact,
                             .underflow = inexact && std::fabs(value) < smallest_normal};
      for (const Overflow overflow : {Overflow::ieee, Overflow::saturate, Overflow::infinite})
        ASSERT_EQ(encode(format, value, rounding, overflow), expected) << value << ' ' << name(rounding);
    });
    // One unit beyond the largest overflows, in every rounding.
    const double beyond = std::nextafter(ladder.back(), infinity);
    const std::uint32_t largest = codes[ladder.back()];
    for (const Rounding rounding : all_roundings) {
      EXPECT_EQ(encode(format, -beyond, rounding, Overflow::infinite),
                (Encoded{.code = e4m3 ? 0x7fU : 0xefU, .inexact = true, .overflow = true}));
      EXPECT_EQ(encode(format, -beyond, rounding, Overflow::saturate),
                (Encoded{.code = 0x80 | largest, .inexact = true, .overflow = true}));
    }
    EXPECT_EQ(encode(format, infinity, Rounding::rne, Overflow::saturate).code, largest);
    EXPECT_EQ(encode(format, infinity, Rounding::rne, Overflow::infinite).code, e4m3 ? 0x7fU : 0x6fU);
    EXPECT_EQ(encode(format, -std::nan(""), Rounding::rne, Overflow::infinite).code, e4m3 ? 0x7fU : 0x80U);
  }
}

TEST(NarrowFloat, SixteenBitResultsAtEveryNumberAndMiddle) {
  for (const bool bf16 : {false, true}) {
    const testing::FloatOracle& oracle = bf16 ? testing::bf16_oracle() : testing::fp16_oracle();
    const FloatFormat format = bf16 ? FloatFormat::bf16 : FloatFormat::fp16;
    const double smallest_normal = bf16 ? 0x1p-126 : 0x1p-14;
    for_critical(oracle.magnitudes(), [&](double value, Rounding rounding) {
      const std::uint32_t ieee = oracle.round(value, rounding, false);
      const std::uint32_t saturated = oracle.round(value, rounding, true);
      // Beyond the largest: where rounding with one more binade does not come back to it.
      const auto& ladder = oracle.magnitudes();
      const bool overflow =
          round_on(ladder, std::min(std::fabs(value), ladder.back()), std::signbit(value), rounding) + 1 ==
          ladder.size();
      const bool inexact = overflow || oracle.value(ieee) != value;
      const bool underflow = inexact && std::fabs(value) < smallest_normal;
      const Encoded expected{.code = ieee, .inexact = inexact, .overflow = overflow, .underflow = underflow};
      const Encoded got = encode(format, value, rounding, Overflow::ieee);
      ASSERT_EQ(got.code, expected.code) << value << ' ' << name(rounding);
      ASSERT_EQ(got, expected) << value << ' ' << name(rounding);
      ASSERT_EQ(encode(format, value, rounding, Overflow::saturate).code, saturated);
      const std::uint32_t infinite = (std::signbit(value) ? oracle.sign() : 0) | oracle.infinity();
      ASSERT_EQ(encode(format, value, rounding, Overflow::infinite).code, overflow ? infinite : ieee);
    });
  }
}

TEST(NarrowFloat, OverflowOfTheWiderFormats) {
  EXPECT_EQ(encode(FloatFormat::fp16, 65519.0, Rounding::rne, Overflow::infinite),
            (Encoded{.code = 0x7bff, .inexact = true}));
  EXPECT_EQ(encode(FloatFormat::fp16, 65535.0, Rounding::rtz, Overflow::infinite),
            (Encoded{.code = 0x7bff, .inexact = true}));
  EXPECT_EQ(encode(FloatFormat::fp16, 65536.0, Rounding::rtz, Overflow::infinite),
            (Encoded{.code = 0x7c00, .inexact = true, .overflow = true}));
  EXPECT_EQ(encode(FloatFormat::fp16, 65536.0, Rounding::rtz, Overflow::ieee),
            (Encoded{.code = 0x7bff, .inexact = true, .overflow = true}));
  EXPECT_EQ(encode(FloatFormat::fp32, -0x1.ffffffp127, Rounding::rne, Overflow::infinite),
            (Encoded{.code = 0xff800000, .inexact = true, .overflow = true}));
  EXPECT_EQ(encode(FloatFormat::fp32, -0x1.ffffffp127, Rounding::rne, Overflow::saturate),
            (Encoded{.code = 0xff7fffff, .inexact = true, .overflow = true}));
}

TEST(NarrowFloat, Fp32IsWhatACastGives) {
  for (const double value : {0x1.000001p0, 0x1.0000010000001p0, 0x1.000003p0, 0x1p-149, 0x1.8p-149, 0x1p-150,
                             0x1.0000000000001p-150, 0x1p-300, 0x1.fffffefffffffp127, 0.1, -0.0, 3e-39})
    for (const double signed_value : {value, -value}) {
      const Encoded got = encode(FloatFormat::fp32, signed_value, Rounding::rne, Overflow::ieee);
      const auto cast = static_cast<float>(signed_value);
      EXPECT_EQ(got.code, std::bit_cast<std::uint32_t>(cast)) << signed_value;
      EXPECT_EQ(got.inexact, static_cast<double>(cast) != signed_value);
    }
}

TEST(NarrowFloat, NoSuchResult) { EXPECT_THROW(encode(FloatFormat::e5m2, 1.0, Rounding::rne, Overflow::ieee), Defect); }

TEST(NarrowFloat, SumsToOdd) {
  EXPECT_EQ(sum_to_odd(1.0, 2.0), 3.0);
  EXPECT_EQ(sum_to_odd(1.0, 0x1p-80), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_to_odd(1.0, -0x1p-80), 1.0 - 0x1p-53);
  EXPECT_EQ(sum_to_odd(0x1p-80, -1.0), -1.0 + 0x1p-53);
  EXPECT_EQ(sum_to_odd(1.0 + 0x1p-52, 0x1p-80), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_to_odd(1.0, 0x1.8p-53), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_to_odd(infinity, 1.0), infinity);
}

TEST(NarrowFloat, IntegersOfAnySize) {
  EXPECT_EQ(to_integer(0x1p60 + 0x1p10, Rounding::rtp), 0x1p60 + 0x1p10);
  EXPECT_EQ(to_integer(0x1p51 + 0.5, Rounding::rne), 0x1p51);
  EXPECT_EQ(to_integer(0x1p51 + 1.5, Rounding::rne), 0x1p51 + 2.0);
  EXPECT_EQ(to_integer(-1e-300, Rounding::rtm), -1.0);
  EXPECT_EQ(to_integer(-2.5, Rounding::rhb), -2.0);
}

}  // namespace
}  // namespace tilevp::numeric
