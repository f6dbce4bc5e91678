#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/sc_main/arguments.hpp"

namespace tilevp::command {
namespace {

using testing::ElementsAre;

const std::vector<OptionSpec> known{{.name = "--platform", .placeholder = "NAME"},
                                    {.name = "--padding", .placeholder = "N"},
                                    {.name = "-c", .placeholder = "P=V", .repeatable = true},
                                    {.name = "--check", .takes = Takes::optional_value, .placeholder = "HOW"},
                                    {.name = "-q", .takes = Takes::nothing}};

Arguments parse(const std::vector<std::string>& words) { return parse_arguments(words, known, "tilevp x"); }

std::string error_of(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Arguments, ValuesFlagsAndPositionals) {
  const auto arguments = parse({"a", "--platform", "trn1", "-q", "b", "--check"});
  EXPECT_THAT(arguments.positionals(), ElementsAre("a", "b"));
  EXPECT_EQ(arguments.value("--platform"), "trn1");
  EXPECT_TRUE(arguments.has("-q"));
  EXPECT_TRUE(arguments.has("--check"));
  EXPECT_EQ(arguments.value("--check"), "");
  EXPECT_EQ(arguments.value("--padding", "0"), "0");
}

TEST(Arguments, ValuesMayHoldEqualsAndBeginWithADash) {
  const auto arguments = parse({"--padding", "-1,-1,0,0", "-c", "a.b=3", "-c", "x=1", "--check=ulp 2"});
  EXPECT_EQ(arguments.value("--padding"), "-1,-1,0,0");
  EXPECT_THAT(arguments.all("-c"), ElementsAre("a.b=3", "x=1"));
  EXPECT_EQ(arguments.value("--check"), "ulp 2");
}

TEST(Arguments, AShortOptionMayBeJoinedWithItsValue) {
  EXPECT_THAT(parse({"-ca.b=3", "-c", "x=1"}).all("-c"), ElementsAre("a.b=3", "x=1"));
  EXPECT_EQ(error_of({"-qx"}), "-qx: unknown option of 'tilevp x'; nearest is '-q'");
}

TEST(Arguments, AnOptionalValueIsNotTheNextWord) {
  EXPECT_THAT(parse({"--check", "exact"}).positionals(), ElementsAre("exact"));
}

TEST(Arguments, AfterTwoDashesAllIsPositional) {
  EXPECT_THAT(parse({"--", "-q", "--"}).positionals(), ElementsAre("-q", "--"));
}

TEST(Arguments, Mistakes) {
  EXPECT_EQ(error_of({"--platfrom", "x"}), "--platfrom: unknown option of 'tilevp x'; nearest is '--platform'");
  EXPECT_EQ(error_of({"--platform"}), "--platform: expected a value (NAME), found nothing");
  EXPECT_EQ(error_of({"-q=1"}), "-q: takes no value, found '-q=1'");
  EXPECT_EQ(error_of({"--platform", "a", "--platform=b"}), "--platform: given twice: 'a' and 'b'");
}

TEST(Arguments, Numbers) {
  EXPECT_EQ(whole_number("--n", "18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(non_negative_number("--r", "1e-3"), 0.001);
  for (const auto* text : {"", "-1", "1.5", "0x10", "5 ", "18446744073709551616"})
    EXPECT_THROW(whole_number("--n", text, 0, UINT64_MAX), UserError) << text;
  EXPECT_THROW(whole_number("--n", "11", 0, 10), UserError);
  for (const auto* text : {"", "-1", "nan", "inf", "1,5"})
    EXPECT_THROW(non_negative_number("--r", text), UserError) << text;
}

}  // namespace
}  // namespace tilevp::command
