// neuron/matmul and dma/bench on the simulated machines, as a user runs them: results, counters by closed form, rates
// by hand, and the kernels' times between their roofline and published measurements.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "system/command_runner.hpp"
#include "tilevp/described/document.hpp"

namespace tilevp::test {
namespace {

using Words = std::vector<std::string>;

boost::json::value report_of(Words words) {
  const Folder folder;
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"-q", "--report", folder / "r.json"});
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return described::parse("r.json", read_file(folder / "r.json")).tree;
}

std::int64_t number(const boost::json::value& report, const char* key) {
  return report.at("result").at(key).to_number<std::int64_t>();
}

double kernel_us(const boost::json::value& report) { return static_cast<double>(number(report, "kernel_ps")) / 1e6; }

struct Product {
  const char* platform;
  const char* dtype;
  std::int64_t m, k, n;
  std::int64_t matmuls;    // tiles of 128 rows x of 512 columns x of 128 of the contraction
  std::int64_t pe_cycles;  // of each max(columns, min(64, rows)), for fp32 four times that
  std::int64_t lhs_bytes;  // once for every 1024 columns
  std::int64_t rhs_bytes;  // once
};

const Product products[] = {
    {"trn1", "bf16", 1, 1, 1, 1, 1, 2, 2},
    // Rows 128 + 2, columns 512 + 5: 512 + 64 + 512 + 5 = 1093, three times for K, four times for fp32.
    {"trn1", "fp32", 130, 300, 517, 12, 13'116, 130 * 300 * 4, 300 * 517 * 4},
    {"trn2", "bf16", 130, 300, 517, 12, 3'279, 130 * 300 * 2, 300 * 517 * 2},
    // Rows 4 x 128 + 88, columns 512 + 512 + 76: 5 x 1100, twice for K; two blocks of columns.
    {"trn3", "fp16", 600, 129, 1100, 30, 11'000, 2 * 600 * 129 * 2, 129 * 1100 * 2},
    {"trn3", "bf16", 64, 1000, 30, 8, 8 * 64, 64 * 1000 * 2, 1000 * 30 * 2},
};

Words words_of(const Product& product) {
  return {"matmul",
          "--platform",
          product.platform,
          "--dtype",
          product.dtype,
          "--m",
          std::to_string(product.m),
          "--k",
          std::to_string(product.k),
          "--n",
          std::to_string(product.n),
          "--random",
          "normal"};
}

TEST(MatmulOnTheMachine, IsExactAndCounted) {
  for (const Product& product : products) {
    SCOPED_TRACE(testing::PrintToString(words_of(product)));
    auto words = words_of(product);
    words.push_back("--check=exact");
    const auto report = report_of(words);
    const auto& found = report.at("verification");
    EXPECT_EQ(found.at("compared").to_number<std::int64_t>(), product.m * product.n);
    EXPECT_EQ(found.at("mismatches").to_number<std::int64_t>(), 0);
    EXPECT_EQ(number(report, "macs"), product.m * product.k * product.n);
    EXPECT_EQ(number(report, "matmuls"), product.matmuls);
    EXPECT_EQ(number(report, "pe_cycles"), product.pe_cycles);
    EXPECT_EQ(number(report, "lhs_dma_bytes"), product.lhs_bytes);
    EXPECT_EQ(number(report, "rhs_dma_bytes"), product.rhs_bytes);
  }
}

// Against double precision: 300 terms in fp32 are off by at most 300 half ulps of the largest partial sum.
TEST(MatmulOnTheMachine, IsCloseToDoublePrecision) {
  auto words = words_of(products[1]);
  words.push_back("--check=tolerance 2e-5");
  const auto report = report_of(words);
  EXPECT_EQ(report.at("verification").at("mismatches").to_number<std::int64_t>(), 0);
  EXPECT_GT(report.at("verification").at("max_abs_error").to_number<double>(), 0.0);
}

// [4096, 8192] x [8192, 8192] in bf16 on trn1. At 2.8 GHz 32 x 16 x 64 matmuls of 512 columns take 5991.9 us. AWS
// Neuron documentation, NKI matrix multiplication tutorial: the best kernel takes 6.97 ms.
TEST(MatmulOnTheMachine, TakesBetweenTheRooflineAndThePublishedTime) {
  const auto report = report_of({"matmul", "--m", "4096", "--k", "8192", "--n", "8192", "--arithmetic", "off"});
  EXPECT_EQ(number(report, "pe_cycles"), 32 * 16 * 64 * 512);
  EXPECT_GT(kernel_us(report), 5991.8);
  EXPECT_LT(kernel_us(report), 1.1 * 6970);
}

// 256 -> 256 channels, 3 x 3, 224 x 224, bf16 on trn1: 1774224 cycles of the PE array are 633.7 us; 1300 us is what a
// university course that has this layer built for the chip sets as its limit.
TEST(ConvolutionOnTheMachine, TakesBetweenItsPeTimeAndACoursesLimit) {
  const auto report = report_of({"conv2d", "--shape", "1,256,224,224", "--filter", "256,3,3", "--arithmetic", "off"});
  EXPECT_GT(kernel_us(report), 633.6);
  EXPECT_LT(kernel_us(report), 1300);
}

double rate(const boost::json::value& report, std::int64_t engines, std::int64_t run_bytes) {
  for (const auto& row : report.at("result").at("table").as_array())
    if (row.at("engines").as_int64() == engines && row.at("run_bytes").as_int64() == run_bytes)
      return row.at("bytes_per_ns").to_number<double>();
  return 0;
}

// A point is the difference of two copies, of 257 runs (or as many as half of a partition holds: 2 of 32768 bytes) and
// of one, so the start latency of 1300 ns is in neither. Each of the two times is rounded up to a clock edge of 0.71 ns
// at a few places: 2 ns are granted.
TEST(DmaBenchOnTheMachine, RatesOfOneEngine) {
  const auto report = report_of({"dma/bench", "--engines", "1", "--direction", "load"});
  // 32768 bytes at 17 bytes/ns: 1927.5 ns. 2 / 1927.5 = 0.1 %.
  EXPECT_NEAR(rate(report, 1, 32'768), 17.0, 17.0 * 2 / 1927.5);
  // 1024 bytes take 60 ns at that rate and 107 ns by the floor of a run; half of a partition holds 82 runs.
  EXPECT_NEAR(rate(report, 1, 1024), 1024.0 / 107, 1024.0 / 107 * 2 / (81 * 107));
  // 256 runs of 107 ns.
  EXPECT_NEAR(rate(report, 1, 32), 32.0 / 107, 32.0 / 107 * 2 / (256 * 107));
}

// Sixteen engines need 272 of the 410 bytes/ns that HBM gives the core. Their first packets meet there: of 4096 bytes
// in long runs, the last waits 15 x 4096 / 410 = 150 ns in both copies, so the difference keeps no more than rounding;
// of 64 runs of 32 bytes it waits 15 x 2048 / 410 = 75 ns in the long copy alone.
TEST(DmaBenchOnTheMachine, SixteenEnginesAreSixteenTimesAsFast) {
  const auto report = report_of({"dma/bench", "--engines", "16", "--direction", "load"});
  EXPECT_NEAR(rate(report, 16, 32'768), 272, 272.0 * 2 / 1927.5);
  const double floor = 16 * 32.0 / 107;
  EXPECT_LE(rate(report, 16, 32), floor * (1 + 2.0 / (256 * 107)));
  EXPECT_GE(rate(report, 16, 32), floor * (1 - (75 + 2.0) / (256 * 107)));
}

// With a quarter of the HBM's rate the ceiling binds: 102.5 bytes/ns, and one engine still has its 17.
TEST(DmaBenchOnTheMachine, TheCeilingOfTheMemoryBinds) {
  const auto report =
      report_of({"dma/bench", "--engines", "1,16", "--direction", "load", "-c",
                 "hbm.bandwidth.ceiling_bits_per_cycle=820", "-c", "hbm.bandwidth.contiguous_bits_per_cycle=820"});
  // 16 x 32768 bytes take 5115 ns.
  EXPECT_NEAR(rate(report, 16, 32'768), 102.5, 102.5 * 2 / 5115);
  EXPECT_NEAR(rate(report, 1, 4096), 17.0, 0.05);
}

}  // namespace
}  // namespace tilevp::test
