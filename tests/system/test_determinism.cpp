// Same input, same bytes out: whatever the run, the quantum and the order in which the platform was built.
#include <gtest/gtest.h>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/described/text.hpp"

namespace tilevp::test {
namespace {

struct Outputs {
  std::string report;  // without the host's figures and file names
  std::string waves;
  std::string transactions;
  std::string timeline;
  std::string tensor;
  bool operator==(const Outputs&) const = default;
};

enum class Numbers { computed, skipped };

// A convolution with two C tiles, padding and several strips, with the options `more`.
Outputs run(const std::vector<std::string>& more, Numbers numbers = Numbers::computed) {
  const Folder folder;
  std::vector<std::string> words{"run",       "conv2d",  "--shape", "2,144,12,10", "--filter",         "40,3,3",
                                 "--padding", "1,1,1,1", "-q",      "-c",          "report.period=3us"};
  for (const auto& [option, file] : {std::pair("--report", "r.json"), std::pair("--vcd", "w.vcd"),
                                     std::pair("--transactions", "t.csv"), std::pair("--timeline", "t.json")})
    words.insert(words.end(), {option, folder / file});
  if (numbers == Numbers::computed) words.insert(words.end(), {"--check", "--output", folder / "y.npy"});
  words.insert(words.end(), more.begin(), more.end());
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  auto report = described::parse("r.json", read_file(folder / "r.json")).tree;
  for (const auto* key : {"host", "files"}) report.as_object().erase(key);
  report.at("program").as_object().erase("options");
  return {described::compact(report), read_file(folder / "w.vcd"), read_file(folder / "t.csv"),
          read_file(folder / "t.json"), numbers == Numbers::computed ? read_file(folder / "y.npy") : ""};
}

TEST(Determinism, TwoRuns) {
  const auto first = run({});
  EXPECT_GT(first.waves.size(), 1000u);
  EXPECT_TRUE(first == run({}));
}

TEST(Determinism, QuantumAndConstructionOrder) {
  const auto first = run({"--quantum", "0"});
  for (const auto* quantum : {"0", "1us", "100us"})
    for (const auto* seed : {"0", "1", "2"}) {
      const auto other = run({"--quantum", quantum, "--construction-seed", seed});
      EXPECT_EQ(other.report, first.report) << "quantum " << quantum << ", construction seed " << seed;
      EXPECT_TRUE(other.waves == first.waves) << "quantum " << quantum << ", construction seed " << seed;
      EXPECT_TRUE(other.transactions == first.transactions) << "quantum " << quantum << ", construction seed " << seed;
      EXPECT_TRUE(other.timeline == first.timeline) << "quantum " << quantum << ", construction seed " << seed;
      EXPECT_TRUE(other.tensor == first.tensor) << "quantum " << quantum << ", construction seed " << seed;
    }
}

TEST(Determinism, TheSeedDecidesTheNumbersOnly) {
  const auto first = run({"--seed", "1"});
  const auto second = run({"--seed", "2"});
  EXPECT_NE(first.tensor, second.tensor);
  EXPECT_TRUE(first.waves == second.waves);
  EXPECT_TRUE(first.transactions == second.transactions);
}

// Times, waits, waves and counters do not depend on the numbers.
TEST(Determinism, ArithmeticOffChangesNothingButTheNumbers) {
  EXPECT_TRUE(run({"--arithmetic", "on"}, Numbers::skipped) == run({"--arithmetic", "off"}, Numbers::skipped));
}

TEST(Determinism, ThreadsChangeNothing) {
  const auto one = run({"--threads", "1"});
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(one == run({"--threads", "2"}));
}

TEST(Determinism, LocaleTimeZoneAndFolderDoNotMatter) {
  const auto first = run({});
  setenv("TZ", "Pacific/Kiritimati", 1);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_TRUE(first == run({}));
}

}  // namespace
}  // namespace tilevp::test
