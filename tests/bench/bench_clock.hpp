#pragma once
// Timing for the benchmark programs: CPU time of this thread, medians of interleaved rounds, so that a disturbance of
// the machine hits what is compared alike.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <vector>

namespace tilevp::bench {

inline double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Median seconds of each action over `rounds` rounds; in a round each action runs `repeats` times in a row.
inline std::vector<double> median_seconds(const std::vector<std::function<void()>>& actions, int rounds, int repeats) {
  std::vector<std::vector<double>> samples(actions.size());
  for (const auto& action : actions) action();  // warm up
  for (int round = 0; round < rounds; ++round)
    for (std::size_t a = 0; a < actions.size(); ++a) {
      const double start = thread_cpu_seconds();
      for (int r = 0; r < repeats; ++r) actions[a]();
      samples[a].push_back((thread_cpu_seconds() - start) / repeats);
    }
  std::vector<double> medians;
  medians.reserve(samples.size());
  for (auto& s : samples) medians.push_back(median(std::move(s)));
  return medians;
}

}  // namespace tilevp::bench
