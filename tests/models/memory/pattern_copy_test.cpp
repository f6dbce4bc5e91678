#include "tilevp/memory/pattern_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "models/memory/patterns.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

constexpr std::uint64_t room = 1 << 14;

std::vector<std::byte> noise(std::mt19937_64& random, std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; i += 8) {
    const std::uint64_t word = random();
    std::memcpy(data.data() + i, &word, std::min<std::size_t>(8, bytes - i));
  }
  return data;
}

// Another nest with the same number of bytes and no address twice: the first one's byte count factored into loops.
naive::Nest partner(std::mt19937_64& random, std::uint64_t bytes) {
  naive::Nest nest;
  for (std::uint32_t element : {8u, 4u, 2u, 1u})
    if (bytes % element == 0 && (element == 1 || naive::pick(random, 0, 1) == 0)) {
      nest.element_bytes = element;
      break;
    }
  std::uint64_t elements = bytes / nest.element_bytes;
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t factor = 2; sizes.size() < 4 && factor <= elements; ++factor)
    if (elements % factor == 0 && naive::pick(random, 0, 2) == 0) {
      sizes.push_back(factor);
      elements /= factor;
    }
  sizes.push_back(elements);
  std::shuffle(sizes.begin(), sizes.end(), random);
  // Distinct addresses: strides by a random order of the axes, each at least the extent of what lies inside.
  std::vector<std::size_t> order(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (naive::pick(random, 0, 2) != 0) std::shuffle(order.begin(), order.end(), random);
  nest.loops.resize(sizes.size());
  std::int64_t extent = nest.element_bytes;
  for (std::size_t i = order.size(); i-- > 0;) {
    if (naive::pick(random, 0, 3) == 0) extent += static_cast<std::int64_t>(naive::pick(random, 0, 9));
    const bool down = naive::pick(random, 0, 5) == 0;
    nest.loops[order[i]] = {sizes[order[i]], down ? -extent : extent};
    if (down) nest.start += static_cast<std::uint64_t>(extent) * (sizes[order[i]] - 1);
    extent *= static_cast<std::int64_t>(sizes[order[i]]);
  }
  nest.start += naive::pick(random, 0, 100);
  return nest;
}

TEST(PatternCopy, MovesByteByByteInStreamOrder) {
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest from = naive::random_nest(random, room);
    const auto read = naive::byte_addresses(from);
    const naive::Nest to = partner(random, read.size());
    const auto write = naive::byte_addresses(to);
    ASSERT_EQ(read.size(), write.size());
    const std::uint64_t reach = *std::max_element(write.begin(), write.end()) + 1;
    if (reach > 4 * room) continue;
    ++used;
    const auto source = noise(random, room);
    auto expected = noise(random, reach);
    auto found = expected;
    for (std::size_t i = 0; i < read.size(); ++i) expected[write[i]] = source[read[i]];
    copy(naive::pattern_of(from), source.data(), naive::pattern_of(to), found.data());
    ASSERT_TRUE(found == expected) << "seed " << seed;
  }
  EXPECT_GT(used, 15'000);
}

TEST(PatternCopy, GatherAndScatterAreTheContiguousCases) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest nest = partner(random, naive::pick(random, 1, 2000));
    const AccessPattern pattern = naive::pattern_of(nest);
    const auto addresses = naive::byte_addresses(nest);
    auto memory = noise(random, pattern.highest() + 1);
    std::vector<std::byte> stream(addresses.size());
    gather(pattern, memory.data(), stream.data());
    for (std::size_t i = 0; i < addresses.size(); ++i) ASSERT_EQ(stream[i], memory[addresses[i]]) << "seed " << seed;
    const auto fresh = noise(random, stream.size());
    auto expected = memory;
    for (std::size_t i = 0; i < addresses.size(); ++i) expected[addresses[i]] = fresh[i];
    scatter(fresh.data(), pattern, memory.data());
    ASSERT_TRUE(memory == expected) << "seed " << seed;
  }
}

// The rows are longer than a cache tile of the kernel and no multiple of it, in both directions, for every element
// width.
TEST(PatternCopy, TransposesLargeTiles) {
  for (const std::uint32_t width : {1u, 2u, 4u, 8u}) {
    constexpr std::uint64_t rows = 517;
    constexpr std::uint64_t columns = 67;
    std::mt19937_64 random(width);
    const auto source = noise(random, rows * columns * width);
    std::vector<std::byte> expected(source.size());
    for (std::uint64_t r = 0; r < rows; ++r)
      for (std::uint64_t c = 0; c < columns; ++c)
        for (std::uint64_t b = 0; b < width; ++b)
          expected[(c * rows + r) * width + b] = source[(r * columns + c) * width + b];
    const auto straight = AccessPattern::of_elements(0, width, {{rows * columns, 1}});
    std::vector<std::byte> found(source.size());
    copy(AccessPattern::of_elements(0, width, {{columns, 1}, {rows, columns}}), source.data(), straight, found.data());
    EXPECT_TRUE(found == expected) << "gather, width " << width;
    found.assign(found.size(), std::byte{});
    copy(straight, source.data(), AccessPattern::of_elements(0, width, {{rows, 1}, {columns, rows}}), found.data());
    EXPECT_TRUE(found == expected) << "scatter, width " << width;
  }
}

TEST(PatternCopy, UnequalByteCountsAreADefect) {
  std::vector<std::byte> data(64);
  try {
    copy(AccessPattern::contiguous(0, 8), data.data(), AccessPattern::contiguous(0, 9), data.data() + 32);
    FAIL() << "no error";
  } catch (const Defect& error) {
    EXPECT_STREQ(error.what(), "pattern copy: reads 8 bytes, writes 9");
  }
}

}  // namespace
}  // namespace tilevp::memory
