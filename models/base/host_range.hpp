#pragma once
// A range of bytes of simulated storage, by host address: what an effect writes, what a reader is about to look at.
#include <cstddef>
#include <cstdint>

namespace tilevp {

struct HostRange {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;  // one past the last byte

  static HostRange of(const std::byte* low, const std::byte* high) {
    return {reinterpret_cast<std::uintptr_t>(low), reinterpret_cast<std::uintptr_t>(high)};
  }
  static constexpr HostRange everything() { return {0, UINTPTR_MAX}; }

  bool overlaps(const HostRange& other) const { return low < other.high && other.low < high; }
};

}  // namespace tilevp
