#include "tilevp/numeric/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "models/numeric/float_oracle.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::numeric {
namespace {

using testing::bf16_oracle;
using testing::FloatOracle;
using testing::fp16_oracle;

// A row of 16-bit codes as raw bytes, at an odd address, ending where the heap block ends: an over-read is seen by
// ASan.
struct Row {
  Row(std::size_t count, std::ptrdiff_t stride)
      : step(stride),
        span(count == 0 ? 0 : (count - 1) * static_cast<std::size_t>(std::abs(stride)) + 1),
        bytes(1 + 2 * span, std::byte{0x5a}) {}
  // Element 0: at the far end for a negative stride.
  std::byte* first() { return bytes.data() + 1 + (step < 0 ? 2 * (span - 1) : 0); }
  std::byte* at(std::size_t index) { return first() + 2 * step * static_cast<std::ptrdiff_t>(index); }
  std::ptrdiff_t step;
  std::size_t span;
  std::vector<std::byte> bytes;
};

void check_widen(const FloatOracle& oracle, DType dtype, std::ptrdiff_t stride, std::size_t first, std::size_t count) {
  Row row(count, stride);
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = static_cast<std::uint16_t>(first + i);
    std::memcpy(row.at(i), &code, 2);
  }
  std::vector<float> wide(count);
  load_as_fp32(dtype, row.first(), count, stride, wide.data());
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = oracle.value(static_cast<std::uint32_t>(first + i));
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i])) << first + i;
    } else {
      ASSERT_EQ(static_cast<double>(wide[i]), expected) << "code " << first + i << " stride " << stride;
      ASSERT_EQ(std::signbit(wide[i]), std::signbit(expected)) << "code " << first + i;
    }
  }
}

TEST(Convert, WidenEveryCodeAtEveryStride) {
  for (const std::ptrdiff_t stride : {1, 2, 3, -1, -2}) {
    check_widen(bf16_oracle(), DType::bf16, stride, 0, 0x10000);
    check_widen(fp16_oracle(), DType::fp16, stride, 0, 0x10000);
    for (std::size_t count = 0; count < 40; ++count) {  // tails of the vector loops
      check_widen(bf16_oracle(), DType::bf16, stride, 0x3f00, count);
      check_widen(fp16_oracle(), DType::fp16, stride, 0x03f0, count);
    }
  }
}

// fp32 values around every code and midpoint, and NaN, as one long row.
std::vector<float> interesting(const FloatOracle& oracle) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {infinity, -infinity, std::nanf(""), std::bit_cast<float>(0xff800001U)};
  const auto& magnitudes = oracle.magnitudes();
  for (std::size_t code = 0; code + 1 < magnitudes.size(); ++code)
    for (const double point : {magnitudes[code], (magnitudes[code] + magnitudes[code + 1]) / 2}) {
      const auto exact = static_cast<float>(point);
      if (!std::isfinite(exact)) continue;
      for (const float near : {std::nextafter(exact, -infinity), exact, std::nextafter(exact, infinity)})
        values.insert(values.end(), {near, -near});
    }
  return values;
}

void check_narrow(const FloatOracle& oracle, DType dtype, Rounding rounding, std::ptrdiff_t stride) {
  const std::vector<float> values = interesting(oracle);
  Row row(values.size(), stride);
  store_from_fp32(dtype, values.data(), values.size(), row.first(), stride, rounding);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t code = 0;
    std::memcpy(&code, row.at(i), 2);
    const std::uint32_t expected = std::isnan(values[i])
                                       ? (dtype == DType::bf16 ? 0x7fc0U : 0x7e00U)
                                       : oracle.round(static_cast<double>(values[i]), rounding, false);
    ASSERT_EQ(code, expected) << name(dtype) << " " << name(rounding) << " of " << std::hexfloat << values[i];
  }
  for (std::size_t i = 0; stride == 2 && i + 1 < values.size(); ++i)
    ASSERT_EQ(row.at(i)[2], std::byte{0x5a}) << "the element between two is not touched";
}

TEST(Convert, NarrowEveryMidpoint) {
  for (const std::ptrdiff_t stride : {1, 2, -1}) {
    check_narrow(bf16_oracle(), DType::bf16, Rounding::rne, stride);
    check_narrow(fp16_oracle(), DType::fp16, Rounding::rne, stride);
  }
  check_narrow(bf16_oracle(), DType::bf16, Rounding::rto, 1);
  check_narrow(fp16_oracle(), DType::fp16, Rounding::rtp, 2);
}

TEST(Convert, Fp32PassesAndNanBecomesCanonical) {
  const std::vector<float> values = {1.5F, -0.0F, 0x1p-149F, std::bit_cast<float>(0xffc12345U)};
  std::vector<std::byte> bytes(1 + 8 * values.size());
  store_from_fp32(DType::fp32, values.data(), values.size(), bytes.data() + 1, 2);
  std::vector<float> back(values.size());
  load_as_fp32(DType::fp32, bytes.data() + 1, values.size(), 2, back.data());
  const std::uint32_t expected[] = {0x3fc00000, 0x80000000, 0x00000001, 0x7fc00000};
  for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(back[i]), expected[i]);
}

TEST(DTypes, SizesAndNames) {
  const std::size_t sizes[] = {4, 2, 2, 4, 2, 1, 1};
  const char* names[] = {"fp32", "bf16", "fp16", "int32", "int16", "int8", "uint8"};
  for (std::size_t i = 0; i < std::size(all_dtypes); ++i) {
    EXPECT_EQ(size_bytes(all_dtypes[i]), sizes[i]);
    EXPECT_EQ(name(all_dtypes[i]), names[i]);
    EXPECT_EQ(parse_dtype(names[i]), all_dtypes[i]);
  }
}

TEST(DTypes, UnknownNameListsTheKnown) {
  try {
    parse_dtype("float8");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown element type 'float8', expected one of fp32, bf16, fp16, int32, int16, int8, uint8");
  }
}

// By hand: rounding to an integer first, then the type's range; NaN is 0.
TEST(DTypes, IntegersRoundThenClamp) {
  const auto stored = [](DType dtype, float value, Rounding rounding = Rounding::rne) {
    std::byte bytes[4] = {};
    store_element(dtype, value, bytes, rounding);
    return load_element(dtype, bytes);
  };
  EXPECT_EQ(stored(DType::int8, 2.5F), 2.0F);
  EXPECT_EQ(stored(DType::int8, 2.5F, Rounding::rhb), 3.0F);
  EXPECT_EQ(stored(DType::int8, -2.5F, Rounding::rtm), -3.0F);
  EXPECT_EQ(stored(DType::int8, 127.5F), 127.0F);
  EXPECT_EQ(stored(DType::int8, -1e9F), -128.0F);
  EXPECT_EQ(stored(DType::uint8, -0.75F), 0.0F);
  EXPECT_EQ(stored(DType::uint8, 254.5F), 254.0F);
  EXPECT_EQ(stored(DType::int16, 40000.0F), 32767.0F);
  EXPECT_EQ(stored(DType::int16, -12345.0F), -12345.0F);
  EXPECT_EQ(stored(DType::int32, std::nanf("")), 0.0F);
  EXPECT_EQ(stored(DType::int32, -std::numeric_limits<float>::infinity()), -2147483648.0F);
  std::byte bytes[4] = {};
  store_element(DType::int32, 3e9F, bytes);
  std::int32_t largest = 0;
  std::memcpy(&largest, bytes, 4);
  EXPECT_EQ(largest, 2147483647);
}

}  // namespace
}  // namespace tilevp::numeric
