#pragma once
// A loop nest walked by plain recursion: the oracle of the memory tests. It includes no product header.
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace naive {

struct Nest {
  std::uint64_t start = 0;
  std::uint32_t element_bytes = 1;
  std::vector<std::pair<std::uint64_t, std::int64_t>> loops;  // [size, stride in bytes], outermost first
};

inline void walk(const Nest& nest, std::size_t level, std::uint64_t address, std::vector<std::uint64_t>& out) {
  if (level == nest.loops.size()) {
    for (std::uint32_t byte = 0; byte < nest.element_bytes; ++byte) out.push_back(address + byte);
    return;
  }
  for (std::uint64_t i = 0; i < nest.loops[level].first; ++i)
    walk(nest, level + 1, address + i * static_cast<std::uint64_t>(nest.loops[level].second), out);
}

// The address of every byte, in order.
inline std::vector<std::uint64_t> byte_addresses(const Nest& nest) {
  std::vector<std::uint64_t> out;
  walk(nest, 0, nest.start, out);
  return out;
}

inline std::uint64_t pick(std::mt19937_64& random, std::uint64_t low, std::uint64_t high) {
  return low + random() % (high - low + 1);
}

// Up to five loops with many strides that merge, repeat, run down or overlap; at most a few thousand bytes, addresses
// below `address_limit`.
inline Nest random_nest(std::mt19937_64& random, std::uint64_t address_limit = 1 << 20) {
  for (;;) {
    Nest nest;
    nest.element_bytes = static_cast<std::uint32_t>(std::uint64_t{1} << pick(random, 0, 3));
    if (pick(random, 0, 9) == 0) nest.element_bytes = static_cast<std::uint32_t>(pick(random, 1, 8));
    const std::size_t depth = pick(random, 0, 5);
    std::vector<std::pair<std::uint64_t, std::int64_t>> inside_out;
    std::uint64_t elements = 1;
    for (std::size_t i = 0; i < depth; ++i) {
      const std::uint64_t size = pick(random, 1, i == 0 ? 12 : 5);
      const auto element = static_cast<std::int64_t>(nest.element_bytes);
      std::int64_t stride = element * static_cast<std::int64_t>(pick(random, 0, 40));
      const auto kind = pick(random, 0, 9);
      if (kind < 4)
        stride = inside_out.empty() ? element
                                    : static_cast<std::int64_t>(inside_out.back().first) * inside_out.back().second;
      if (kind == 4) stride = -stride;
      if (kind == 5) stride = static_cast<std::int64_t>(pick(random, 0, 300)) - 150;
      if (kind == 6) stride = 0;
      inside_out.emplace_back(size, stride);
      elements *= size;
    }
    nest.loops.assign(inside_out.rbegin(), inside_out.rend());
    std::int64_t low = 0;
    std::int64_t high = nest.element_bytes;
    for (const auto& [size, stride] : nest.loops)
      (stride < 0 ? low : high) += stride * static_cast<std::int64_t>(size - 1);
    if (elements > 3000 || high - low >= static_cast<std::int64_t>(address_limit)) continue;
    nest.start =
        static_cast<std::uint64_t>(-low) + pick(random, 0, address_limit - static_cast<std::uint64_t>(high - low));
    return nest;
  }
}

}  // namespace naive
