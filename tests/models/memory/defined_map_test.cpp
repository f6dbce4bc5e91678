#include "tilevp/memory/defined_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/memory/patterns.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

std::optional<std::uint64_t> first_false(const std::vector<bool>& bits, std::uint64_t start, std::uint64_t count) {
  for (std::uint64_t i = start; i < start + count; ++i)
    if (!bits[i]) return i;
  return std::nullopt;
}

TEST(DefinedMap, RangesAgreeWithBits) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t size = naive::pick(random, 1, 3000);
    DefinedMap map(size, "m");
    std::vector<bool> bits(size);
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t start = naive::pick(random, 0, size);
      const std::uint64_t longest =
          naive::pick(random, 0, 2) == 0 ? size - start : std::min(size - start, std::uint64_t{70});
      const std::uint64_t count = naive::pick(random, 0, longest);
      const auto kind = naive::pick(random, 0, 9);
      const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(start);
      if (kind < 4) {
        map.mark(start, count);
        std::fill_n(begin, count, true);
      } else if (kind == 4) {
        map.unmark(start, count);
        std::fill_n(begin, count, false);
      }
      ASSERT_EQ(map.first_undefined(start, count), first_false(bits, start, count)) << "seed " << seed;
      ASSERT_EQ(map.first_undefined(0, size), first_false(bits, 0, size)) << "seed " << seed;
    }
  }
}

TEST(DefinedMap, PatternsAgreeWithBits) {
  constexpr std::uint64_t size = 1 << 14;
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    std::mt19937_64 random(seed);
    DefinedMap map(size, "m");
    const naive::Nest nest = naive::random_nest(random, size);
    const AccessPattern pattern = naive::pattern_of(nest);
    auto touched = naive::byte_addresses(nest);
    std::ranges::sort(touched);
    ASSERT_TRUE(map.first_undefined(pattern).has_value()) << "seed " << seed;
    map.mark(pattern);
    ASSERT_EQ(map.first_undefined(pattern), std::nullopt) << "seed " << seed;
    // Exactly these bytes: every hole between them is still undefined.
    std::vector<bool> bits(size);
    for (const std::uint64_t address : touched) bits[address] = true;
    std::uint64_t at = 0;
    while (at < size) {
      const auto hole = first_false(bits, at, size - at);
      ASSERT_EQ(map.first_undefined(at, size - at), hole) << "seed " << seed;
      at = hole.value_or(size) + 1;
      if (hole && at < size && bits[at] == false)
        at = static_cast<std::uint64_t>(std::find(bits.begin() + static_cast<std::ptrdiff_t>(at), bits.end(), true) -
                                        bits.begin());
    }
    // One byte missing is found, and named.
    const std::uint64_t gone = touched[naive::pick(random, 0, touched.size() - 1)];
    map.unmark(gone, 1);
    ASSERT_EQ(map.first_undefined(pattern), std::optional(gone)) << "seed " << seed;
  }
}

// Windows of many strided elements, which go through the bitmap a word at a time.
TEST(DefinedMap, StridedWindowsAgreeWithBits) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    std::mt19937_64 random(seed);
    naive::Nest nest;
    nest.element_bytes = static_cast<std::uint32_t>(naive::pick(random, 1, 8));
    const auto step = static_cast<std::int64_t>(naive::pick(random, 1, 40));
    const std::uint64_t teeth = naive::pick(random, 2, 700);
    nest.loops = {{naive::pick(random, 1, 5), static_cast<std::int64_t>(naive::pick(random, 1, 9000))}, {teeth, step}};
    if (naive::pick(random, 0, 2) == 0) nest.loops.push_back({naive::pick(random, 2, 4), nest.element_bytes});
    nest.start = naive::pick(random, 0, 200);
    const AccessPattern pattern = naive::pattern_of(nest);
    auto touched = naive::byte_addresses(nest);
    const std::uint64_t size = *std::ranges::max_element(touched) + 100;
    DefinedMap map(size, "m");
    map.mark(pattern);
    std::vector<bool> bits(size);
    for (const std::uint64_t address : touched) bits[address] = true;
    for (std::uint64_t i = 0; i < size; ++i)
      ASSERT_EQ(!map.first_undefined(i, 1).has_value(), bits[i]) << "seed " << seed << " byte " << i;
    ASSERT_EQ(map.first_undefined(pattern), std::nullopt) << "seed " << seed;
    const std::uint64_t gone = touched[naive::pick(random, 0, touched.size() - 1)];
    map.unmark(gone, 1);
    ASSERT_EQ(map.first_undefined(pattern), std::optional(gone)) << "seed " << seed;
  }
}

// Tensors that come whole, more of them than are remembered as whole, with holes made and filled; patterns inside,
// across and beside them.
TEST(DefinedMap, PatternsInWholeRangesAgreeWithBits) {
  constexpr std::uint64_t size = 1 << 11;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    std::mt19937_64 random(seed);
    DefinedMap map(size, "m");
    std::vector<bool> bits(size);
    const auto set = [&](std::uint64_t start, std::uint64_t count, bool value) {
      value ? map.mark(start, count) : map.unmark(start, count);
      std::fill_n(bits.begin() + static_cast<std::ptrdiff_t>(start), count, value);
    };
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t start = naive::pick(random, 0, size - 1);
      const bool hole = naive::pick(random, 0, 3) == 0;
      set(start, naive::pick(random, 1, std::min<std::uint64_t>(size - start, hole ? 9 : 500)), !hole);
      const naive::Nest nest = naive::random_nest(random, size);
      const AccessPattern pattern = naive::pattern_of(nest);
      auto touched = naive::byte_addresses(nest);
      std::ranges::sort(touched);
      const auto missing = std::ranges::find_if(touched, [&](std::uint64_t address) { return !bits[address]; });
      const auto found = map.first_undefined(pattern);
      ASSERT_EQ(found.has_value(), missing != touched.end()) << "seed " << seed << " step " << step;
      if (found) {
        ASSERT_FALSE(bits[*found]) << "seed " << seed << " step " << step;
      }
      if (naive::pick(random, 0, 4) == 0) {
        map.mark(pattern);
        for (const std::uint64_t address : touched) bits[address] = true;
      }
      for (std::uint64_t at = 0; at < size; at += 499)
        ASSERT_EQ(map.first_undefined(at, size - at), first_false(bits, at, size - at)) << "seed " << seed;
    }
  }
}

TEST(DefinedMap, ADramSizedMapIsSparse) {
  constexpr std::uint64_t bytes = 32ull << 30;
  DefinedMap map(bytes, "hbm");
  map.mark(bytes - 3, 3);
  EXPECT_EQ(map.first_undefined(bytes - 3, 3), std::nullopt);
  EXPECT_EQ(map.first_undefined(bytes - 4, 4), std::optional(bytes - 4));
  map.clear();
  EXPECT_EQ(map.first_undefined(bytes - 3, 3), std::optional(bytes - 3));
}

TEST(DefinedMap, RowsOfAScratchpad) {
  // 128 partitions of 256 KiB, 1 KiB of each written; one byte short in partition 77.
  DefinedMap map(128ull << 18, "sbuf");
  const AccessPattern rows(4096, 2, {{128, 1 << 18}, {512, 2}});
  map.mark(rows);
  EXPECT_EQ(map.first_undefined(rows), std::nullopt);
  EXPECT_EQ(map.first_undefined(4096 + 1024, 1), std::optional<std::uint64_t>(4096 + 1024));
  map.unmark((77ull << 18) + 4096 + 1023, 1);
  EXPECT_EQ(map.first_undefined(rows), std::optional<std::uint64_t>((77ull << 18) + 4096 + 1023));
}

TEST(DefinedMap, LeavingTheMemoryIsADefect) {
  DefinedMap map(100, "m");
  EXPECT_THROW(map.mark(90, 11), Defect);
  EXPECT_THROW(map.mark(101, 0), Defect);
  EXPECT_THROW(map.unmark(0, 101), Defect);
  EXPECT_THROW(map.first_undefined(99, 2), Defect);
  EXPECT_THROW(map.mark(AccessPattern(0, 1, {{3, 50}})), Defect);
  EXPECT_THROW(map.first_undefined(AccessPattern(0, 1, {{3, 50}})), Defect);
}

}  // namespace
}  // namespace tilevp::memory
