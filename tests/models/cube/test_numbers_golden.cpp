// Values worked by hand or stated by PTO-ISA/pto-spec's own tests: one bundle each, from codes to codes.
#include <gtest/gtest.h>

#include "models/cube/stored_tiles.hpp"
#include "tilevp/cube/postprocess.hpp"

namespace tilevp::cube {
namespace {

using numeric::Rounding;
using testing::Codes;
using testing::MatrixCase;
using testing::row_of;
using Values = std::vector<std::uint64_t>;

MatrixCase floats(DataType type, Codes a, Codes b) {
  MatrixCase test;
  test.op.a_type = test.op.b_type = type;
  test.a = std::move(a);
  test.b = std::move(b);
  return test;
}

MatrixCase integers(DataType type, Codes a, Codes b) {
  MatrixCase test = floats(type, std::move(a), std::move(b));
  test.op.accumulator = test.op.d_type = accumulator_of(numeric_class(type));
  return test;
}

Codes column_of(Values values) {
  const auto count = static_cast<std::uint32_t>(values.size());
  return {count, 1, std::move(values)};
}

TEST(CubeGolden, TwoTimesThree) {
  MatrixCase test = floats(DataType::fp16, row_of({0x4000}), row_of({0x4200}));
  test.run();
  EXPECT_EQ(test.d.at, Values{0x40c00000});
  EXPECT_EQ(test.flags, 0);
  EXPECT_TRUE(test.padding_kept);
}

TEST(CubeGolden, SeveralCells) {
  MatrixCase test = floats(DataType::fp16, row_of(Values(9, 0x3c00)), Codes{9, 10, Values(90, 0x3c00)});
  test.run();
  EXPECT_EQ(test.d.at, Values(10, 0x41100000));
  EXPECT_TRUE(test.padding_kept);
}

TEST(CubeGolden, Unsigned16) {
  MatrixCase test = integers(DataType::u16, row_of({2, 3}), Codes{2, 2, {5, 7, 11, 13}});
  test.run();
  EXPECT_EQ(test.d.at, (Values{43, 53}));
}

TEST(CubeGolden, Signed8) {
  MatrixCase test =
      integers(DataType::s8, row_of({0x80, 0x7f, 5, 0xff}), Codes{4, 2, {0x80, 1, 0x7f, 0xff, 3, 2, 7, 0xf9}});
  test.run();
  EXPECT_EQ(test.d.at, (Values{0x7f09, 0xffffff12}));
}

TEST(CubeGolden, SumsOfIntegersWrap) {
  MatrixCase test = integers(DataType::s16, row_of({0x8000, 0x8000}), column_of({0x8000, 0x8000}));
  test.run();
  EXPECT_EQ(test.d.at, Values{0x80000000});
  EXPECT_EQ(test.flags, 0);
}

// 2^24, then 1 twice: each is lost. A tree or a wider accumulator gives 2^24 + 2.
TEST(CubeGolden, OrderOfTheSum) {
  const Values large_first{0x6c00, 0x3c00, 0x3c00}, large_last{0x3c00, 0x3c00, 0x6c00};
  MatrixCase test = floats(DataType::fp16, row_of(large_first), column_of(large_first));
  test.run();
  EXPECT_EQ(test.d.at, Values{0x4b800000});
  test.op.rounding = Rounding::rtp;
  test.run();
  EXPECT_EQ(test.d.at, Values{0x4b800002});
  test = floats(DataType::fp16, row_of(large_last), column_of(large_last));
  test.run();
  EXPECT_EQ(test.d.at, Values{0x4b800001});
}

// a = b = 1 + 2^-23: a * b = 1 + 2^-22 + 2^-46, and C takes away the first two terms.
TEST(CubeGolden, FusedOrNot) {
  MatrixCase test = floats(DataType::fp32, row_of({0x3f800001}), row_of({0x3f800001}));
  test.c = row_of({0xbf800002});
  test.run();
  EXPECT_EQ(test.d.at, Values{0});
  test.op.accumulate = Accumulate::fma;
  test.run();
  EXPECT_EQ(test.d.at, Values{0x28800000});
}

TEST(CubeGolden, AccumulatorFirst) {
  MatrixCase test = floats(DataType::fp16, row_of({0x3c00, 0x3c00}), column_of({0x3c00, 0x3c00}));
  test.c = row_of({0x4b800000});
  test.run();
  EXPECT_EQ(test.d.at, Values{0x4b800000});
}

TEST(CubeGolden, MixedTypes) {
  MatrixCase test = floats(DataType::bf16, row_of({0x3fc0, 0xc000}), column_of({0x4100, 0x3400}));
  test.op.b_type = DataType::fp16;
  test.run();
  EXPECT_EQ(test.d.at, Values{0x40500000});
}

TEST(CubeGolden, MatricesWithBiasAndAccumulator) {
  const auto real = [](std::initializer_list<float> values) {
    Values codes;
    for (const float value : values) codes.push_back(std::bit_cast<std::uint32_t>(value));
    return codes;
  };
  for (const Layout layout : {Layout::cube_m16, Layout::cube_m32}) {
    MatrixCase test = floats(DataType::fp32, Codes{2, 2, real({1, 2, 3, 4})}, Codes{2, 2, real({5, 6, 7, 8})});
    test.op.m_layout = layout;
    test.run();
    EXPECT_EQ(test.d.at, real({19, 22, 43, 50}));
    test.bias = row_of(real({1, -2}));
    test.run();
    EXPECT_EQ(test.d.at, real({20, 20, 44, 48}));
    test.bias = {};
    test.c = {2, 2, real({10, 20, 30, 40})};
    test.run();
    EXPECT_EQ(test.d.at, real({29, 42, 73, 90}));
  }
}

MatrixCase requantised(std::uint8_t mode, std::uint64_t word) {
  MatrixCase test = integers(DataType::s8, row_of({1}), row_of({3, 70, 0x10000 - 70, 200, 0x10000 - 200}));
  test.op.b_type = DataType::s16;
  test.op.post.prequant = mode;
  test.op.d_type = DataType::s8;
  test.op.quant_word = word;
  return test;
}

// Scale 2, offset -1. 200 * 2 is clamped to 255 (S9) before the offset, and then wraps to 0xfe.
TEST(CubeGolden, RequantisationToS8) {
  MatrixCase test = requantised(3, 0x00003fe040000000);
  test.run();
  EXPECT_EQ(test.d.at, (Values{0x05, 0x8b, 0x73, 0xfe, 0xff}));
  EXPECT_EQ(test.flags, 0x14);
  test.op.saturate = true;
  test.run();
  EXPECT_EQ(test.d.at, (Values{0x05, 0x7f, 0x80, 0x7f, 0x80}));
  EXPECT_EQ(test.flags, 0x14);
  test.b = row_of({3});
  test.run();
  EXPECT_EQ(test.d.at, Values{5});
  EXPECT_EQ(test.flags, 0);
}

TEST(CubeGolden, RoundingsOfHalves) {
  MatrixCase test = requantised(3, std::uint64_t{0x1f800} << 13);  // scale 0.5
  test.b = row_of({1, 3, 5, 0xffff, 0xfffd});
  const auto rounded = [&](Rounding rounding) {
    test.op.rounding = rounding;
    test.run();
    EXPECT_EQ(test.flags, 0x10);
    return test.d.at;
  };
  EXPECT_EQ(rounded(Rounding::rne), (Values{0, 2, 2, 0, 0xfe}));
  EXPECT_EQ(rounded(Rounding::rna), (Values{1, 2, 3, 0xff, 0xfe}));
  EXPECT_EQ(rounded(Rounding::rhb), (Values{1, 2, 3, 0, 0xff}));
  EXPECT_EQ(rounded(Rounding::rtz), (Values{0, 1, 2, 0, 0xff}));
  EXPECT_EQ(rounded(Rounding::rtm), (Values{0, 1, 2, 0xff, 0xfe}));
  EXPECT_EQ(rounded(Rounding::rtp), (Values{1, 2, 3, 0, 0xff}));
  EXPECT_EQ(rounded(Rounding::rto), (Values{1, 1, 3, 0xff, 0xff}));
}

// A = 1 + 2^-10, B[n] = (-1)^n (n + 1).
TEST(CubeGolden, ConversionAndReductions) {
  const Values b{0x3c00, 0xc000, 0x4200, 0xc400, 0x4500, 0xc600, 0x4700, 0xc800,
                 0x4880, 0xc900, 0x4980, 0xca00, 0x4a80, 0xcb00, 0x4b80, 0xcc00};
  MatrixCase test = floats(DataType::fp16, row_of({0x3c01}), row_of(b));
  test.op.d_type = DataType::fp16;
  test.op.post = {.prequant = 1, .group_n_code = 1, .row_max = true, .group_max = true, .max_abs = true};
  test.run();
  EXPECT_EQ(test.d.at, (Values{0x3c01, 0xc001, 0x4202, 0xc401, 0x4501, 0xc602, 0x4702, 0xc801, 0x4881, 0xc901, 0x4981,
                               0xca02, 0x4a82, 0xcb02, 0x4b82, 0xcc01}));
  EXPECT_EQ(test.flags, 0x10);
  EXPECT_EQ(test.row_max.at, Values{0x41802000});
  EXPECT_EQ(test.group_max.at, (Values{0x41002000, 0x41802000}));
  test.op.post.max_abs = false;
  test.run();
  EXPECT_EQ(test.row_max.at, Values{0x41703c00});
  EXPECT_EQ(test.group_max.at, (Values{0x40e03800, 0x41703c00}));
}

Processed processed(std::uint8_t mode, DataType accumulator, std::uint32_t sum, bool saturate,
                    std::uint64_t quant_word = 0, std::uint8_t relu = 0, std::uint64_t slope_word = 0) {
  MatrixOperation op;
  op.post.prequant = mode;
  op.post.relu = relu;
  op.accumulator = accumulator;
  op.d_type = result_type(*find_prequant(mode), accumulator);
  op.saturate = saturate;
  const Processed result = PostProcess(op)(sum, quant_word, slope_word);
  const std::uint32_t mask = bits(op.d_type) == 32 ? ~0U : (1U << bits(op.d_type)) - 1;
  return {result.code & mask, result.flags};
}
void expect(Processed result, std::uint32_t code, unsigned flags) {
  EXPECT_EQ(result.code, code);
  EXPECT_EQ(result.flags, flags);
}
constexpr std::uint64_t scale_one = std::uint64_t{0x1fc00} << 13;

TEST(CubeGolden, OverflowAndSpecialValues) {
  expect(processed(1, DataType::fp32, 0x4788b800, false), 0x7c00, 0x14);  // 70000
  expect(processed(1, DataType::fp32, 0x4788b800, true), 0x7bff, 0x14);
  expect(processed(24, DataType::fp32, 0x7fc00000, false, scale_one), 0x80, 0x01);
  expect(processed(24, DataType::fp32, 0x7fc00000, true, scale_one), 0x00, 0x01);
  expect(processed(24, DataType::fp32, 0x7f800000, false, scale_one), 0x80, 0x01);
  expect(processed(24, DataType::fp32, 0x7f800000, true, scale_one), 0x7f, 0x14);
  expect(processed(24, DataType::fp32, 0xff800000, true, scale_one), 0x80, 0x14);
  expect(processed(1, DataType::fp32, 0x7f800001, false), 0x7e00, 0x01);
  expect(processed(1, DataType::fp32, 0x7fc00000, true), 0x0000, 0x00);
  expect(processed(1, DataType::fp32, 0xff800000, false), 0xfc00, 0x00);
  expect(processed(1, DataType::fp32, 0xff800000, true), 0xfbff, 0x14);
  expect(processed(26, DataType::fp32, 0xff800000, false, scale_one), 0x7f, 0x14);
  expect(processed(26, DataType::fp32, 0x43e10000, false, scale_one), 0x7f, 0x14);  // 450
  expect(processed(26, DataType::fp32, 0x43e10000, true, scale_one), 0x7e, 0x14);
  expect(processed(26, DataType::fp32, 0x3fc00000, false, scale_one), 0x3c, 0x00);  // 1.5
  expect(processed(25, DataType::fp32, 0x3fc00000, false, scale_one), 0x0c, 0x00);
  expect(processed(25, DataType::fp32, 0x80000000, false, scale_one), 0x00, 0x00);
  expect(processed(26, DataType::fp32, 0x80000000, false, scale_one), 0x80, 0x00);
  expect(processed(26, DataType::fp32, 0xb0000000, false, scale_one), 0x00, 0x18);  // -2^-31
  expect(processed(1, DataType::fp32, 0xb0000000, false), 0x8000, 0x18);
  expect(processed(1, DataType::fp32, 0x387fffff, false), 0x0400, 0x18);  // below 2^-14 before rounding
}

TEST(CubeGolden, ReluReplacesTheScale) {
  // asl/arch/profile/matrix-postprocess tests: -2 to S8 with ReLU; one rounding of -0.50017... * 0.75.
  expect(processed(24, DataType::fp32, 0xc0000000, false, scale_one, 1), 0, 0);
  expect(processed(32, DataType::fp32, 0xbf000bb0, false, scale_one, 2, 0x1fa00), 0xb601, 0x10);
  // Scale 4, slope 0.5: -8 becomes -4, not -16.
  expect(processed(27, DataType::fp32, 0xc1000000, false, std::uint64_t{0x20400} << 13, 2, 0x1f800), 0xc0800000, 0);
  expect(processed(27, DataType::fp32, 0xff800000, false, scale_one, 1), 0, 0);
  expect(processed(0, DataType::fp32, 0xc1000000, false, 0, 1), 0, 0);
  expect(processed(0, DataType::s32, 0xffffffff, false, 0, 2, 0x20000), 0xfffffffe, 0);  // -1 * 2
  expect(processed(0, DataType::u32, 0xffffffff, false, 0, 1), 0xffffffff, 0);
}

TEST(CubeGolden, Shifts) {
  expect(processed(13, DataType::s32, 0xffffffdf, false, 0), 0xffef, 0);  // -33 >> 1
  expect(processed(13, DataType::s32, 0x7fffffff, false, 0), 0x7fff, 0x14);
  expect(processed(13, DataType::s32, 0x80000000, false, std::uint64_t{15} << 32), 0x8000, 0);
  expect(processed(13, DataType::s32, 0x80000000, false, std::uint64_t{14} << 32), 0x8000, 0x14);
  expect(processed(13, DataType::s32, 0xfffffff0, false, 0, 1), 0xfff8, 0);  // ReLU is not looked at
}

TEST(CubeGolden, IntermediateClamps) {
  const std::uint64_t one5 = scale_one;
  expect(processed(17, DataType::s32, 15, false, one5), 0xf, 0x14);  // 15 is no S4
  expect(processed(17, DataType::s32, 15, true, one5), 0x7, 0x14);
  expect(processed(17, DataType::s32, 100, false, one5 | std::uint64_t{0x10} << 37), 0xf, 0x14);  // 15 - 16
  expect(processed(19, DataType::s32, 70000, true, one5 | std::uint64_t{0x10000} << 37), 0xffff,
         0x14);  // 65535 - 65536
  expect(processed(24, DataType::fp32, 0x437fc000, false, scale_one | std::uint64_t{0x101} << 37), 0x00,
         0x14);  // 255.75
}

TEST(CubeGolden, CScale) {
  MatrixCase test = floats(DataType::fp32, Codes{2, 1, {0, 0}}, row_of({0x3f800000, 0x3f800000}));
  test.c = {2, 2, {0x3f800000, 0x00800000, 0x3f800000, 0x00800003}};
  test.cscale = {2, 1, {3, 1}};
  test.run();
  EXPECT_EQ(test.d.at, (Values{0x3e000000, 0x00100000, 0x3f000000, 0x00400002}));  // 1.5 units: ties to even
  EXPECT_EQ(test.flags, 0x18);
}

TEST(CubeGolden, MaximumOfMagnitudes) {
  MatrixCase test = integers(DataType::s16, row_of({1}), row_of({5}));
  test.op.post = {.row_max = true, .row_max_init = true, .max_abs = true};
  test.row_max_in = {1, 1, {0x80000000}};
  test.run();
  EXPECT_EQ(test.row_max.at, Values{0x7fffffff});
  EXPECT_EQ(test.flags, 0x04);
}

// The reference profile of pto-spec 0.58.3 multiplies codes: FP16 tiles that hold 2 and 3 give 6.
TEST(CubeGolden, RawCodes) {
  MatrixCase test = floats(DataType::fp16, row_of({2}), row_of({3}));
  test.op.accumulate = Accumulate::raw_asl;
  test.run();
  EXPECT_EQ(test.d.at, Values{6});
}

}  // namespace
}  // namespace tilevp::cube
