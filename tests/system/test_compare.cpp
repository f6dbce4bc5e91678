// `tilevp compare` of reports and tensors that the command has written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void run_conv(const std::vector<std::string>& more, const std::string& report) {
  std::vector<std::string> words{"run",    "conv2d", "--shape",  "1,16,8,8", "--filter",
                                 "16,3,3", "-q",     "--report", report};
  words.insert(words.end(), more.begin(), more.end());
  const auto result = tilevp(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
}

std::string kernel_ps(const std::string& report) {
  const auto tree = described::parse(report, read_file(report)).tree;
  return std::to_string(tree.at("time").at("kernel_ps").to_number<std::uint64_t>());
}

TEST(Compare, RunsThatDifferInWhatTheyWroteAndCheckedAreEqual) {
  const Folder folder;
  run_conv({}, folder / "a.json");
  run_conv({"--check", "--vcd", folder / "w.vcd", "--output", folder / "y.npy"}, folder / "b.json");
  // An option that is given as its default.
  run_conv({"--stride", "1,1", "--output", folder / "z.npy"}, folder / "c.json");
  for (const auto* other : {"b.json", "c.json"}) {
    const auto result = tilevp({"compare", folder / "a.json", folder / other});
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_THAT(result.out, AllOf(StartsWith("time.kernel_ps: " + kernel_ps(folder / "a.json") + "\n"),
                                  HasSubstr("\n0 figures differ"), Not(HasSubstr("->"))));
  }
}

TEST(Compare, TheKernelsTimeComesFirstWithItsChange) {
  const Folder folder;
  run_conv({}, folder / "a.json");
  run_conv({"-c", "dma.start_latency_ns=20000"}, folder / "b.json");
  const auto result = tilevp({"compare", folder / "a.json", folder / "b.json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, StartsWith("time.kernel_ps: " + kernel_ps(folder / "a.json") + " -> " +
                                     kernel_ps(folder / "b.json") + " (+"));
  EXPECT_THAT(result.out, AllOf(HasSubstr(" %)\ntime.simulated_ps: "), HasSubstr("\nperformance.bound_by: "),
                                HasSubstr("platform.overrides[1]: absent -> \"dma.start_latency_ns=20000\"")));
}

TEST(Compare, TensorsOfOtherShapesDiffer) {
  const Folder folder;
  run_conv({"--output", folder / "a.npy", "--output-layout", "nchw"}, folder / "a.json");
  run_conv({"--output", folder / "b.npy", "--output-layout", "ohwn"}, folder / "b.json");
  const auto result = tilevp({"compare", folder / "a.npy", folder / "b.npy"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, StartsWith("shapes differ: "));
  EXPECT_EQ(tilevp({"compare", folder / "a.npy", folder / "a.npy"}).exit_code, 0);
}

}  // namespace
}  // namespace tilevp::test
