// Descriptors whose indices choose the rows they gather or scatter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/dma/bench.hpp"

namespace tilevp::dma::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t index_address = ring_address + 0x80'0000;  // in the memory of the rings
constexpr std::uint64_t row_bytes = 16;
constexpr std::int64_t table_stride = 32;
constexpr std::int64_t packed_stride = 24;

// Rows of 16 bytes: those of the side that indices choose lie 32 bytes apart, those of the other side 24.
Descriptor rows(Indirect side, std::uint32_t count, std::uint32_t bound, bool skip = false) {
  Descriptor descriptor = contiguous_copy(0, row_bytes);
  const bool gathers = side == Indirect::gather;
  descriptor.rows = {.side = side,
                     .count = count,
                     .source_stride = gathers ? table_stride : packed_stride,
                     .destination_stride = gathers ? packed_stride : table_stride,
                     .indices = index_address,
                     .bound = bound,
                     .skip = skip};
  return descriptor;
}

Bytes bytes_of(const std::vector<std::int32_t>& indices) {
  Bytes bytes(indices.size() * 4);
  std::memcpy(bytes.data(), indices.data(), bytes.size());
  return bytes;
}

// Element by element: what lies at the target after row indices[i] went to (or came from) row i.
Bytes expected(Indirect side, const std::vector<std::int32_t>& indices, const Bytes& source, Bytes target) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0) continue;
    const auto index = static_cast<std::size_t>(indices[i]);
    const std::size_t from = side == Indirect::gather ? 32 * index : 24 * i;
    const std::size_t to = side == Indirect::gather ? 24 * i : 32 * index;
    for (std::size_t k = 0; k < row_bytes; ++k) target[to + k] = source[from + k];
  }
  return target;
}

struct Way {
  const char* name;
  memory::CodingStyle style;
  bool foreign_source;
  bool disordered_target;
};

class Indirection : public ::testing::TestWithParam<Way> {
 protected:
  static BenchSetup setup() {
    BenchSetup setup;
    setup.engine.coding_style = GetParam().style;
    setup.foreign_source = GetParam().foreign_source;
    setup.disordered_target = GetParam().disordered_target;
    return setup;
  }
  // Through the host's port: not every memory has debug transport.
  static void put(Bench& bench, std::uint64_t address, Bytes bytes) {
    bench.host->write(AccessPattern::contiguous(address, bytes.size()), bytes);
  }
  static Bytes target_of(Bench& bench) { return bench.host->read(AccessPattern::contiguous(target_address, 512)); }
  // What is at the target when the descriptor has ended. An index below 0 in `effective`: the row is left out.
  void expect_moved(const Descriptor& descriptor, const std::vector<std::int32_t>& indices,
                    const std::vector<std::int32_t>& effective) {
    Bench bench(setup());
    bench.run([&] {
      put(bench, source_address, ramp(1024));
      put(bench, index_address, bytes_of(indices));
      put(bench, target_address, ramp(512, 99));
      bench.run_ring(0, {descriptor});
      EXPECT_EQ(target_of(bench), expected(descriptor.rows.side, effective, ramp(1024), ramp(512, 99)));
    });
    const auto moved = static_cast<std::uint64_t>(std::ranges::count_if(effective, [](auto i) { return i >= 0; }));
    EXPECT_EQ(bench.statistic("dma0.queue0", "bytes"), moved * row_bytes);
    EXPECT_EQ(bench.statistic("dma0.queue0", "descriptors"), 1u);
  }
};

TEST_P(Indirection, GathersTheRowsThatTheIndicesName) {
  expect_moved(rows(Indirect::gather, 5, 9), {5, 0, 5, 8, 3}, {5, 0, 5, 8, 3});
}

TEST_P(Indirection, ScattersToTheRowsThatTheIndicesName) {
  expect_moved(rows(Indirect::scatter, 4, 12), {11, 2, 0, 7}, {11, 2, 0, 7});
}

TEST_P(Indirection, LeavesOutSourceRowsOutOfBoundsWhereItIsToSkipThem) {
  expect_moved(rows(Indirect::gather, 5, 8, true), {7, 8, -1, 2, INT32_MIN}, {7, -1, -1, 2, -1});
}

TEST_P(Indirection, LeavesOutTargetRowsOutOfBoundsWhereItIsToSkipThem) {
  expect_moved(rows(Indirect::scatter, 3, 4, true), {4, 3, INT32_MAX}, {-1, 3, -1});
}

TEST_P(Indirection, SignalsWhenNoRowIsInBounds) {
  expect_moved(rows(Indirect::gather, 3, 0, true), {0, 1, 2}, {-1, -1, -1});
}

// The indices are what the descriptor before it in the queue writes, out of a slow memory.
TEST_P(Indirection, ReadsIndicesThatTheQueueWroteBefore) {
  BenchSetup slow = setup();
  slow.source = flat_memory(1);
  Bench bench(slow);
  bench.run([&] {
    put(bench, source_address, ramp(1024));
    put(bench, source_address + 1024, bytes_of({6, 1}));
    put(bench, target_address, ramp(512, 99));
    put(bench, index_address, bytes_of({0, 0}));
    bench.run_ring(
        0, {copy(AccessPattern::contiguous(source_address + 1024, 8), AccessPattern::contiguous(index_address, 8)),
            rows(Indirect::gather, 2, 7)});
    EXPECT_EQ(target_of(bench), expected(Indirect::gather, {6, 1}, ramp(1024), ramp(512, 99)));
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, Indirection,
                         ::testing::Values(Way{"lt", memory::CodingStyle::lt, false, false},
                                           Way{"lt_foreign", memory::CodingStyle::lt, true, false},
                                           Way{"at", memory::CodingStyle::at, false, false},
                                           Way{"at_foreign", memory::CodingStyle::at, true, false},
                                           Way{"at_disordered", memory::CodingStyle::at, false, true}),
                         [](const auto& way) { return std::string(way.param.name); });

// Four rows of 16 bytes at 1 byte a nanosecond, a packet each, after 16 bytes of indices from a memory that serves
// 8 bytes in a cycle of 1 ns: 2 ns + 64 ns.
TEST(Indirection, TakesTheReadOfItsIndicesAndAPacketARow) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 1;
  setup.ring = flat_memory(64);
  Bench bench(setup);
  std::uint64_t fetched_ps = 0;
  bench.run([&] {
    bench.preload(source_address, ramp(1024));
    bench.preload(index_address, bytes_of({3, 2, 1, 0}));
    bench.run_ring(0, {contiguous_copy(512, 16)});
    fetched_ps = bench.sink.completed.back().at_ps - 16'000;  // a descriptor of 128 bytes: 16 ns
    bench.run_ring(1, {rows(Indirect::gather, 4, 4)});
  });
  EXPECT_EQ(fetched_ps, 16'000u);
  EXPECT_EQ(bench.sink.completed.back().at_ps, 32'000u + 16'000u + 2'000u + 64'000u);
  EXPECT_EQ(bench.statistic("dma0", "packets"), 5u);
  EXPECT_EQ(bench.statistic("dma0.queue1", "runs"), 4u);
}

}  // namespace
}  // namespace tilevp::dma::testing
