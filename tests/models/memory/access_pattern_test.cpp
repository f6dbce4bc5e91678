#include "tilevp/memory/access_pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <type_traits>

#include "models/memory/patterns.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

static_assert(std::is_trivially_copyable_v<AccessPattern>);

std::vector<Loop> loops(const AccessPattern& pattern) { return {pattern.loops().begin(), pattern.loops().end()}; }

TEST(AccessPattern, MergedLoopsVisitTheAddressesOfTheNest) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest nest = naive::random_nest(random);
    const auto expected = naive::byte_addresses(nest);
    const AccessPattern pattern = naive::pattern_of(nest);
    ASSERT_EQ(naive::run_bytes_in_order(pattern), expected) << "seed " << seed;
    ASSERT_EQ(pattern.bytes(), expected.size()) << "seed " << seed;
    ASSERT_EQ(pattern.runs() * pattern.run_bytes(), expected.size()) << "seed " << seed;
    ASSERT_EQ(pattern.lowest(), *std::ranges::min_element(expected)) << "seed " << seed;
    ASSERT_EQ(pattern.highest(), *std::ranges::max_element(expected)) << "seed " << seed;
    ASSERT_EQ(std::ranges::count(pattern.loops(), 1u, &Loop::size), 0) << "seed " << seed;
  }
}

// Loops that either continue the one inside or leave a gap: the run is what the addresses say, segment by segment.
TEST(AccessPattern, RunIsTheTrueContiguousSegment) {
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    std::mt19937_64 random(seed);
    naive::Nest nest;
    nest.element_bytes = static_cast<std::uint32_t>(naive::pick(random, 1, 8));
    std::int64_t extent = nest.element_bytes;
    for (std::uint64_t depth = naive::pick(random, 0, 5); depth > 0; --depth) {
      if (naive::pick(random, 0, 1) == 0) extent += static_cast<std::int64_t>(naive::pick(random, 1, 9));
      nest.loops.insert(nest.loops.begin(), {naive::pick(random, 1, 4), extent});
      extent *= static_cast<std::int64_t>(nest.loops.front().first);
    }
    const auto bytes = naive::byte_addresses(nest);
    const std::uint64_t run = naive::pattern_of(nest).run_bytes();
    for (std::size_t i = 1; i < bytes.size(); ++i)
      ASSERT_EQ(bytes[i] == bytes[i - 1] + 1, i % run != 0) << "seed " << seed << " byte " << i;
  }
}

TEST(AccessPattern, WeightTileOfTheLayoutPage) {
  // A 64x64 tile of a 512x64 row-major bf16 tensor, streamed transposed, and written contiguously: [[64,1],[64,64]] and
  // [[4096,1]] (Stream, data layout page).
  const auto read = AccessPattern::of_elements(0x1000, 2, {{64, 1}, {64, 64}});
  EXPECT_THAT(loops(read), ElementsAre(Loop{64, 2}, Loop{64, 128}));
  EXPECT_EQ(read.run_bytes(), 2u);
  EXPECT_EQ(read.runs(), 4096u);
  const auto write = AccessPattern::of_elements(0, 2, {{64, 64}, {64, 1}});
  EXPECT_THAT(loops(write), ElementsAre(Loop{4096, 2}));
  EXPECT_EQ(write.run_bytes(), 8192u);
  EXPECT_TRUE(write.is_contiguous());
}

// Run lengths of bf16 blocks (Stream, tests/test_data_layout.py).
TEST(AccessPattern, RunLengthsOfBlocks) {
  const auto run = [](std::initializer_list<Loop> nest) { return AccessPattern::of_elements(0, 2, nest).run_bytes(); };
  EXPECT_EQ(run({{64, 4096}, {512, 1}}), 1024u);       // (64,512) of (1024,4096), row-major
  EXPECT_EQ(run({{8, 4096}, {4096, 1}}), 65536u);      // (8,4096) of (1024,4096)
  EXPECT_EQ(run({{512, 1024}, {64, 1}}), 128u);        // (64,512) of (1024,4096), order (1,0)
  EXPECT_EQ(run({{512, 1}, {64, 4096}}), 2u);          // rows read in column order
  EXPECT_EQ(run({{16, 32}, {8, 512}, {32, 1}}), 64u);  // (8,16,32) row-major in the order (1,0,2)
  EXPECT_EQ(run({{256, 64}, {64, 1}}), 32768u);        // (256,64) whole
  EXPECT_EQ(run({{1, 1}, {512, 1}}), 1024u);           // (512,1) in order (1,0)
  EXPECT_EQ(run({{256, 128}, {128, 1}}), 65536u);      // (256,128) whole
  EXPECT_EQ(run({{256, 1}, {128, 256}}), 2u);          // and scattered into (1,0)
}

TEST(AccessPattern, SingleElementHasNoLoops) {
  const AccessPattern pattern(40, 4, {{1, 12}, {1, 0}});
  EXPECT_TRUE(pattern.loops().empty());
  EXPECT_EQ(pattern.bytes(), 4u);
  EXPECT_EQ(pattern.runs(), 1u);
  EXPECT_EQ(pattern.highest(), 43u);
  EXPECT_EQ(naive::run_bytes_in_order(pattern), (std::vector<std::uint64_t>{40, 41, 42, 43}));
}

TEST(AccessPattern, MergesAcrossDroppedLoopsAndRepeats) {
  EXPECT_THAT(loops(AccessPattern(0, 2, {{3, 40}, {1, 999}, {4, 10}, {5, 2}})), ElementsAre(Loop{60, 2}));
  EXPECT_THAT(loops(AccessPattern(0, 2, {{2, 0}, {3, 0}, {5, 2}})), ElementsAre(Loop{6, 0}, Loop{5, 2}));
  EXPECT_THAT(loops(AccessPattern(100, 2, {{2, -8}, {4, -2}})), ElementsAre(Loop{8, -2}));
  // Seven loops that merge into two.
  EXPECT_THAT(loops(AccessPattern(0, 1, {{2, 1024}, {2, 512}, {2, 256}, {2, 8}, {2, 4}, {2, 2}, {2, 1}})),
              ElementsAre(Loop{8, 256}, Loop{16, 1}));
}

TEST(AccessPattern, ShiftMovesEveryAddress) {
  const AccessPattern pattern(1000, 2, {{2, -64}, {3, 2}});
  EXPECT_EQ(pattern.shifted(-900), AccessPattern(100, 2, {{2, -64}, {3, 2}}));
}

TEST(AccessPattern, AsSetTurnsATransposedTileIntoOneRun) {
  const auto set = AccessPattern(64, 2, {{64, 2}, {512, 128}}).as_set();
  EXPECT_EQ(set, AccessPattern(64, 2, {{32768, 2}}));
}

TEST(AccessPattern, AsSetKeepsTheBytes) {
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest nest = naive::random_nest(random);
    const auto expected = naive::byte_addresses(nest);
    const auto found = naive::run_bytes_in_order(naive::pattern_of(nest).as_set());
    ASSERT_EQ(std::set(found.begin(), found.end()), std::set(expected.begin(), expected.end())) << "seed " << seed;
  }
}

TEST(AccessPattern, SplitYieldsTheSliceInOrder) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest nest = naive::random_nest(random);
    const AccessPattern pattern = naive::pattern_of(nest);
    const auto all = naive::byte_addresses(nest);
    const std::uint64_t first = naive::pick(random, 0, pattern.elements() - 1);
    const std::uint64_t count = naive::pick(random, 1, pattern.elements() - first);
    const auto pieces = pattern.split(first, count);
    std::vector<std::uint64_t> found;
    for (const AccessPattern& piece : pieces) {
      const auto bytes = naive::run_bytes_in_order(piece);
      found.insert(found.end(), bytes.begin(), bytes.end());
    }
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * nest.element_bytes);
    ASSERT_EQ(found, std::vector(begin, begin + static_cast<std::ptrdiff_t>(count * nest.element_bytes)))
        << "seed " << seed;
    ASSERT_LE(pieces.size(), 9u) << "seed " << seed;
  }
}

TEST(AccessPattern, SplitTakesWholeRowsAsOnePattern) {
  // Packets of 4 rows out of 128 rows of 512 elements.
  const AccessPattern rows(0, 2, {{128, 262144}, {512, 2}});
  const auto packet = rows.split(8 * 512, 4 * 512);
  ASSERT_EQ(packet.size(), 1u);
  EXPECT_EQ(*packet.begin(), AccessPattern(8 * 262144, 2, {{4, 262144}, {512, 2}}));
  // From the middle of one row to the middle of another: tail, whole rows, head.
  const auto ragged = rows.split(500, 12 + 2 * 512 + 7);
  ASSERT_EQ(ragged.size(), 3u);
  EXPECT_EQ(ragged.items[0], AccessPattern(1000, 2, {{12, 2}}));
  EXPECT_EQ(ragged.items[1], AccessPattern(262144, 2, {{2, 262144}, {512, 2}}));
  EXPECT_EQ(ragged.items[2], AccessPattern(3 * 262144, 2, {{7, 2}}));
}

TEST(AccessPattern, SplitOutsideThePatternIsADefect) {
  const AccessPattern pattern(0, 2, {{10, 2}});
  EXPECT_THROW(pattern.split(0, 0), Defect);
  EXPECT_THROW(pattern.split(5, 6), Defect);
  EXPECT_THROW(pattern.split(11, 1), Defect);
}

TEST(StreamCursor, WalksAnyPiecesFromAnyByte) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest nest = naive::random_nest(random);
    const auto all = naive::byte_addresses(nest);
    std::uint64_t at = naive::pick(random, 0, all.size());
    StreamCursor cursor(naive::pattern_of(nest), at);
    while (!cursor.done()) {
      ASSERT_EQ(cursor.left(), all.size() - at) << "seed " << seed;
      const memory::Run run = cursor.take(naive::pick(random, 1, 40));
      ASSERT_GT(run.bytes, 0u) << "seed " << seed;
      for (std::uint64_t i = 0; i < run.bytes; ++i) ASSERT_EQ(run.address + i, all[at + i]) << "seed " << seed;
      at += run.bytes;
    }
    ASSERT_EQ(at, all.size()) << "seed " << seed;
  }
}

TEST(StreamCursor, RefusesToLeaveTheRun) {
  StreamCursor cursor(AccessPattern(0, 2, {{4, 16}, {3, 2}}));
  cursor.advance(4);
  EXPECT_EQ(cursor.run_left(), 2u);
  EXPECT_THROW(cursor.advance(3), Defect);
  EXPECT_THROW(StreamCursor(AccessPattern(0, 2, {{4, 2}}), 9), Defect);
}

// ---- What is no pattern

std::string problem(std::uint64_t start, std::uint32_t element, std::vector<Loop> nest) {
  return AccessPattern::problem(start, element, nest).value_or("none");
}

TEST(AccessPatternProblem, NamesTheRuleAndTheNumber) {
  EXPECT_EQ(problem(0, 2, {{4, 2}}), "none");
  EXPECT_EQ(problem(0, 0, {{4, 2}}), "element size: expected 1 to 8 bytes, found 0");
  EXPECT_EQ(problem(0, 9, {{4, 2}}), "element size: expected 1 to 8 bytes, found 9");
  EXPECT_EQ(problem(0, 2, {{4, 2}, {0, 8}}), "loop 1 [0, 8]: expected a size of at least 1, found 0");
  EXPECT_EQ(problem(10, 1, {{12, -1}}), "the pattern from address 10 reaches below address 0");
  EXPECT_EQ(problem(11, 1, {{12, -1}}), "none");
  const std::uint64_t top = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(problem(top - 7, 8, {}), "none");
  EXPECT_THAT(problem(top - 6, 8, {}), HasSubstr("reaches above 2^64 - 1"));
  EXPECT_THAT(problem(top - 6, 1, {{8, 1}}), HasSubstr("reaches above 2^64 - 1"));
  EXPECT_THAT(problem(0, 8, {{1ull << 60, 0}}), HasSubstr("more than 2^63 - 1 bytes"));
  EXPECT_THAT(problem(0, 1, {{1ull << 40, 1ll << 40}}), HasSubstr("reaches further than 2^64 - 1 bytes"));
  EXPECT_THAT(problem(0, 1, {{2, std::numeric_limits<std::int64_t>::min()}}), HasSubstr("expected a stride"));
}

TEST(AccessPatternProblem, CountsLoopsAfterMerging) {
  std::vector<Loop> nest{{2, 10000}, {2, 3000}, {2, 900}, {2, 200}, {2, 50}};
  EXPECT_EQ(problem(0, 1, nest), "none");
  nest.push_back({2, 7});
  EXPECT_EQ(problem(0, 1, nest), "expected at most 5 loops after merging, found more (6 given)");
}

TEST(AccessPatternProblem, ConstructionThrowsItsText) {
  try {
    AccessPattern(0, 2, {{0, 8}});
    FAIL() << "no error";
  } catch (const Defect& error) {
    EXPECT_STREQ(error.what(), "access pattern: loop 0 [0, 8]: expected a size of at least 1, found 0");
  }
  EXPECT_THROW(AccessPattern::of_elements(0, 8, {{2, 1ll << 62}}), Defect);
}

}  // namespace
}  // namespace tilevp::memory
