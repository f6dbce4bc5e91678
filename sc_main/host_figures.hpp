#pragma once
// What a run cost the host computer.
#include <chrono>

#include "tilevp/platform/report.hpp"

namespace tilevp::command {

class HostFigures {
 public:
  HostFigures() : start_(std::chrono::steady_clock::now()) {}
  platform::HostReport read(unsigned threads, double machine_seconds, double reference_seconds) const;

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tilevp::command
