// The numerics against exact arithmetic (exact_oracle.hpp): every function x pair of types x PreQuant mode x layout
// with the rest at random, then larger shapes.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "models/cube/random_case.hpp"
#include "tilevp/cube/postprocess.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::cube {
namespace {

using testing::Kind;
using testing::MatrixCase;
using testing::Random;
using testing::Shape;

constexpr Operation functions[] = {Operation::tmatmul, Operation::tmatmul_bias, Operation::tmatmul_acc,
                                   Operation::tgemv,   Operation::tgemv_bias,   Operation::tgemv_acc};
constexpr const char* function_names[] = {"TMATMUL", "TMATMUL.BIAS", "TMATMUL.ACC", "TGEMV", "TGEMV.BIAS", "TGEMV.ACC"};

std::vector<DataType> ordinary_types() {
  std::vector<DataType> types;
  for (unsigned code = 0; code < 32; ++code)
    if (is_assigned(code) && is_ordinary(static_cast<DataType>(code))) types.push_back(static_cast<DataType>(code));
  return types;
}

// Every legal combination.
template <typename Visit>
void for_kinds(const Visit& visit) {
  for (const Operation function : functions)
    for (const DataType a : ordinary_types())
      for (const DataType b : ordinary_types())
        for (const PreQuantMode& mode : prequant_modes)
          for (const Layout layout : {Layout::cube_m16, Layout::cube_m32})
            if (numeric_class(a) == numeric_class(b) && accepts(mode, accumulator_of(numeric_class(a))))
              visit(Kind{function, a, b, &mode, layout});
}

struct Coverage {
  // Comparisons by cell.
  std::map<std::tuple<int, int, int, int, int>, int> cells;
  void count(const Kind& kind) {
    ++cells[{static_cast<int>(kind.operation), static_cast<int>(kind.a), static_cast<int>(kind.b), kind.mode->code,
             static_cast<int>(kind.layout)}];
  }
  int operator()(const Kind& kind) const {
    const auto found = cells.find({static_cast<int>(kind.operation), static_cast<int>(kind.a), static_cast<int>(kind.b),
                                   kind.mode->code, static_cast<int>(kind.layout)});
    return found == cells.end() ? 0 : found->second;
  }
};

// A line a PreQuant mode, a column a function and layout: pairs of types compared.
void print(const Coverage& coverage) {
  std::printf("pairs of types compared with the oracle, by PreQuant mode and function (M16/M32):\n%-16s", "");
  for (const char* name : function_names) std::printf("%14s", name);
  std::printf("\n");
  for (const PreQuantMode& mode : prequant_modes) {
    std::printf("%2d %-14s", mode.code, std::string(mode.name).c_str());
    for (const Operation function : functions) {
      std::array<int, 2> pairs{};
      for (const auto& [cell, comparisons] : coverage.cells)
        if (std::get<0>(cell) == static_cast<int>(function) && std::get<3>(cell) == mode.code && comparisons > 0)
          ++pairs[std::get<4>(cell) == static_cast<int>(Layout::cube_m32)];
      std::printf("%10d/%-3d", pairs[0], pairs[1]);
    }
    std::printf("\n");
  }
}

TEST(CubeNumbers, EveryFunctionTypePairModeAndLayout) {
  Random random(20261130);
  Coverage coverage;
  int failures = 0;
  for_kinds([&](const Kind& kind) {
    const bool gemv = is_gemv(kind.operation);
    MatrixCase test =
        random_case(random, kind, Shape{gemv ? 1 : random.between(1, 3), random.between(1, 4), random.between(1, 4)});
    const std::string difference = difference_from_oracle(test);
    if (!difference.empty() && ++failures <= 10) ADD_FAILURE() << describe(test) << ": " << difference;
    coverage.count(kind);
  });
  print(coverage);
  // 144 pairs of floats x 15 modes, 9 of signed x 13, 9 of unsigned x 1; 6 functions, 2 layouts.
  EXPECT_EQ(coverage.cells.size(), (144U * 15 + 9 * 13 + 9) * 6 * 2);
  for_kinds([&](const Kind& kind) { ASSERT_GT(coverage(kind), 0) << name(kind.a) << " x " << name(kind.b); });
  EXPECT_EQ(failures, 0);
}

// Whole cells, ragged ends, every column block count that the vector loops treat on its own.
TEST(CubeNumbers, LargerShapes) {
  Random random(7);
  const std::vector<DataType> types = ordinary_types();
  const std::size_t modes = prequant_modes.size();
  for (int run = 0; run < 160; ++run) {
    Kind kind;
    do
      kind = {functions[random.below(6)], types[random.below(static_cast<std::uint32_t>(types.size()))],
              types[random.below(static_cast<std::uint32_t>(types.size()))],
              &prequant_modes[random.below(static_cast<std::uint32_t>(modes))],
              random.one_in(2) ? Layout::cube_m16 : Layout::cube_m32};
    while (numeric_class(kind.a) != numeric_class(kind.b) ||
           !accepts(*kind.mode, accumulator_of(numeric_class(kind.a))));
    const std::uint32_t rows = kind.layout == Layout::cube_m16 ? 16 : 32;
    const bool gemv = is_gemv(kind.operation);
    const Shape shape{gemv ? 1 : random.between(1, random.one_in(4) ? rows : 5), random.between(1, gemv ? 140 : 40),
                      random.between(1, 40)};
    MatrixCase test = random_case(random, kind, shape);
    const std::string difference = difference_from_oracle(test);
    ASSERT_EQ(difference, "") << "run " << run << ": " << describe(test);
  }
}

// The sums' own rounding, which programmable modes share with the conversion, seen alone.
TEST(CubeNumbers, SumsInEveryRounding) {
  Random random(11);
  const DataType types[] = {DataType::fp32, DataType::tf32, DataType::hf32, DataType::fp16,
                            DataType::bf16, DataType::hif8, DataType::e5m2};
  for (const numeric::Rounding rounding : numeric::all_roundings)
    for (const bool saturate : {false, true})
      for (const Accumulate accumulate : {Accumulate::two_round, Accumulate::fma})
        for (const DataType a : types)
          for (const DataType b : types) {
            Kind kind{Operation::tmatmul_acc, a, b, &prequant_modes[0], Layout::cube_m16};
            MatrixCase test = random_case(random, kind, Shape{2, 3, 6});
            test.op.post = {};
            test.cscale = test.row_max_in = test.slope_vector = {};
            test.op.rounding = rounding;
            test.op.saturate = saturate;
            test.op.accumulate = accumulate;
            const std::string difference = difference_from_oracle(test);
            ASSERT_EQ(difference, "") << describe(test);
          }
}

// Sums at and beside powers of two, the limits of the results' types, their middles, and what is no number.
std::vector<std::uint32_t> edge_sums(DataType accumulator) {
  std::vector<std::uint32_t> sums;
  if (accumulator != DataType::fp32) {
    for (unsigned bit = 0; bit < 32; ++bit)
      for (const std::uint32_t step : {0U, 1U, ~0U})
        for (const std::uint32_t magnitude : {1U << bit, 3U << bit}) {
          sums.push_back(magnitude + step);
          sums.push_back(0 - (magnitude + step));
        }
    return sums;
  }
  const auto add = [&](float value) {
    for (const float near : {std::nextafter(value, 0.0F), value, std::nextafter(value, 1e38F)})
      for (const float number : {near, -near}) sums.push_back(std::bit_cast<std::uint32_t>(number));
  };
  for (int exponent = -149; exponent < 128; exponent += exponent < -30 ? 8 : 1)
    for (const float significand : {1.0F, 1.5F}) add(std::ldexp(significand, exponent));
  for (const float value : {2.5F, 3.5F, 127.5F, 255.5F, 256.5F, 432.0F, 448.0F, 464.0F, 65504.0F, 65520.0F, 65535.5F})
    add(value);
  for (const std::uint32_t bits : {0U, 1U, 0x7f7fffffU, 0x7f800000U, 0x7fc00000U, 0x7f800001U, 0x7f7f8000U})
    for (const std::uint32_t sign : {0U, 0x80000000U}) sums.push_back(bits | sign);
  return sums;
}

TEST(CubeNumbers, ConversionsOfEdges) {
  int failures = 0;
  const auto compare = [&](const MatrixOperation& op, std::uint32_t sum) {
    const Processed got = PostProcess(op)(sum, op.quant_word, op.slope_word);
    const oracle::Result want = oracle::post_process({op.post.prequant, op.post.relu, static_cast<int>(op.accumulator),
                                                      static_cast<int>(op.rounding) + 1, op.saturate},
                                                     sum, op.quant_word, op.slope_word);
    const std::uint32_t mask = ~0U >> (32 - bits(op.d_type));
    if (((got.code & mask) != want.code || got.flags != want.flags) && ++failures <= 10)
      ADD_FAILURE() << "mode " << int{op.post.prequant} << " relu " << int{op.post.relu} << ' ' << name(op.rounding)
                    << (op.saturate ? " saturate" : "") << std::hex << " of " << sum << ": " << (got.code & mask) << ' '
                    << int{got.flags} << ", oracle " << want.code << ' ' << want.flags;
  };
  for (const PreQuantMode& mode : prequant_modes)
    for (const DataType accumulator : {DataType::fp32, DataType::s32, DataType::u32})
      for (const numeric::Rounding rounding : numeric::all_roundings)
        for (const bool saturate : {false, true}) {
          if (!accepts(mode, accumulator) || (saturate && !mode.may_saturate())) continue;
          if (rounding != numeric::Rounding::rne && mode.rounding != ModeRounding::programmable) continue;
          MatrixOperation op;
          op.post.prequant = mode.code;
          op.accumulator = accumulator;
          op.d_type = result_type(mode, accumulator);
          op.rounding = rounding;
          op.saturate = saturate;
          op.quant_word = mode.parameter == Parameter::none ? 0
                          : mode.shift                      ? 0
                                                            : std::uint64_t{0x1fc00} << scale_shift;
          op.slope_word = 0x1fa00;  // 0.75
          for (const std::uint32_t sum : edge_sums(accumulator)) {
            op.post.relu = static_cast<std::uint8_t>(sum % 3 == 0 ? 2 : sum % 3 == 1 ? 1 : 0);
            compare(op, sum);
            op.post.relu = 0;
            compare(op, sum);
          }
        }
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace tilevp::cube
