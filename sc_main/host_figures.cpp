#include "tilevp/sc_main/host_figures.hpp"

#include <sys/resource.h>

namespace tilevp::command {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

platform::HostReport HostFigures::read(unsigned threads, double machine_seconds, double reference_seconds) const {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start_;
  return {.wall_s = wall.count(),
          .machine_s = machine_seconds,
          .cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime),
          .peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024,
          .threads = threads,
          .reference_s = reference_seconds,
          .ratio = reference_seconds > 0 ? wall.count() / reference_seconds : 0};
}

}  // namespace tilevp::command
