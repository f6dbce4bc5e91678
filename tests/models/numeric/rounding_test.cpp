#include "tilevp/numeric/rounding.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "models/numeric/float_oracle.hpp"

namespace tilevp::numeric {
namespace {

using testing::bf16_oracle;
using testing::FloatOracle;
using testing::fp16_oracle;
using testing::narrow_by;
using testing::tf32_oracle;

constexpr float infinity = std::numeric_limits<float>::infinity();

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

// What each mode does to 2.5 and -2.5 is its definition in rounding.hpp; the other columns follow from it by hand.
TEST(RoundToInteger, DefinitionTable) {
  const std::vector<float> values = {2.5F, -2.5F, 3.5F, -3.5F, 2.25F, -2.75F, 0.5F, -0.5F, 4.0F};
  const std::vector<std::pair<Rounding, std::vector<double>>> table = {
      {Rounding::rne, {2, -2, 4, -4, 2, -3, 0, 0, 4}},  {Rounding::rtz, {2, -2, 3, -3, 2, -2, 0, 0, 4}},
      {Rounding::rtm, {2, -3, 3, -4, 2, -3, 0, -1, 4}}, {Rounding::rtp, {3, -2, 4, -3, 3, -2, 1, 0, 4}},
      {Rounding::rna, {3, -3, 4, -4, 2, -3, 1, -1, 4}}, {Rounding::rto, {3, -3, 3, -3, 3, -3, 1, -1, 4}},
      {Rounding::rhb, {3, -2, 4, -3, 2, -3, 1, 0, 4}},
  };
  for (const auto& [rounding, expected] : table)
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(to_integer(values[i], rounding), expected[i]) << name(rounding) << " of " << values[i];
}

double integer_by_libm(double value, Rounding rounding) {
  const auto directed = [&](int mode) {
    std::fesetround(mode);
    const volatile double rounded = std::nearbyint(value);
    std::fesetround(FE_TONEAREST);
    return static_cast<double>(rounded);
  };
  switch (rounding) {
    case Rounding::rne:
      return directed(FE_TONEAREST);
    case Rounding::rtz:
      return directed(FE_TOWARDZERO);
    case Rounding::rtm:
      return directed(FE_DOWNWARD);
    case Rounding::rtp:
      return directed(FE_UPWARD);
    case Rounding::rna:
      return std::round(value);
    case Rounding::rto:
      return std::fmod(std::floor(value), 2) != 0 ? std::floor(value) : std::ceil(value);
    case Rounding::rhb:
      return std::floor(value + 0.5);
  }
  return 0;
}

TEST(RoundToInteger, EveryTieAndItsNeighbours) {
  std::vector<float> values = {0.0F, 1e-45F, 1e-10F, 8388607.5F, 8388608.0F, 16777216.0F, 3e9F, 1e30F};
  for (int i = 0; i < 300; ++i) values.push_back(static_cast<float>(i) / 2);
  for (const float base : values)
    for (const float near : {std::nextafter(base, -infinity), base, std::nextafter(base, infinity)})
      for (const float value : {near, -near})
        for (const Rounding rounding : all_roundings) {
          const double expected = rounding == Rounding::rto && std::floor(value) == static_cast<double>(value)
                                      ? static_cast<double>(value)
                                      : integer_by_libm(static_cast<double>(value), rounding);
          ASSERT_EQ(to_integer(value, rounding), expected) << name(rounding) << " of " << value;
        }
  EXPECT_EQ(to_integer(infinity, Rounding::rtz), static_cast<double>(infinity));
  EXPECT_TRUE(std::isnan(to_integer(std::nanf(""), Rounding::rne)));
}

TEST(Widen, EveryBf16) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const float wide = from_bf16(static_cast<std::uint16_t>(code));
    const double expected = bf16_oracle().value(code);
    if (std::isnan(expected)) {
      ASSERT_EQ(bits_of(wide), code << 16) << "NaN payload of " << code;
    } else {
      ASSERT_EQ(static_cast<double>(wide), expected) << code;
      ASSERT_EQ(std::signbit(wide), std::signbit(expected)) << code;
    }
  }
}

TEST(Widen, EveryFp16) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const float wide = from_fp16(static_cast<std::uint16_t>(code));
    const double expected = fp16_oracle().value(code);
    if (std::isnan(expected)) {
      // sign, all ones, the ten payload bits at the top of the fraction
      ASSERT_EQ(bits_of(wide), ((code & 0x8000) << 16) | 0x7f800000 | ((code & 0x3ff) << 13)) << code;
    } else {
      ASSERT_EQ(static_cast<double>(wide), expected) << code;
      ASSERT_EQ(std::signbit(wide), std::signbit(expected)) << code;
    }
  }
}

// Every representable value, every midpoint, one fp32 ulp to either side of both, both signs.
void check_midpoints(const FloatOracle& oracle) {
  const auto& magnitudes = oracle.magnitudes();
  for (std::size_t code = 0; code + 1 < magnitudes.size(); ++code)
    for (const double point : {magnitudes[code], (magnitudes[code] + magnitudes[code + 1]) / 2}) {
      const auto exact = static_cast<float>(point);
      if (!std::isfinite(exact)) continue;
      ASSERT_EQ(static_cast<double>(exact), point) << "the point itself is an fp32";
      for (const float near : {std::nextafter(exact, -infinity), exact, std::nextafter(exact, infinity)})
        for (const float value : {near, -near})
          for (const Rounding rounding : all_roundings)
            for (const Overflow overflow : {Overflow::ieee, Overflow::saturate})
              ASSERT_EQ(narrow_by(oracle, value, rounding, overflow),
                        oracle.round(static_cast<double>(value), rounding, overflow == Overflow::saturate))
                  << name(rounding) << " of " << std::hexfloat << value;
    }
}

TEST(Narrow, EveryMidpointBf16) { check_midpoints(bf16_oracle()); }
TEST(Narrow, EveryMidpointFp16) { check_midpoints(fp16_oracle()); }
TEST(Narrow, EveryMidpointTf32) { check_midpoints(tf32_oracle()); }

// By hand: 65504 is the largest fp16, 65520 the middle between it and 2^16.
TEST(Narrow, OverflowByMode) {
  struct Row {
    Rounding rounding;
    std::uint16_t tie, negative_tie, beyond, negative_beyond;
  };
  const Row table[] = {
      {Rounding::rne, 0x7c00, 0xfc00, 0x7c00, 0xfc00}, {Rounding::rtz, 0x7bff, 0xfbff, 0x7bff, 0xfbff},
      {Rounding::rtm, 0x7bff, 0xfc00, 0x7bff, 0xfc00}, {Rounding::rtp, 0x7c00, 0xfbff, 0x7c00, 0xfbff},
      {Rounding::rna, 0x7c00, 0xfc00, 0x7c00, 0xfc00}, {Rounding::rto, 0x7bff, 0xfbff, 0x7bff, 0xfbff},
      {Rounding::rhb, 0x7c00, 0xfbff, 0x7c00, 0xfc00},
  };
  for (const Row& row : table) {
    EXPECT_EQ(to_fp16(65520.0F, row.rounding), row.tie) << name(row.rounding);
    EXPECT_EQ(to_fp16(-65520.0F, row.rounding), row.negative_tie) << name(row.rounding);
    EXPECT_EQ(to_fp16(1e9F, row.rounding), row.beyond) << name(row.rounding);
    EXPECT_EQ(to_fp16(-1e9F, row.rounding), row.negative_beyond) << name(row.rounding);
    EXPECT_EQ(to_fp16(70000.0F, row.rounding, Overflow::saturate), 0x7bff) << name(row.rounding);
    EXPECT_EQ(to_bf16(-infinity, row.rounding, Overflow::saturate), 0xff7f) << name(row.rounding);
    EXPECT_EQ(to_bf16(-infinity, row.rounding), 0xff80) << name(row.rounding);
  }
}

TEST(Narrow, NanIsCanonical) {
  for (const std::uint32_t bits : {0x7f800001U, 0x7fffffffU, 0xff800001U, 0xffc12345U, 0x7fa00000U}) {
    const auto nan = std::bit_cast<float>(bits);
    for (const Rounding rounding : all_roundings)
      for (const Overflow overflow : {Overflow::ieee, Overflow::saturate}) {
        EXPECT_EQ(to_bf16(nan, rounding, overflow), 0x7fc0);
        EXPECT_EQ(to_fp16(nan, rounding, overflow), 0x7e00);
        EXPECT_EQ(bits_of(to_tf32(nan, rounding, overflow)), 0x7fc00000U);
      }
    EXPECT_EQ(bits_of(canonical(nan)), 0x7fc00000U);
  }
  EXPECT_EQ(bits_of(canonical(-0.0F)), 0x80000000U);
}

// Nothing is flushed: the smallest subnormals of each format, and what half of them becomes.
TEST(Narrow, SubnormalsAreKept) {
  EXPECT_EQ(to_fp16(0x1p-24F), 0x0001);
  EXPECT_EQ(to_fp16(0x1p-25F), 0x0000);
  EXPECT_EQ(to_fp16(0x1.8p-25F), 0x0001);
  EXPECT_EQ(to_fp16(0x1p-149F, Rounding::rtp), 0x0001);
  EXPECT_EQ(to_bf16(0x1p-133F), 0x0001);
  EXPECT_EQ(to_bf16(-0x1p-149F, Rounding::rtm), 0x8001);
  EXPECT_EQ(from_bf16(0x0001), 0x1p-133F);
}

}  // namespace
}  // namespace tilevp::numeric
