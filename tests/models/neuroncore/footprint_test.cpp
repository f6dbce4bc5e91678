// Bytes that accesses touch and have in common, against sets of bytes.
#include "tilevp/neuroncore/footprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace {

using namespace tilevp::neuroncore;
using tilevp::memory::AccessPattern;
using tilevp::memory::Loop;

constexpr std::uint64_t core_base = std::uint64_t{1} << 44;

std::set<std::uint64_t> set_of(const AccessPattern& pattern) {
  std::set<std::uint64_t> bytes;
  pattern.for_each_run([&](std::uint64_t address, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) bytes.insert(address + i);
  });
  return bytes;
}

AccessPattern drawn(std::mt19937_64& random) {
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  std::array<Loop, 3> loops{};
  const auto count = static_cast<std::size_t>(up_to(3));
  for (std::size_t l = 0; l < count; ++l) loops[l] = {1 + up_to(4), static_cast<std::int64_t>(up_to(24)) - 8};
  return {200 + up_to(60), 1u << up_to(2), std::span<const Loop>(loops.data(), count)};
}

TEST(Footprint, CommonBytesAreThoseOfBothSets) {
  std::mt19937_64 random(7);
  unsigned common = 0;
  for (int i = 0; i < 20'000; ++i) {
    const AccessPattern a = drawn(random).as_set();
    const AccessPattern b = drawn(random).as_set();
    const auto in_a = set_of(a);
    const auto in_b = set_of(b);
    std::vector<std::uint64_t> both;
    std::ranges::set_intersection(in_a, in_b, std::back_inserter(both));
    const auto found = first_common(a, b);
    ASSERT_EQ(found.has_value(), !both.empty()) << i;
    if (surely_contains(a, b)) {
      ASSERT_EQ(both.size(), in_b.size()) << i;
    }
    if (!found) continue;
    ++common;
    for (std::uint64_t byte = found->address; byte < found->address + found->bytes; ++byte)
      ASSERT_TRUE(in_a.contains(byte) && in_b.contains(byte)) << i << ": " << byte;
  }
  EXPECT_GT(common, 5000u);
}

// Partition p of SBUF stands at p << 18.
TEST(Footprint, OfAMapPatternIsTheSameBytes) {
  std::mt19937_64 random(3);
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int i = 0; i < 500; ++i) {
    const std::int64_t partition_stride = std::int64_t{0x40000} * static_cast<std::int64_t>(1 + up_to(2));
    const AccessPattern pattern(core_base + 0x40000 * up_to(20) + (up_to(1) == 0 ? 64 : 0x40000 - 16), 2,
                                {{1 + up_to(4), partition_stride}, {1 + up_to(3), 10}, {1 + up_to(3), 2}});
    std::set<std::uint64_t> found;
    for_each_footprint(pattern, core_base, [&](const Footprint& part) {
      ASSERT_EQ(part.place, Place::sbuf);
      for (std::uint64_t p = part.first; p < part.end; ++p)
        for (const std::uint64_t byte : set_of(part.bytes)) found.insert(core_base + (p << 18) + byte);
    });
    ASSERT_EQ(found, set_of(pattern)) << i;
  }
}

}  // namespace
