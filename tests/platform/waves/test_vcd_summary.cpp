#include "tilevp/platform/waves/vcd_summary.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace tilevp::platform {
namespace {

VcdSummary summary_of(const std::string& changes) {
  std::istringstream stream(
      "$timescale 10ns $end $scope module t $end $var wire 1 ! busy $end $var wire 1 ! copy $end "
      "$var wire 4 \" count [3:0] $end $var wire 1 # idle $end $upscope $end $enddefinitions $end " +
      changes);
  return summarise_vcd(stream, "w.vcd");
}

// busy: 1 in [20, 50), [60, 70) and [90, 100], x in [70, 80). Hand-counted: 30 + 10 + 10 of 100 - 10 ticks.
TEST(VcdSummary, CountsByHand) {
  const auto summary =
      summary_of("#10 $dumpvars 0! bx \" 0# $end #20 1! b1 \" #50 0! b0001 \" #60 1! #70 x! b10 \" #80 0! #90 1! #100");
  EXPECT_EQ(summary.tick_count, 10u);
  EXPECT_EQ(summary.tick_exponent, -9);
  EXPECT_EQ(summary.begin, 10u);
  EXPECT_EQ(summary.end, 100u);
  ASSERT_EQ(summary.signals.size(), 4u);
  const auto& busy = summary.signals[0];
  EXPECT_EQ(busy.name, "t.busy");
  EXPECT_EQ(busy.changes, 6u);
  EXPECT_EQ(busy.first, 20u);
  EXPECT_EQ(busy.last, 90u);
  EXPECT_EQ(busy.high, 50u);
  EXPECT_EQ(busy.pulses, 3u);
  const auto& copy = summary.signals[1];
  EXPECT_EQ(copy.name, "t.copy");
  EXPECT_EQ(copy.high, 50u);
  const auto& count = summary.signals[2];
  EXPECT_EQ(count.changes, 2u);  // b1 and b0001 are one value
  EXPECT_EQ(count.last, 70u);
  EXPECT_EQ(count.high, 0u);
  EXPECT_EQ(summary.signals[3].changes, 0u);
}

TEST(VcdSummary, AFileMayBeginHighAndHoldNoTimeAtAll) {
  const auto high = summary_of("#5 1! #9 0! #12 1!");
  EXPECT_EQ(high.signals[0].high, 4u);
  EXPECT_EQ(high.signals[0].pulses, 2u);
  EXPECT_EQ(high.signals[0].changes, 2u);
  const auto empty = summary_of("");
  EXPECT_EQ(empty.end, 0u);
  EXPECT_EQ(empty.signals[0].changes, 0u);
}

// Values before the first time are of tick 0: high in [0, 10) of 0 to 30.
TEST(VcdSummary, BeginsWithTheFirstValue) {
  const auto early = summary_of("1! #10 0! #30");
  EXPECT_EQ(early.begin, 0u);
  EXPECT_EQ(early.end, 30u);
  EXPECT_EQ(early.signals[0].high, 10u);
}

}  // namespace
}  // namespace tilevp::platform
