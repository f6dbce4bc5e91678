// The numerics against exact arithmetic (exact_oracle.hpp): every function x pair of types x PreQuant mode x layout
// with the rest at random, then larger shapes.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include "models/cube/random_case.hpp"
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

}  // namespace
}  // namespace tilevp::cube
