#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "support/vcd_reader.hpp"

namespace tilevp::test {
namespace {

using testing::HasSubstr;

const std::string head =
    "$timescale 1ps $end\n$scope module top $end\n$var wire 1 ! busy $end\n"
    "$var wire 4 % n [3:0] $end\n$upscope $end\n$enddefinitions $end\n";

std::string error_of(const std::string& text) {
  try {
    VcdFile::parse(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(VcdReader, MeasuresSignals) {
  const auto file = VcdFile::parse(head + "#0\n$dumpvars\nx!\nb0 %\n$end\n#10\n1!\n#25\n0!\nb101 %\n#40\n1!\n#100\n");
  EXPECT_EQ(file.timescale(), "1ps");
  EXPECT_THAT(file.names(), testing::ElementsAre("top.busy", "top.n"));
  EXPECT_EQ(file.pulses("top.busy"), 2U);
  EXPECT_EQ(file.busy_ps("top.busy"), 15U + 60U);
  EXPECT_EQ(file.value_at("top.busy", 5), std::nullopt);
  EXPECT_EQ(file.value_at("top.n", 24), 0U);
  EXPECT_EQ(file.value_at("top.n", 25), 5U);
  EXPECT_EQ(file.end_ps(), 100U);
  EXPECT_THROW(file.trace("top.none"), std::runtime_error);
}

TEST(VcdReader, FindsWhatIsMalformed) {
  EXPECT_THAT(error_of(head + "#5\n#5\n"), HasSubstr("time does not go on: 5"));
  EXPECT_THAT(error_of(head + "#5\n#4\n"), HasSubstr("time does not go on: 4"));
  EXPECT_THAT(error_of(head + "#5\n1?\n"), HasSubstr("unknown code"));
  EXPECT_THAT(error_of(head + "#5\nb1 !\n"), HasSubstr("wrong width"));
  EXPECT_THAT(error_of(head + "#5\nb10101 %\n"), HasSubstr("digits beyond the width"));
  EXPECT_THAT(error_of(head + "#5\nb12 %\n"), HasSubstr("digits other than"));
  EXPECT_THAT(error_of(head + "1!\n"), HasSubstr("before the first time"));
  EXPECT_THAT(error_of(head + "#0\n$dumpvars\n0!\n$end\n"), HasSubstr("not in $dumpvars: top.n"));
  EXPECT_THAT(error_of(head), HasSubstr("no time at all"));
  EXPECT_THAT(error_of("$timescale 1ps $end\n"), HasSubstr("no $enddefinitions"));
  EXPECT_THAT(error_of("$scope module a $end\n$enddefinitions $end\n"), HasSubstr("an open $scope"));
  EXPECT_EQ(VcdFile::parse(head + "#0\n0!\n#1\n0!\n").redundant_changes(), 1U);
}

}  // namespace
}  // namespace tilevp::test
