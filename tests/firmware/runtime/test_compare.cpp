#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tilevp/base/errors.hpp"
#include "tilevp/runtime/compare.hpp"

namespace tilevp::runtime {
namespace {

using numeric::DType;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
Tensor tensor_of(Element element, std::vector<std::size_t> shape, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {std::move(shape), element, {bytes.begin(), bytes.end()}};
}

Tensor floats(const std::vector<float>& values) { return tensor_of(Element::f4, {values.size()}, values); }

constexpr CheckRequest exact{CheckRequest::Kind::exact, 0};

CheckRequest ulp(double bound) { return {CheckRequest::Kind::ulp, bound}; }
CheckRequest tolerance(double bound) { return {CheckRequest::Kind::tolerance, bound}; }

float steps_up(float value, int steps) {
  for (; steps > 0; --steps) value = std::nextafter(value, INFINITY);
  return value;
}

TEST(Compare, FindsNothingInEqualTensors) {
  const auto x = floats({1, -2, 0, NAN, INFINITY});
  const auto result = compare(x, x, exact, "x");
  EXPECT_EQ(result.compared, 5U);
  EXPECT_EQ(result.mismatches, 0U);
  EXPECT_FALSE(result.first);
  EXPECT_EQ(result.histogram[0], 5U);
  EXPECT_EQ(text_of(result), "5 elements, 0 beyond exact; largest error 0, 0 ulp\n  0 ulp: 5");
}

TEST(Compare, CountsUlpsAndNamesTheFirstDifferenceInItsAxes) {
  const auto expected = tensor_of<float>(Element::f4, {2, 3}, {1, 1, 1, 1, 1, 1});
  const auto got = tensor_of<float>(Element::f4, {2, 3}, {1, steps_up(1, 1), 1, 1, steps_up(1, 5), steps_up(1, 3)});
  const auto result = compare(got, expected, ulp(1), "x");
  EXPECT_EQ(result.mismatches, 2U);
  EXPECT_EQ(result.max_ulp, 5U);
  EXPECT_EQ(result.max_abs_error, 5 * 0x1p-23);
  ASSERT_TRUE(result.first);
  EXPECT_THAT(result.first->index, ElementsAre(1, 1));
  EXPECT_EQ(result.first->expected, 1);
  EXPECT_EQ(result.first->got, 1 + 5 * 0x1p-23);
  EXPECT_EQ(result.histogram[0], 3U);
  EXPECT_EQ(result.histogram[1], 1U);  // 1
  EXPECT_EQ(result.histogram[2], 1U);  // 2..3
  EXPECT_EQ(result.histogram[3], 1U);  // 4..7
  EXPECT_EQ(text_of(result),
            "6 elements, 2 beyond ulp 1; largest error 5.960464477539062e-07, 5 ulp\n"
            "first at [1, 1]: got 1.0000005960464478, expected 1 (5 ulp)\n"
            "  0 ulp: 3\n  1 ulp: 1\n  2..3 ulp: 1\n  4..7 ulp: 1");
  EXPECT_EQ(compare(got, expected, exact, "x").mismatches, 3U);
  EXPECT_EQ(compare(got, expected, ulp(5), "x").mismatches, 0U);
}

TEST(Compare, StepsAcrossZeroAndTellsSignsOfZeroApart) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const auto result = compare(floats({-tiny, -0.0F, 0.0F}), floats({tiny, 0.0F, 0.0F}), exact, "x");
  EXPECT_EQ(result.max_ulp, 2U);
  EXPECT_EQ(result.mismatches, 1U);
  EXPECT_EQ(result.signs_of_zero, 1U);
}

TEST(Compare, NanEqualsNanOnly) {
  const auto result = compare(floats({NAN, 1, NAN}), floats({NAN, NAN, 1}), tolerance(1e9), "x");
  EXPECT_EQ(result.mismatches, 2U);
  EXPECT_EQ(result.nan_on_one_side, 2U);
  EXPECT_EQ(result.max_abs_error, 0);
  EXPECT_THAT(text_of(result), HasSubstr("got 1, expected nan\n"));
}

TEST(Compare, InfinityIsOneStepBeyondTheLargest) {
  const auto result = compare(floats({INFINITY}), floats({std::numeric_limits<float>::max()}), tolerance(1), "x");
  EXPECT_EQ(result.max_ulp, 1U);
  EXPECT_EQ(result.mismatches, 1U);
  EXPECT_EQ(result.max_abs_error, 0);
}

TEST(Compare, ToleranceIsRelativeToTheLargestMagnitude) {
  const auto expected = floats({-200, 0, 1});
  EXPECT_EQ(compare(floats({-199, 1, 2}), expected, tolerance(0.005), "x").mismatches, 0U);
  EXPECT_EQ(compare(floats({-199, 1.5F, 2}), expected, tolerance(0.005), "x").mismatches, 1U);
}

TEST(Compare, CountsBf16Steps) {
  const auto expected = floats({1, 1, 1});
  const auto got = floats({1.0078125F, 1.015625F, 1});  // 1 + 2^-7, 1 + 2^-6
  EXPECT_EQ(compare(got, expected, exact, "x", DType::bf16).max_ulp, 2U);
  EXPECT_EQ(compare(got, expected, exact, "x").max_ulp, 2U << 16);
  EXPECT_EQ(compare(floats({steps_up(1, 1)}), floats({1}), exact, "x", DType::bf16).mismatches, 1U);
}

TEST(Compare, ComparesInTheNarrowerFloatType) {
  const auto doubles = tensor_of<double>(Element::f8, {2}, {0.1, 1 + 0x1p-20});
  EXPECT_EQ(compare(floats({0.1F, 1 + 0x1p-20F}), doubles, exact, "x").mismatches, 0U);
  const auto halves = tensor_of<std::uint16_t>(Element::f2, {2}, {0x2e66, 0x3c01});
  const auto result = compare(halves, doubles, exact, "x");
  EXPECT_EQ(result.mismatches, 1U);
  EXPECT_EQ(result.max_ulp, 1U);
}

TEST(Compare, IntegersDifferByTheirDifference) {
  const auto got = tensor_of<std::int64_t>(Element::i8, {2}, {std::numeric_limits<std::int64_t>::max(), 5});
  const auto expected = tensor_of<std::int64_t>(Element::i8, {2}, {std::numeric_limits<std::int64_t>::min(), 2});
  const auto result = compare(got, expected, ulp(3), "x");
  EXPECT_EQ(result.max_ulp, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(result.mismatches, 1U);
  EXPECT_EQ(result.histogram[64], 1U);
  const auto bytes = tensor_of<std::uint8_t>(Element::u1, {2}, {200, 2});
  EXPECT_EQ(compare(bytes, tensor_of<std::int32_t>(Element::i4, {2}, {-1, 2}), exact, "x").max_ulp, 201U);
}

TEST(Compare, RefusesWhatCannotBeCompared) {
  EXPECT_THAT(
      [] {
        compare(floats({1}), floats({1, 2}), exact, "a.npy");
      },
      testing::ThrowsMessage<UserError>("a.npy: shape (1,) differs from the expected (2,)"));
  EXPECT_THAT([] { compare(floats({1}), tensor_of<std::int8_t>(Element::i1, {1}, {1}), exact, "a.npy"); },
              testing::ThrowsMessage<UserError>("a.npy: elements <f4 cannot be compared with |i1"));
}

TEST(Compare, GivesTheReportsVerification) {
  const auto verification = verification_of(compare(floats({1, 3}), floats({1, 2}), tolerance(0.25), "x"));
  EXPECT_EQ(verification.kind, "tolerance 0.25");
  EXPECT_EQ(verification.compared, 2U);
  EXPECT_EQ(verification.mismatches, 1U);
  EXPECT_EQ(verification.max_abs_error, 1);
  EXPECT_EQ(verification.max_ulp, 1U << 22);
  EXPECT_THAT(verification.first_index, ElementsAre(1));
  EXPECT_EQ(verification.first_got, 3);
  EXPECT_EQ(verification.first_expected, 2);
}

}  // namespace
}  // namespace tilevp::runtime
