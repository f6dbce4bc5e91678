// --break: where it stops, what it shows, how the run ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/platform/schema.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

const std::string example = std::string(TILEVP_SOURCE_DIR) + "/docs/examples/matmul.s";

CommandResult run_example(const std::vector<std::string>& more) {
  std::vector<std::string> words{"run", "neuron/raw", example, "-q"};
  words.insert(words.end(), more.begin(), more.end());
  return tilevp(words);
}

TEST(Break, ShowsAnInstructionBeforeItExecutes) {
  const Folder folder;
  const auto result = run_example({"--break", "pe@1", "--report", folder / "r.json"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("pe #1: matmul psum[0..1, bank 0 + 0, 3:1] fp32 = sbuf[0..1, 0, 2:1] fp32 x "));
  EXPECT_THAT(result.out, HasSubstr("  moving  sbuf, 2 partitions from 0 of 3 elements (3), fp32, from byte 64\n"
                                    "    partition 0: 1 0 2\n"
                                    "    partition 1: 0 1 3\n"
                                    "  stationary  sbuf, 2 partitions from 0 of 2 elements (2), fp32, from byte 0\n"
                                    "    partition 0: 1 2\n"
                                    "    partition 1: 3 4\n"
                                    "  destination  psum, 2 partitions from 0 of 3 elements (3), fp32, from byte 0\n"
                                    "    partition 0: ? ? ?\n"
                                    "    partition 1: ? ? ?\n"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("  pe      running, 1 of 3 issued"), HasSubstr("  scalar  idle\n"),
                                HasSubstr("  q0  dma0..15 tail 2, head 2, depth 0, ring of 2\n"),
                                HasSubstr("semaphores that are not 0\n  0: 1\n")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("tilevp: error: --break: stopped before pe #1: matmul psum["),
                                HasSubstr("core0.sync #1 semaphore waits for semaphore 2"),
                                HasSubstr("core0.vector #0 semaphore waits for semaphore 1"),
                                HasSubstr("host waits for interrupt line 0"), Not(HasSubstr("core0.pe"))));
  const auto report = described::parse("r.json", read_file(folder / "r.json")).tree;
  platform::check_report(report, "r.json");
  EXPECT_EQ(report.at("status"), "no_end");
  EXPECT_EQ(report.at("break").at("unit"), "pe");
  EXPECT_EQ(report.at("break").at("number"), 1);
  EXPECT_EQ(report.at("break").at("time_ps"), report.at("time").at("simulated_ps"));
  EXPECT_EQ(report.at("waiting").as_array().size(), 3U);
}

// The vector engine's copy is in flight when its next record could issue: its result is not there yet.
TEST(Break, ShowsWhatIsInFlight) {
  const auto result = run_example({"--break", "core0.vector@2"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, AllOf(HasSubstr("vector #2: halt\n"), HasSubstr("in flight #1 tensor_copy until"),
                                HasSubstr("  0: 1, 1: 1\n")));
}

TEST(Break, StopsBeforeADescriptor) {
  const auto result = run_example({"--break", "dma0.q1@0"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("dma0.q1 #0: copy of 24 bytes from 0x100000000080 to 0x1200\n"));
  EXPECT_THAT(result.out,
              HasSubstr("  adds 1 to semaphore 3 at its end\noperands\n"
                        "  source  24 bytes from 0x100000000080 in 2 runs of 12, fp32, [2 by 262144, 3 by 4]\n"
                        "    first: 1 3 11 2 4 16\n"
                        "  destination  24 bytes from 0x1200 in 1 run of 24, fp32, [6 by 4]\n"
                        "    first: ? ? ? ? ? ?\n"));
  EXPECT_THAT(result.out, HasSubstr("  q1  dma0..15 tail 1, head 0, depth 1, ring of 1\n"));
}

// Times by hand, in ps: cycle n of a clock starts at floor(n * 10^12 / hz).
std::uint64_t time_of(std::uint64_t cycle, std::uint64_t hz) { return cycle * 1'000'000'000'000 / hz; }
std::uint64_t edge_after(std::uint64_t ps, std::uint64_t hz) {
  std::uint64_t cycle = ps / 1'000'000 * (hz / 1'000'000);
  while (time_of(cycle, hz) < ps) ++cycle;
  return cycle;
}
constexpr std::uint64_t pe_hz = 2'800'000'000, vector_hz = 1'120'000'000, sync_hz = 1'400'000'000;

std::uint64_t stop_ps(const std::string& where) {
  const auto result = run_example({"--break", where});
  EXPECT_EQ(result.exit_code, 4);
  const auto at = result.out.find("\nat ");
  return at == std::string::npos ? 0 : std::stoull(result.out.substr(at + 4));
}

TEST(Break, TimesOfTheExampleByHand) {
  constexpr std::uint64_t run_floor_ps = 107'000, start_latency_ps = 1'300'000;
  const std::uint64_t load = stop_ps("dma0.q0@0");
  // Two descriptors of two runs; then the semaphore record issues at an edge and takes a cycle.
  const std::uint64_t matmul = time_of(edge_after(load + 4 * run_floor_ps, pe_hz) + 1, pe_hz);
  EXPECT_EQ(stop_ps("pe@1"), matmul);
  // fp32 weights of two columns at 4 a cycle: 4 passes x 1; 4 passes x 3 columns; 400 to fill the array.
  const std::uint64_t product = time_of(edge_after(matmul, pe_hz) + 4 + 12 + 400, pe_hz);
  const std::uint64_t copy = edge_after(product, vector_hz) + 1;
  EXPECT_EQ(stop_ps("vector@1"), time_of(copy, vector_hz));
  // At least 64 cycles, and 100 until the result is there; the trigger waits for just that.
  const std::uint64_t trigger = time_of(copy + 64 + 100, vector_hz);
  EXPECT_EQ(stop_ps("dma0.q1@0"), trigger + start_latency_ps);
  const std::uint64_t stored = trigger + start_latency_ps + 2 * run_floor_ps;
  EXPECT_EQ(stop_ps("sync@3"), time_of(edge_after(stored, sync_hz) + 1, sync_hz));
}

TEST(Break, IsTheSameAtAnyQuantumAndConstruction) {
  const auto plain = run_example({"--break", "vector@1"});
  EXPECT_THAT(plain.out, HasSubstr("    partition 1: 2 4 16\n"));
  EXPECT_EQ(run_example({"--break", "vector@1", "--quantum", "1us"}).out, plain.out);
  EXPECT_EQ(run_example({"--break", "vector@1", "--construction-seed", "7"}).out, plain.out);
}

TEST(Break, ThatIsNeverReachedChangesNothing) {
  const auto result = run_example({"--break", "pe@3"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "tilevp: warning: --break pe@3 was not reached\n");
  EXPECT_EQ(result.out, "");
}

TEST(Break, WrongUnits) {
  const auto refused = [&](const std::string& value, const std::string& text) {
    const auto result = run_example({"--break", value});
    EXPECT_EQ(result.exit_code, 2) << value;
    EXPECT_THAT(result.err, AllOf(HasSubstr(text), MatchesRegex("[^\n]*\n"))) << value;
  };
  refused("pe", "--break: expected UNIT@N like pe@412, dma0.q3@7 or bundle@2, found 'pe'");
  refused("pe@x", "--break: expected a whole number");
  refused("vectr@1", "found 'vectr'; nearest is 'vector'");
  refused("dma16.q1@1", "found 'dma16.q1'; nearest is 'dma1.q1'");
}

}  // namespace
}  // namespace tilevp::test
