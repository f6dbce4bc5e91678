#include "tilevp/platform/interrupted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "tilevp/base/effects.hpp"

namespace tilevp::platform {
namespace {

// The signals a thread of this process does not take; "SigBlk:" of proc(5).
std::uint64_t blocked_by(const std::filesystem::path& thread) {
  std::ifstream status(thread / "status");
  for (std::string word; status >> word;)
    if (word == "SigBlk:" && status >> word) return std::stoull(word, nullptr, 16);
  return 0;
}

// Two signals, one right after the other: the first must not be under way on one thread while another takes the second.
TEST(Interrupted, SignalsGoToTheKernelThreadAlone) {
  Simulation simulation("simulation");
  StreamedOutputs outputs;
  const EffectsQueue with_worker(true, 2);
  const HostClock clock(simulation, outputs, {});
  unsigned others = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    const bool is_this = thread.path().filename() == std::to_string(getpid());
    others += is_this ? 0 : 1;
    for (const int signal : {SIGINT, SIGTERM})
      EXPECT_EQ(blocked_by(thread.path()) >> (signal - 1) & 1, is_this ? 0u : 1u) << thread.path();
  }
  EXPECT_GE(others, 2u);  // the watcher and the worker
}

// A child that is stopped finds both signals when it continues: one runs the handler, the other ends it.
TEST(Interrupted, TheSecondSignalEndsTheProcessAtOnce) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);  // where it is not ended
    Simulation simulation("simulation");
    StreamedOutputs outputs;
    const HostClock clock(simulation, outputs, {});
    [[maybe_unused]] const auto written = write(ready[1], "r", 1);
    while (true) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  int status = 0;
  kill(child, SIGSTOP);
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  kill(child, SIGINT);
  kill(child, SIGTERM);
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(WTERMSIG(status), testing::AnyOf(SIGINT, SIGTERM));
  for (const int end : ready) close(end);
}

}  // namespace
}  // namespace tilevp::platform
