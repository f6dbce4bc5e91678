#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/sc_main/times.hpp"

namespace tilevp::command {
namespace {

using testing::HasSubstr;

const std::vector<ClockDomain> clocks{ClockDomain("pe", 2'800'000'000), ClockDomain("vector", 1'120'000'000)};

std::uint64_t parse(const std::string& text) { return parse_time("--max-time", text, clocks); }

std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Times, Units) {
  EXPECT_EQ(parse("0"), 0u);
  EXPECT_EQ(parse("7ps"), 7u);
  EXPECT_EQ(parse("20ms"), 20'000'000'000u);
  EXPECT_EQ(parse("1.5us"), 1'500'000u);
  EXPECT_EQ(parse("0.001ns"), 1u);
  EXPECT_EQ(parse("7.0ps"), 7u);
  EXPECT_EQ(parse("0.0010ns"), 1u);
  EXPECT_EQ(parse("3s"), 3'000'000'000'000u);
  EXPECT_EQ(parse("1500cycles@pe"), 535'714u);  // floor(1500 / 2.8 GHz)
  EXPECT_EQ(parse("28cycles@vector"), 25'000u);
}

TEST(Times, Mistakes) {
  for (const auto* text : {"", "ms", "20", "1.ms", "-1ms", "20 ms", "1.5cycles@pe", "2h", "1e3ns"})
    EXPECT_THAT(error_of(text), HasSubstr("expected a time like 20ms")) << text;
  EXPECT_THAT(error_of("1cycles@vectr"), HasSubstr("unknown clock domain 'vectr'; nearest is 'vector'"));
  EXPECT_THAT(error_of("1cycles@fabric"), HasSubstr("unknown clock domain 'fabric'; there are pe, vector"));
  EXPECT_THAT(error_of("0.0001ns"), HasSubstr("finer than 1 ps"));
  EXPECT_THAT(error_of("18446744073709551616ps"), HasSubstr("below 2^64 ps"));
  EXPECT_THAT(error_of("18446745s"), HasSubstr("below 2^64 ps"));
  EXPECT_THAT(error_of("18446744073709551615cycles@pe"), HasSubstr("below 2^64 ps"));
}

TEST(Times, Text) {
  EXPECT_EQ(time_text(0), "0 ps");
  EXPECT_EQ(time_text(999), "999 ps");
  EXPECT_EQ(time_text(535'714), "535.714 ns");
  EXPECT_EQ(time_text(1'500'000), "1.5 us");
  EXPECT_EQ(time_text(20'000'000'000), "20 ms");
}

}  // namespace
}  // namespace tilevp::command
