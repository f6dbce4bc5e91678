// Every exit code, with what is printed and what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "support/vcd_reader.hpp"
#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/platform/schema.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> small{"run",      "conv2d", "--shape", "1,16,8,8",
                                     "--filter", "16,3,3", "--check", "--output"};

boost::json::value report_of(const std::string& file) {
  auto tree = described::parse(file, read_file(file)).tree;
  platform::check_report(tree, file);
  return tree;
}

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Outcomes, FinishedAndVerified) {
  const Folder folder;
  const auto result = tilevp(with(small, {folder / "y.npy", "--report", folder / "r.json"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, AllOf(HasSubstr("neuron/conv2d"), HasSubstr("trn1"), HasSubstr("bound by"),
                                HasSubstr("0 of 576 values differ"), HasSubstr(folder / "y.npy")));
  const auto report = report_of(folder / "r.json");
  EXPECT_EQ(report.at("status"), "finished");
  const auto& time = report.at("time");
  EXPECT_EQ(time.at("kernel_ps"), report.at("result").at("kernel_ps"));
  EXPECT_GT(time.at("kernel_ps").to_number<std::uint64_t>(), 0u);
  // The host's transfers take longer than this small kernel.
  EXPECT_LT(2 * time.at("kernel_ps").to_number<std::uint64_t>(), time.at("simulated_ps").to_number<std::uint64_t>());
  EXPECT_EQ(report.at("verification").at("mismatches").to_number<int>(), 0);
  EXPECT_EQ(tilevp({"check", folder / "y.npy", folder / "r.json"}).exit_code, 0);
}

TEST(Outcomes, QuietRunsPrintNothing) {
  const auto result = test_tilevp({"run", "test/good", "-q"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out + result.err, "");
}

TEST(Outcomes, WarningsAreOnStderrAlone) {
  const auto quiet = test_tilevp({"run", "test/warning", "-q"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.err, "tilevp: warning: a warning\n");
  EXPECT_EQ(quiet.out, "");
  const auto full = test_tilevp({"run", "test/warning"});
  EXPECT_EQ(full.err, "tilevp: warning: a warning\n");
  EXPECT_THAT(full.out, AllOf(HasSubstr("test/warning"), Not(HasSubstr("a warning"))));
}

TEST(Outcomes, TheSummaryTellsKernelAndHostApart) {
  const auto result = tilevp({"run", "conv2d", "--shape", "1,16,8,8", "--filter", "16,3,3", "-cdma.engines=1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("platform      trn1 with checks.protocol=true, dma.engines=1\n"),
                                HasSubstr("\nkernel        "), HasSubstr(" with the host's accesses\n"),
                                ContainsRegex("\nwaited        core0\\.pe [0-9]+ % [a-z_]+, "),
                                ContainsRegex("bound by      (latency \\(busiest: |dma0|hbm|core0)")));
}

TEST(Outcomes, TheHostsOwnTrafficBoundsNothing) {
  const Folder folder;
  EXPECT_EQ(test_tilevp({"run", "test/store", "-q", "--report", folder / "r.json"}).exit_code, 0);
  const auto report = report_of(folder / "r.json");
  const auto& hbm = report.at("performance").at("memories").at(2);
  EXPECT_EQ(hbm.at("path"), "hbm");
  EXPECT_EQ(hbm.at("bytes_written").to_number<std::uint64_t>(), 1u << 20);
  EXPECT_GT(hbm.at("busy_ps").to_number<std::uint64_t>(), 0u);
  EXPECT_TRUE(report.at("performance").at("bound_by").is_null());
  EXPECT_EQ(report.at("time").at("kernel_ps").to_number<std::uint64_t>(), 0u);
}

// A column of three fp32 as .npy.
std::string column_npy(float a, float b, float c) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }";
  header.resize(117, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00\x76\x00", 10);
  file += header;
  for (const float value : {a, b, c}) file.append(reinterpret_cast<const char*>(&value), sizeof value);
  return file;
}

// 3e38 + 3e38 - 3e38 overflows in the machine's order, not in double precision.
TEST(Outcomes, VerificationFailsAtAnInfinityToo) {
  const Folder folder;
  write_file(folder / "l.npy", column_npy(3e38F, 3e38F, -3e38F));
  write_file(folder / "r.npy", column_npy(1, 1, 1));
  const auto result = tilevp({"run", "matmul", "--lhs-t", folder / "l.npy", "--rhs", folder / "r.npy", "--dtype",
                              "fp32", "--check=tolerance 1e-5", "-q"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("1 of 1 values differ; first at [0, 0]: got inf, expected 3"));
}

TEST(Outcomes, AReportOnTheStandardOutputFollowsNothingAway) {
  const auto result = tilevp({"run", "conv2d", "--shape", "1,2,5,5", "--filter", "2,3,3", "--report", "/dev/stdout"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\"schema\": \"tilevp-report/1\""), HasSubstr("bound by")));
}

TEST(Outcomes, VerificationFailed) {
  const Folder folder;
  const auto result = test_tilevp({"run", "test/wrong", "--report", folder / "r.json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("tilevp: error: verification failed (exact): 1 of 8 values differ; first at [1, 3]: "
                        "got 2.5, expected 2"));
  const auto report = report_of(folder / "r.json");
  EXPECT_EQ(report.at("status"), "verification_failed");
  EXPECT_EQ(report.at("result").at("answer").to_number<int>(), 42);
}

// One rule of the machine: its id, what the message must name.
struct Broken {
  const char* program;
  const char* rule;
  const char* module;
  std::vector<std::string> texts;
};

TEST(Outcomes, FaultsNameTimeModuleInstructionAndRule) {
  const std::vector<Broken> all{
      {"test/free-size", "pe.moving_free_size", "core0.pe", {"matmul", "#0", "640", "512"}},
      {"test/accumulate", "psum.accumulate_unstarted", "core0", {"matmul #0", "partition 0", "START"}},
      {"test/undefined-read", "sbuf.undefined_read", "core0", {"#0", "1024"}},
      {"test/unmapped", "memory.address_error", "host", {"0x700000000000"}},
  };
  for (const auto& broken : all) {
    const Folder folder;
    const auto result = test_tilevp({"run", broken.program, "--report", folder / "r.json", "--vcd", folder / "w.vcd"});
    EXPECT_EQ(result.exit_code, 3) << broken.program << result.err;
    EXPECT_THAT(result.err, AllOf(StartsWith("tilevp: error: fault at "), HasSubstr(" ps in "),
                                  HasSubstr(broken.module), HasSubstr(std::string("[") + broken.rule + "]")));
    for (const auto& text : broken.texts) EXPECT_THAT(result.err, HasSubstr(text)) << broken.program;
    const auto report = report_of(folder / "r.json");
    EXPECT_EQ(report.at("status"), "fault");
    EXPECT_EQ(report.at("fault").at("rule"), broken.rule);
    EXPECT_GT(report.at("fault").at("time_ps").to_number<std::uint64_t>(), 0u);
    EXPECT_NO_THROW(VcdFile::read(folder / "w.vcd"));
  }
}

TEST(Outcomes, ADeadlockTellsWhoWaits) {
  const Folder folder;
  const auto result = test_tilevp({"run", "test/deadlock", "--report", folder / "r.json"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("core0.sync"), HasSubstr("semaphore 7"), HasSubstr("(has 0, wants "),
                                HasSubstr("3"), HasSubstr("host waits for interrupt line 0 since ")));
  const auto report = report_of(folder / "r.json");
  EXPECT_EQ(report.at("status"), "no_end");
  EXPECT_EQ(report.at("waiting").as_array().size(), 2u);
}

TEST(Outcomes, TheTimeLimit) {
  const Folder folder;
  const auto result = tilevp(with(small, {folder / "y.npy", "--report", folder / "r.json", "--max-time", "10us"}));
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("the time limit was reached at 10 us, 1 agent waits"),
                                HasSubstr("host waits for its own write at 0x"), HasSubstr(" bytes, wants ")));
  EXPECT_EQ(report_of(folder / "r.json").at("time").at("simulated_ps").to_number<std::uint64_t>(), 10'000'000u);
  EXPECT_FALSE(exists(folder / "y.npy"));
  // In cycles of a clock: 28,000 cycles of 2.8 GHz are 10 us.
  EXPECT_THAT(test_tilevp({"run", "test/spin", "--max-time", "28000cycles@pe"}).err, HasSubstr("at 10 us"));
}

TEST(Outcomes, ADefectIsOurs) {
  const auto result = test_tilevp({"run", "test/defect"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.err, HasSubstr("tilevp: error: defect of tilevp: a mistake of ours"));
}

TEST(Outcomes, SignalsCloseTheFiles) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Folder folder;
    const auto vcd = folder / "w.vcd";
    // The progress line appears while simulated time moves, so the handlers are in place.
    const auto result =
        test_tilevp({"run", "test/spin", "--report", folder / "r.json", "--vcd", vcd, "--progress", "on"},
                    [sent = signal](int child, const std::string& err) {
                      while (read_file(err).empty()) std::this_thread::yield();
                      kill(child, sent);
                    });
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr("interrupted by SIG"));
    EXPECT_EQ(report_of(folder / "r.json").at("status"), "interrupted");
    EXPECT_NO_THROW(VcdFile::read(vcd));
  }
}

}  // namespace
}  // namespace tilevp::test
