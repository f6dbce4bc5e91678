// Whole runs with DMA engines and HBM that speak the four-phase protocol: the same bytes as with blocking calls, times
// within 1 %, whatever the quantum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/csv_reader.hpp"
#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/described/text.hpp"

namespace tilevp::test {
namespace {

using Words = std::vector<std::string>;

struct Outputs {
  std::string tensor;
  std::string transactions;
  boost::json::value report;

  double kernel_ps() const { return report.at("result").at("kernel_ps").to_number<double>(); }
  std::string memories() const { return described::compact(report.at("performance").at("memories")); }
};

Words in_style(const std::string& style) {
  return {"-c", "dma.coding_style=" + style, "-c", "hbm.coding_style=" + style};
}

Outputs conv(const Words& more) {
  const Folder folder;
  Words words{"run",       "conv2d",          "--shape",  "2,144,12,10",    "--filter",       "40,3,3",
              "--padding", "1,1,1,1",         "--random", "integers",       "--check",        "-q",
              "--report",  folder / "r.json", "--output", folder / "y.npy", "--transactions", folder / "t.csv"};
  words.insert(words.end(), more.begin(), more.end());
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return {read_file(folder / "y.npy"), read_file(folder / "t.csv"),
          described::parse("r.json", read_file(folder / "r.json")).tree};
}

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class CodingStyles : public ::testing::TestWithParam<std::string> {};

TEST_P(CodingStyles, GiveTheSameBytesAndTimesOfAConvolution) {
  const Words platform{"--platform", GetParam()};
  const Outputs lt = conv(platform);
  const Outputs at = conv(platform + in_style("at"));
  EXPECT_TRUE(at.tensor == lt.tensor);
  EXPECT_NEAR(at.kernel_ps(), lt.kernel_ps(), lt.kernel_ps() / 100);
}

// A memory with latency, so that responses are awaited for real.
TEST_P(CodingStyles, GiveTheSameTimesOfAConvolutionWithSlowMemory) {
  const Words platform{"--platform", GetParam(), "-c", "hbm.latency_ns=400"};
  const Outputs lt = conv(platform);
  const Outputs at = conv(platform + in_style("at"));
  EXPECT_TRUE(at.tensor == lt.tensor);
  EXPECT_NEAR(at.kernel_ps(), lt.kernel_ps(), lt.kernel_ps() / 100);
}
INSTANTIATE_TEST_SUITE_P(Platforms, CodingStyles, ::testing::Values("trn1", "trn2"),
                         [](const auto& parameter) { return parameter.param; });

TEST(CodingStyles, QuantumAndConstructionOrderChangeNothing) {
  const Outputs first = conv(in_style("at") + Words{"--quantum", "0"});
  for (const auto* quantum : {"1us", "100us"})
    for (const auto* seed : {"0", "1"}) {
      const Outputs other = conv(in_style("at") + Words{"--quantum", quantum, "--construction-seed", seed});
      EXPECT_TRUE(other.tensor == first.tensor) << quantum << " " << seed;
      EXPECT_EQ(other.kernel_ps(), first.kernel_ps()) << quantum << " " << seed;
      EXPECT_EQ(other.memories(), first.memories()) << quantum << " " << seed;
      EXPECT_TRUE(other.transactions == first.transactions) << quantum << " " << seed;
    }
}

boost::json::value bench(const Words& more) {
  const Folder folder;
  const auto result = tilevp(Words{"run", "dma/bench", "-q", "--report", folder / "r.json"} + more);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return described::parse("r.json", read_file(folder / "r.json")).tree;
}

TEST(CodingStyles, GiveTheSameDmaRates) {
  for (const auto* platform : {"trn1", "trn2"}) {
    const auto simulated = [](const boost::json::value& report) {
      return report.at("time").at("simulated_ps").to_number<double>();
    };
    const auto lt = bench({"--platform", platform});
    const auto at = bench(Words{"--platform", platform} + in_style("at"));
    EXPECT_NEAR(simulated(at), simulated(lt), simulated(lt) / 100) << platform;
  }
}

// ---- Runs that end in the middle of the traffic.

TEST(CodingStyles, TheTimeLimitEndsARunCleanly) {
  std::size_t waiting_engines = 0;
  for (const auto* limit : {"75us", "78us", "83us", "90us", "101us", "111us"}) {
    const Folder folder;
    const auto result =
        tilevp(Words{"run", "conv2d", "--shape", "2,144,12,10", "--filter", "40,3,3", "--padding", "1,1,1,1", "-q",
                     "--max-time", limit, "--report", folder / "r.json", "--transactions", folder / "t.csv", "--output",
                     folder / "y.npy", "-c", "hbm.latency_ns=400"} +
               in_style("at"));
    EXPECT_EQ(result.exit_code, 4) << limit << result.err;
    EXPECT_THAT(result.err, ::testing::HasSubstr("the time limit was reached at "));
    const auto report = described::parse("r.json", read_file(folder / "r.json")).tree;
    for (const auto& record : report.at("waiting").as_array())
      waiting_engines += record.at("what").as_string() == "responses to non-blocking accesses" ? 1 : 0;
    const auto list = CsvFile::parse(read_file(folder / "t.csv"));
    const auto end = report.at("time").at("simulated_ps").to_number<std::uint64_t>();
    for (const auto& line : list.lines) EXPECT_EQ(line["status"] == "in_flight", line.number("end_ps") > end);
    EXPECT_FALSE(exists(folder / "y.npy"));
  }
  EXPECT_GT(waiting_engines, 0u);
}

// Bytes that nobody wrote, read by two of sixteen engines at work.
TEST(CodingStyles, AFaultEndsARunCleanly) {
  const auto run = [](const char* style) {
    return test_tilevp(Words{"run", "test/copy-undefined", "-c", "hbm.latency_ns=400"} + in_style(style));
  };
  const auto at = run("at");
  EXPECT_EQ(at.exit_code, 3);
  EXPECT_THAT(at.err, ::testing::AllOf(::testing::HasSubstr("[memory.undefined_read]"),
                                       ::testing::HasSubstr("dma14 queue 0 descriptor 0"),
                                       // 0x2000000 + 60,000
                                       ::testing::HasSubstr("reads byte 0x200ea60, which nobody has written")));
  EXPECT_EQ(run("lt").exit_code, 3);
}

}  // namespace
}  // namespace tilevp::test
