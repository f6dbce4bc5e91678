#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "tilevp/described/document.hpp"

namespace tilevp::described {
namespace {

std::string error_of(std::string_view text, Comments comments = Comments::refused) {
  try {
    parse("f.json", text, comments);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Parse, RandomFullPrecisionDoublesSurviveBitForBit) {
  constexpr std::uint64_t seed = 20240611;
  std::mt19937_64 random(seed);
  std::vector<double> doubles;
  std::string text = "[";
  while (doubles.size() < 100'000) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);  // the oracle prints, not our writer
    text += std::string(doubles.empty() ? "" : ",") + digits;
    doubles.push_back(value);
  }
  const auto parsed = parse("", text + "]").tree;
  const auto again = parse("", compact(parsed)).tree;
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(doubles[i]);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(parsed.at(i).to_number<double>()), bits)
        << "seed " << seed << " element " << i;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(again.at(i).to_number<double>()), bits)
        << "seed " << seed << " element " << i;
  }
}

TEST(Parse, KeepsIntegersAsIntegers) {
  const auto tree =
      parse("", "[9223372036854775807, 18446744073709551615, -9223372036854775808, 1e9, 18446744073709551616]").tree;
  EXPECT_EQ(tree.at(0).get_int64(), 9223372036854775807);
  EXPECT_EQ(tree.at(1).get_uint64(), 18446744073709551615U);
  EXPECT_EQ(tree.at(2).get_int64(), INT64_MIN);
  EXPECT_EQ(tree.at(3).get_double(), 1e9);
  EXPECT_EQ(tree.at(4).get_double(), 0x1p64);
  EXPECT_EQ(compact(tree),
            "[9223372036854775807,18446744073709551615,-9223372036854775808,1000000000,18446744073709551616]");
}

TEST(Parse, KeepsTheSignOfZero) {
  const auto tree = parse("", "[-0, -0.0, 0]").tree;
  EXPECT_TRUE(std::signbit(tree.at(0).get_double()));
  EXPECT_EQ(compact(tree), "[-0.0,-0.0,0]");
}

TEST(Parse, NamesLineAndColumnOfASyntaxError) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  \"b\": x\n}"), testing::StartsWith("f.json:3:8: not JSON: "));
  EXPECT_THAT(error_of("{\"a\": 1"), testing::StartsWith("f.json:1:8: not JSON: incomplete"));
  EXPECT_THAT(error_of(""), testing::StartsWith("f.json:1:1: not JSON: incomplete"));
  EXPECT_EQ(error_of("{}\n 7"), "f.json:2:2: not JSON: text after the value");
}

TEST(Parse, RefusesDuplicateKeys) {
  EXPECT_EQ(error_of("{\"dram\": {\"rate\": 1,\n\"rate\": 2}}"), "f.json:2:2: duplicate key 'dram.rate'");
  EXPECT_EQ(error_of("[{\"a\": 1}, {\"b\": 1, \"b\": 2}]"), "f.json:1:22: duplicate key '[1].b'");
  EXPECT_EQ(error_of("{\"a\": {\"b\": 1}, \"a.b\": 2, \"c\": {\"b\": 1}}"), "no error");
}

TEST(Parse, RefusesNumbersBeyondADouble) {
  EXPECT_EQ(error_of("{\"a\": [1, 1e400]}"), "f.json:1:11: the number 1e400 of 'a[1]' is beyond a double's range");
  EXPECT_THAT(error_of("[-1e999999999999]"), testing::HasSubstr("exponent overflow"));
  EXPECT_THAT(error_of("[1e-400]"), testing::HasSubstr("the number 1e-400 of '[0]' is beyond a double's range"));
  EXPECT_THAT(error_of("[NaN]"), testing::HasSubstr("not JSON"));
  EXPECT_THAT(error_of("[Infinity]"), testing::HasSubstr("not JSON"));
}

TEST(Parse, RefusesDeepNesting) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(error_of(nested(32)), "no error");
  EXPECT_EQ(error_of(nested(33)), "f.json:1:33: nested more than 32 deep");
}

TEST(Parse, TakesCommentsOnlyWhereAllowed) {
  const auto* text = "{ // source: table 3\n \"a\": /* bytes */ 1 }";
  EXPECT_EQ(error_of(text, Comments::allowed), "no error");
  EXPECT_THAT(error_of(text), testing::StartsWith("f.json:1:3: not JSON: "));
}

TEST(Parse, KnowsTheLineOfEachKey) {
  const auto parsed = parse("", "{\n\"a\": 1,\n\"b\": [\n{\"c\\n\": 1}, {\n\"d\": 2}]}");
  EXPECT_EQ(parsed.lines.at("a"), 2U);
  EXPECT_EQ(parsed.lines.at("b"), 3U);
  EXPECT_EQ(parsed.lines.at("b[1].d"), 5U);
}

TEST(Text, PrettyIsStableAndIndentsByTwo) {
  const auto tree =
      parse("", R"({"z": 1, "a": {"list": [1, 2.5, "x\ny"], "objects": [{"k": null}], "none": [], "empty": {}}})").tree;
  EXPECT_EQ(pretty(tree), R"({
  "z": 1,
  "a": {
    "list": [1, 2.5, "x\ny"],
    "objects": [
      {
        "k": null
      }
    ],
    "none": [],
    "empty": {}
  }
}
)");
}

TEST(Text, WritesTheShortestDoubleThatReadsBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(8), "8");
  EXPECT_EQ(number_text(1e22), "1e+22");
  EXPECT_EQ(number_text(5e-324), "5e-324");
  EXPECT_THROW(number_text(INFINITY), Defect);
  EXPECT_THROW(number_text(NAN), Defect);
}

}  // namespace
}  // namespace tilevp::described
