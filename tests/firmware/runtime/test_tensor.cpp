#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tilevp/base/errors.hpp"
#include "tilevp/runtime/tensor.hpp"

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

template <class T>
std::vector<T> words(const std::vector<std::byte>& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST(Pack, KeepsBytesOfTheSameKind) {
  const auto floats = tensor_of<float>(Element::f4, {3}, {1.5F, -0.0F, 3e38F});
  EXPECT_EQ(pack(floats, DType::fp32, "x").bytes, floats.data);
  const auto raw = tensor_of<std::uint16_t>(Element::u2, {2}, {0x3f80, 0x7fc1});
  EXPECT_EQ(pack(raw, DType::bf16, "x").bytes, raw.data);
  EXPECT_EQ(pack(raw, DType::bf16, "x").rounded, 0U);
}

// Hand-rounded: bf16 has 7 fraction bits, so 1 + 2^-8 ties to 1, 1 + 3*2^-8 ties to 1 + 2^-6.
TEST(Pack, RoundsBf16ToNearestEvenAndCounts) {
  const auto x = tensor_of<float>(Element::f4, {6}, {1.0F, 1.00390625F, 1.01171875F, 3.4e38F, NAN, INFINITY});
  const auto packed = pack(x, DType::bf16, "x");
  EXPECT_THAT(words<std::uint16_t>(packed.bytes), ElementsAre(0x3f80, 0x3f80, 0x3f82, 0x7f80, 0x7fc0, 0x7f80));
  EXPECT_EQ(packed.rounded, 3U);
  EXPECT_EQ(packed.overflowed, 1U);
}

// 1 + 2^-8 + 2^-40: fp32 would drop the last bit and then tie down to 1; one rounding goes up to 1 + 2^-7.
TEST(Pack, RoundsDoublesAndLongIntegersOnce) {
  const double just_above = 1 + 0x1p-8 + 0x1p-40;
  const auto doubles = tensor_of<double>(Element::f8, {4}, {just_above, -just_above, 1e300, 0.0});
  const auto packed = pack(doubles, DType::bf16, "x");
  EXPECT_THAT(words<std::uint16_t>(packed.bytes), ElementsAre(0x3f81, 0xbf81, 0x7f80, 0));
  EXPECT_EQ(packed.rounded, 3U);
  // 2^62 + 2^54 is the tie between two bf16 (steps of 2^55); one more is above it.
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  const auto longs = tensor_of<std::int64_t>(Element::i8, {3}, {tie, tie + 1, -tie - 1});
  EXPECT_THAT(words<std::uint16_t>(pack(longs, DType::bf16, "x").bytes), ElementsAre(0x5e80, 0x5e81, 0xde81));
  const auto unsigned_longs = tensor_of<std::uint64_t>(Element::u8, {1}, {std::numeric_limits<std::uint64_t>::max()});
  EXPECT_THAT(words<float>(pack(unsigned_longs, DType::fp32, "x").bytes), ElementsAre(0x1p64F));
}

TEST(Pack, RoundsFp16) {
  const auto x = tensor_of<float>(Element::f4, {4}, {65504, 65520, 0x1p-24F, 1.0F + 0x1p-11F});
  const auto packed = pack(x, DType::fp16, "x");
  EXPECT_THAT(words<std::uint16_t>(packed.bytes), ElementsAre(0x7bff, 0x7c00, 1, 0x3c00));
  EXPECT_EQ(packed.rounded, 2U);
  EXPECT_EQ(packed.overflowed, 1U);
}

TEST(Pack, CountsNothingForValuesThatFit) {
  std::mt19937 random(3);
  std::vector<float> values(5000);
  for (auto& value : values) value = static_cast<float>(static_cast<int>(random() % 255) - 127);
  EXPECT_EQ(pack(tensor_of(Element::f4, {5000}, values), DType::bf16, "x").rounded, 0U);
}

TEST(Pack, TakesWholeNumbersIntoIntegers) {
  const auto x = tensor_of<float>(Element::f4, {2, 2}, {-128, 127, 0, 5});
  EXPECT_THAT(words<std::int8_t>(pack(x, DType::int8, "x").bytes), ElementsAre(-128, 127, 0, 5));
  EXPECT_THAT(words<std::int32_t>(pack(x, DType::int32, "x").bytes), ElementsAre(-128, 127, 0, 5));
  const auto error = [](float value, DType dtype) {
    return [=] { pack(tensor_of<float>(Element::f4, {2, 2}, {0, 0, value, 0}), dtype, "w.npy"); };
  };
  EXPECT_THAT(error(3.5F, DType::int8), testing::ThrowsMessage<UserError>("w.npy: element [1, 0] = 3.5 is no int8"));
  EXPECT_THAT(error(128, DType::int8), testing::ThrowsMessage<UserError>("w.npy: element [1, 0] = 128 is no int8"));
  EXPECT_THAT(error(-1, DType::uint8), testing::ThrowsMessage<UserError>(HasSubstr("= -1 is no uint8")));
  EXPECT_THAT(error(NAN, DType::int16), testing::ThrowsMessage<UserError>(HasSubstr("= nan is no int16")));
  EXPECT_THAT(error(0x1p31F, DType::int32), testing::ThrowsMessage<UserError>(HasSubstr("is no int32")));
}

TEST(Unpack, GivesTheKindThatHoldsTheValues) {
  const std::vector<std::uint16_t> bits{0x3f80, 0xc000};
  const auto bf16 = unpack(std::as_bytes(std::span(bits)), {2}, DType::bf16);
  EXPECT_EQ(bf16.element, Element::f4);
  EXPECT_EQ(bf16.value(0), 1);
  EXPECT_EQ(bf16.value(1), -2);
  const auto fp16 = unpack(std::as_bytes(std::span(bits)), {2}, DType::fp16);
  EXPECT_EQ(fp16.element, Element::f2);
  EXPECT_EQ(fp16.value(1), -2);
  EXPECT_THROW(unpack(std::as_bytes(std::span(bits)), {3}, DType::fp16), Defect);
}

TEST(Tensor, CountsIndicesInItsOwnAxes) {
  const std::vector<std::size_t> shape{2, 3, 4};
  EXPECT_THAT(index_of(shape, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(index_of(shape, 23), ElementsAre(1, 2, 3));
  EXPECT_THAT(index_of(shape, 13), ElementsAre(1, 0, 1));
  EXPECT_EQ(shape_text(shape), "(2, 3, 4)");
  EXPECT_EQ(shape_text(std::vector<std::size_t>{7}), "(7,)");
  EXPECT_EQ(shape_text({}), "()");
  const std::vector<float> values{1};
  EXPECT_THROW(make_tensor({2}, values), Defect);
}

}  // namespace
}  // namespace tilevp::runtime
