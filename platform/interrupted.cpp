#include "tilevp/platform/interrupted.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/signal_free_thread.hpp"

namespace tilevp::platform {
namespace {

constexpr char stop_watching = 0;
constexpr std::array stop_signals{SIGINT, SIGTERM};
// A write reports these as errors where the signals are ignored.
constexpr std::array write_errors{SIGPIPE, SIGXFSZ};

// A signal handler reaches nothing but these. It runs on the kernel thread alone (signal_free_thread), so that the next
// signal finds the default action in its place and ends the process, however soon it comes.
std::array<int, 2> wake_pipe{-1, -1};
std::atomic<int> pending_signal{0};

void on_signal(int signal) {
  const int saved_errno = errno;
  pending_signal = signal;
  const char byte = 1;
  [[maybe_unused]] const auto written = write(wake_pipe[1], &byte, 1);
  for (const int next : stop_signals) std::signal(next, SIG_DFL);
  errno = saved_errno;
}

}  // namespace

Interrupted::Interrupted(int signal)
    : std::runtime_error(std::string("interrupted by ") + (signal == SIGINT ? "SIGINT" : "SIGTERM")), signal_(signal) {}

HostClock::HostClock(Simulation& simulation, StreamedOutputs& outputs, std::function<void()> tick)
    : sc_prim_channel("host_clock"),
      simulation_(simulation),
      outputs_(outputs),
      tick_(std::move(tick)),
      flushed_(std::chrono::steady_clock::now()) {
  if (pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Defect("cannot make a pipe");
  pending_signal = 0;
  // Both wait while one is handled.
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : stop_signals) sigaddset(&action.sa_mask, signal);
  for (const int signal : stop_signals) sigaction(signal, &action, nullptr);
  for (const int signal : write_errors) std::signal(signal, SIG_IGN);
  const bool needs_time = tick_ || !outputs_.empty();
  watcher_ = signal_free_thread([this, needs_time] { watch(needs_time ? 200 : -1); });
}

HostClock::~HostClock() {
  for (const int signal : stop_signals) std::signal(signal, SIG_DFL);
  for (const int signal : write_errors) std::signal(signal, SIG_DFL);
  [[maybe_unused]] const auto written = write(wake_pipe[1], &stop_watching, 1);
  watcher_.join();
  close(wake_pipe[0]);
  close(wake_pipe[1]);
}

// On a thread of its own: turns signals and host time into requests that the kernel looks at between two deltas.
void HostClock::watch(int period_ms) {
  while (true) {
    pollfd entry{.fd = wake_pipe[0], .events = POLLIN, .revents = 0};
    const int ready = poll(&entry, 1, period_ms);
    if (ready > 0) {
      char byte = 1;
      if (read(wake_pipe[0], &byte, 1) == 1 && byte == stop_watching) return;
    }
    async_request_update();
  }
}

void HostClock::update() {
  const int signal = pending_signal.exchange(0);
  if (signal != 0) {
    simulation_.fail(std::make_exception_ptr(Interrupted(signal)));
    return;
  }
  try {
    flush_in_time();
    if (tick_) tick_();
  } catch (...) {  // the kernel cannot pass it on
    simulation_.fail(std::current_exception());
  }
}

void HostClock::flush_in_time() {
  const auto now = std::chrono::steady_clock::now();
  if (now - flushed_ < std::chrono::seconds(1)) return;
  flushed_ = now;
  outputs_.flush(now_ps());
}

}  // namespace tilevp::platform
