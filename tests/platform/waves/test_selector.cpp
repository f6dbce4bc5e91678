#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/waves/selector.hpp"

namespace tilevp::platform {
namespace {

using testing::ElementsAre;

const std::vector<std::string> names{"core0.pe.busy", "core0.pe.opcode", "core0.act.busy", "dma0.busy", "dma1.depth"};

std::vector<std::string> selected(const std::vector<std::string>& patterns) {
  const auto chosen = Selector(patterns).select(names);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (chosen[i]) result.push_back(names[i]);
  return result;
}

TEST(Glob, MatchesTheWholeText) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("dma*", "dma0.busy"));
  EXPECT_TRUE(glob_match("*.b*y", "a.b.busy"));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_TRUE(glob_match("*a*b", "xaxbab"));
  EXPECT_TRUE(glob_match("**", "x"));
  EXPECT_FALSE(glob_match("dma", "dma0"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_FALSE(glob_match("*ab", "aba"));
  EXPECT_FALSE(glob_match("", "x"));
}

TEST(Selector, TakesEverythingWithoutPatterns) { EXPECT_EQ(selected({}), names); }

TEST(Selector, ALaterPatternOverrides) {
  EXPECT_THAT(selected({"dma*"}), ElementsAre("dma0.busy", "dma1.depth"));
  EXPECT_THAT(selected({"*.busy", "!core0.*"}), ElementsAre("dma0.busy"));
  EXPECT_THAT(selected({"*", "!core0*", "*.opcode"}), ElementsAre("core0.pe.opcode", "dma0.busy", "dma1.depth"));
  EXPECT_THAT(selected({"!*.busy"}), ElementsAre("core0.pe.opcode", "dma1.depth"));
}

TEST(Selector, AModuleStandsForAllBelowIt) {
  EXPECT_THAT(selected({"core0.pe"}), ElementsAre("core0.pe.busy", "core0.pe.opcode"));
  EXPECT_THAT(selected({"core0", "!*.pe"}), ElementsAre("core0.act.busy"));
}

TEST(Selector, APatternThatMatchesNothingIsTheUsersMistake) {
  EXPECT_THAT(
      [] {
        selected({"*", "dna0*"});
      },
      testing::ThrowsMessage<UserError>(
          "--trace 'dna0*': matches nothing; nearest are dma0.busy, dma1.depth, core0.pe.busy"));
  EXPECT_THAT([] { selected({"!pool"}); },
              testing::ThrowsMessage<UserError>(testing::StartsWith("--trace '!pool': matches nothing; nearest are ")));
  EXPECT_THAT([] { Selector({"*"}).select({}); },
              testing::ThrowsMessage<UserError>("--trace '*': matches nothing; there are no probes"));
  EXPECT_THAT([] { Selector({"!"}); }, testing::ThrowsMessage<UserError>("--trace '!': expected a pattern"));
}

}  // namespace
}  // namespace tilevp::platform
