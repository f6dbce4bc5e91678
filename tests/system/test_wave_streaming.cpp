// Waves while a run goes on and however it ends: read from a pipe, which holds the run until it is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "support/vcd_reader.hpp"
#include "system/command_runner.hpp"
#include "system/expect_refused.hpp"
#include "system/pipe_reader.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using testing::HasSubstr;

std::string make_pipe(const Folder& folder) { return make_pipe(folder, "w.vcd"); }

std::uint64_t simulated_ps(const std::string& report) {
  return described::parse(report, read_file(report)).tree.at("time").at("simulated_ps").to_number<std::uint64_t>();
}

TEST(WaveStreaming, ASignalLeavesWavesUpToThen) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Folder folder;
    const auto pipe = make_pipe(folder);
    std::string text;
    const auto result = test_tilevp({"run", "test/endless", "-q", "--report", folder / "r.json", "--vcd", pipe},
                                    [&, sent = signal](int child, const std::string&) {
                                      PipeReader reader(pipe);
                                      reader.read_until("$dumpvars");
                                      while (reader.text().size() < 400'000 && reader.read_more()) continue;
                                      kill(child, sent);
                                      reader.read_all();
                                      text = reader.text();
                                    });
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(signal == SIGINT ? "interrupted by SIGINT" : "interrupted by SIGTERM"));
    const auto waves = VcdFile::parse(text);
    EXPECT_EQ(waves.end_ps(), simulated_ps(folder / "r.json"));
    EXPECT_GT(waves.pulses("core0.pe.busy"), 100u);
    EXPECT_EQ(waves.redundant_changes(), 0u);
  }
}

bool has_ended(int child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// The run waits for the pipe, so the first signal cannot end it.
TEST(WaveStreaming, ASecondSignalEndsTheProcessAtOnce) {
  const Folder folder;
  const auto pipe = make_pipe(folder);
  const auto result = test_tilevp({"run", "test/endless", "-q", "--report", folder / "r.json", "--vcd", pipe},
                                  [&](int child, const std::string&) {
                                    PipeReader reader(pipe);
                                    reader.read_until("$dumpvars");
                                    reader.await_full();
                                    while (!has_ended(child)) {
                                      kill(child, SIGINT);
                                      std::this_thread::yield();
                                    }
                                  });
  EXPECT_EQ(result.exit_code, 128 + SIGINT);
  EXPECT_EQ(result.err, "");  // it did not come to say so itself
  EXPECT_FALSE(exists(folder / "r.json"));
}

// One matmul, then nothing that a probe would show: what is seen of it was flushed for the sake of the reader.
TEST(WaveStreaming, WhatHasHappenedIsSeenDuringTheRun) {
  const Folder folder;
  const auto pipe = make_pipe(folder);
  bool seen = false;
  const auto result = test_tilevp({"run", "test/one-then-spin", "-q", "--vcd", pipe, "--trace", "core0.pe.busy"},
                                  [&](int child, auto&) {
                                    PipeReader reader(pipe);
                                    reader.read_until("\n1!\n");
                                    seen = reader.text().ends_with("\n0!\n");
                                    kill(child, SIGTERM);
                                    reader.read_all();
                                  });
  EXPECT_TRUE(seen);
  EXPECT_EQ(result.exit_code, 143);
}

TEST(WaveStreaming, EveryEndClosesTheFile) {
  const std::pair<const char*, int> ends[] = {
      {"test/good", 0}, {"test/wrong", 1}, {"test/free-size", 3}, {"test/deadlock", 4}, {"test/defect", 5}};
  for (const auto& [program, code] : ends) {
    const Folder folder;
    const auto result = test_tilevp({"run", program, "-q", "--report", folder / "r.json", "--vcd", folder / "w.vcd"});
    ASSERT_EQ(result.exit_code, code) << program << result.err;
    const auto waves = VcdFile::read(folder / "w.vcd");
    EXPECT_TRUE(waves.has("core0.pe.busy")) << program;
    EXPECT_TRUE(exists(folder / "w.gtkw")) << program;
    if (code == 5) continue;  // without a report
    EXPECT_EQ(waves.end_ps(), simulated_ps(folder / "r.json")) << program;
  }
}

TEST(WaveStreaming, TheTimeLimitCutsTheFile) {
  const Folder folder;
  const auto result = test_tilevp({"run", "test/endless", "-q", "--max-time", "30us", "--vcd", folder / "w.vcd"});
  ASSERT_EQ(result.exit_code, 4) << result.err;
  EXPECT_EQ(VcdFile::read(folder / "w.vcd").end_ps(), 30'000'000u);
}

TEST(WaveStreaming, AFullDiskIsOneLine) {
  expect_refused(test_tilevp({"run", "test/good", "--vcd", "/dev/full"}),
                 "/dev/full: cannot write: No space left on device");
}

TEST(WaveStreaming, AFileThatFillsUpIsRemoved) {
  const Folder folder;
  const auto result = on_a_full_disk({"run", "test/endless", "--vcd", folder / "w.vcd", "--report", folder / "r.json"});
  expect_refused(result, "w.vcd: cannot write: File too large");
  for (const char* file : {"w.vcd", "w.gtkw", "r.json"}) EXPECT_FALSE(exists(folder / file)) << file;
}

TEST(WaveStreaming, AReaderThatGoesAwayIsOneLine) {
  const Folder folder;
  const auto pipe = make_pipe(folder);
  const auto result = test_tilevp({"run", "test/endless", "--vcd", pipe},
                                  [&](int, const std::string&) { PipeReader(pipe).read_until("$dumpvars"); });
  expect_refused(result, "w.vcd: cannot write: Broken pipe");
  EXPECT_TRUE(exists(pipe));
}

}  // namespace
}  // namespace tilevp::test
