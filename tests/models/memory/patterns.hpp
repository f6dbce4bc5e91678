#pragma once
// Product patterns from the oracle's nests.
#include <vector>

#include "models/memory/naive_nest.hpp"
#include "tilevp/memory/access_pattern.hpp"

namespace naive {

inline std::vector<tilevp::memory::Loop> loops_of(const Nest& nest) {
  std::vector<tilevp::memory::Loop> loops;
  for (const auto& [size, stride] : nest.loops) loops.push_back({size, stride});
  return loops;
}

inline tilevp::memory::AccessPattern pattern_of(const Nest& nest) {
  return {nest.start, nest.element_bytes, loops_of(nest)};
}

inline std::vector<std::uint64_t> run_bytes_in_order(const tilevp::memory::AccessPattern& pattern) {
  std::vector<std::uint64_t> out;
  pattern.for_each_run([&out](std::uint64_t address, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i) out.push_back(address + i);
  });
  return out;
}

}  // namespace naive
