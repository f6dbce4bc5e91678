// The time of transfers, end to end: descriptors in a ring, an engine, memories with bandwidth models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/dma/bench.hpp"

namespace tilevp::dma::testing {
namespace {

using memory::Loop;

struct Example {
  const char* name;
  MemoryParameters source;
  MemoryParameters target;
  std::uint32_t element_bytes;
  std::vector<Loop> read;  // in elements
  std::vector<Loop> write;
  std::uint64_t cycles;
};

const MemoryParameters ddr = flat_memory(128, 64);
const MemoryParameters hbm = flat_memory(512, 32);
const MemoryParameters sram = flat_memory(512);

// Worked examples of the layout rules of Stream (KULeuven-MICAS, data layout page): the slower side, to the cycle.
const std::vector<Example>& examples() {
  static const std::vector<Example> all{
      {"E0b", ddr, sram, 2, {{4096, 1}}, {{64, 1}, {64, 64}}, 512},
      {"E1", ddr, sram, 2, {{64, 4096}, {512, 1}}, {{32768, 1}}, 4096},
      {"E2", ddr, sram, 2, {{8, 4096}, {4096, 1}}, {{32768, 1}}, 4096},
      {"E3", ddr, sram, 2, {{512, 1024}, {64, 1}}, {{32768, 1}}, 4096},
      {"E7", hbm, sram, 1, {{64, 3136}, {8, 56}, {56, 1}}, {{64, 1}, {448, 64}}, 448},
      {"E9", hbm, sram, 2, {{512, 1}}, {{512, 1}}, 16},
      {"E12", hbm, sram, 1, {{32, 3136}, {10, 56}, {10, 1}}, {{3200, 1}}, 160},
  };
  return all;
}

class WorkedExample : public ::testing::TestWithParam<std::size_t> {};

TEST_P(WorkedExample, TakesItsCycles) {
  const Example& example = examples()[GetParam()];
  SCOPED_TRACE(example.name);
  BenchSetup setup;
  setup.source = example.source;
  setup.target = example.target;
  Bench bench(setup);
  const auto read = AccessPattern::of_elements(source_address, example.element_bytes, example.read);
  const auto write = AccessPattern::of_elements(target_address, example.element_bytes, example.write);
  bench.run([&] {
    bench.preload(source_address, ramp(1 << 20));
    bench.preload(source_address + (1 << 20), ramp(1 << 20));
    bench.program(0, {copy(read, write)});
    const std::uint64_t start = now_ps();
    bench.doorbell(0, 1);
    bench.wait_completions(1);
    EXPECT_EQ(now_ps() - start, example.cycles * 1000);
  });
}
INSTANTIATE_TEST_SUITE_P(Stream, WorkedExample, ::testing::Range<std::size_t>(0, 7),
                         [](const auto& param_info) { return examples()[param_info.param].name; });

TEST(DmaTime, StartLatencyRunsFromTheDoorbellAndHidesTheFetch) {
  BenchSetup setup;
  setup.engine.start_latency_ns = 1300;
  setup.engine.bytes_per_ns = 16;
  setup.ring = byte_a_nanosecond(memory_bytes);  // 128 ns to fetch a descriptor
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(160));
    bench.run_ring(0, {contiguous_copy(0, 160)});
    EXPECT_EQ(now_ps(), 1'310'000u);
  });
}

TEST(DmaTime, AFetchLongerThanTheStartLatencyDelaysTheStart) {
  BenchSetup setup;
  setup.engine.start_latency_ns = 100;
  setup.ring = byte_a_nanosecond(memory_bytes);
  setup.source = byte_a_nanosecond(memory_bytes);
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(10));
    bench.run_ring(0, {contiguous_copy(0, 10)});
    EXPECT_EQ(now_ps(), 138'000u);
  });
}

TEST(DmaTime, ARunTakesAtLeastItsFloor) {
  BenchSetup setup;
  setup.engine.run_floor_ns = 107;
  setup.engine.bytes_per_ns = 16;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(0x10000));
    // 100 rows of 1024 bytes: 107 ns each instead of 64. Then 10 rows of 3200 bytes: 200 ns each.
    bench.program(0, {copy(AccessPattern(source_address, 1, {{100, 640}, {64, 1}}),
                           AccessPattern(target_address, 1, {{100, 2048}, {64, 1}})),
                      copy(AccessPattern(source_address, 1, {{10, 6400}, {3200, 1}}),
                           AccessPattern(target_address, 1, {{10, 4096}, {3200, 1}}))});
    bench.doorbell(0, 2);
    bench.wait_completions(1);
    EXPECT_EQ(now_ps(), 10'700'000u);
    bench.wait_completions(2);
    EXPECT_EQ(now_ps(), 12'700'000u);
  });
  EXPECT_EQ(bench.statistic("dma0", "busy_ps"), 12'700'000u);
  EXPECT_EQ(bench.statistic("dma0.queue0", "runs"), 110u);
}

// What a transpose costs: in per cent of a copy's rate, by where it begins.
BenchSetup transposing() {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 16;
  setup.engine.run_floor_ns = 107;
  setup.engine.transpose_percent_from_hbm = 90;
  setup.engine.transpose_percent_from_sbuf = 50;
  return setup;
}

// 64 rows of 64 elements of 2 bytes lie in one run of 8192 bytes: 512 ns as a copy. Element by element each of 4096
// runs would take its floor.
TEST(DmaTime, ATransposeFromHbmTakesNineTenthsOfTheRate) {
  Bench bench(transposing());
  bench.engines[0]->connect_sbuf(target_address, memory_bytes);
  bench.run([&] {
    bench.preload(source_address, ramp(8192));
    bench.run_ring(0, {transpose(64, 64, 2)});
    EXPECT_EQ(now_ps(), 512'000u * 10 / 9 + 1);
    // Column 3 of row 5.
    EXPECT_EQ(bench.peek(target_address + 3 * 0x1'0000 + 5 * 2, 2), bench.peek(source_address + (5 * 64 + 3) * 2, 2));
  });
  EXPECT_EQ(bench.statistic("dma0.queue0", "runs"), 2u);  // a packet of 4096 bytes each
}

TEST(DmaTime, ATransposeWithinSbufTakesHalfTheRate) {
  Bench bench(transposing());
  bench.engines[0]->connect_sbuf(target_address, memory_bytes);
  bench.run([&] {
    bench.preload(target_address + 0x80'0000, ramp(8192));
    bench.run_ring(0, {transpose(32, 64, 4, target_address + 0x80'0000)});
    EXPECT_EQ(now_ps(), 1'024'000u);
    EXPECT_EQ(bench.peek(target_address + 63 * 0x1'0000 + 31 * 4, 4),
              bench.peek(target_address + 0x80'0000 + 8192 - 4, 4));
  });
}

// Rows of 64 bytes, 100 apart: each takes its floor, and that too by nine tenths.
TEST(DmaTime, ShortRowsOfATransposeTakeTheirFloor) {
  Bench bench(transposing());
  bench.engines[0]->connect_sbuf(target_address, memory_bytes);
  bench.run([&] {
    bench.preload(source_address, ramp(0x1000));
    Descriptor rows = transpose(9, 32, 2);
    rows.source = AccessPattern(source_address, 2, {{9, 100}, {32, 2}});
    bench.run_ring(0, {rows});
    EXPECT_EQ(now_ps(), 9 * 107'000u * 10 / 9);
  });
}

TEST(DmaTime, ThePacketFloorCountsPackets) {
  BenchSetup setup;
  setup.engine.packet_floor_ns = 860;
  setup.engine.packet_runs = 8;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(0x1000));
    // 20 rows: packets of 8, 8 and 4.
    bench.run_ring(0, {copy(AccessPattern(source_address, 1, {{20, 64}, {16, 1}}),
                            AccessPattern(target_address, 1, {{20, 64}, {16, 1}}))});
    EXPECT_EQ(now_ps(), 3 * 860'000u);
  });
  EXPECT_EQ(bench.statistic("dma0", "packets"), 3u);
}

TEST(DmaTime, OneTrainium2EngineMoves32KiBIn1416Nanoseconds) {
  // AWS Neuron documentation, NKI DMA bandwidth guide: 32 KiB in 1416 ns, no start cost inside.
  BenchSetup setup;
  setup.engine.bytes_per_ns = 23;
  setup.engine.run_floor_ns = 107;
  setup.engine.start_latency_ns = 1300;
  setup.source = flat_memory(8 * 360);  // about 0.36 TB/s a core
  setup.target = flat_memory(8 * 1024);
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(32768));
    bench.run_ring(0, {contiguous_copy(0, 32768)});
    EXPECT_NEAR(static_cast<double>(now_ps() - 1'300'000), 1'416'000.0, 14'160.0);
  });
}

// Five copies of 1000 bytes, each released when the one before has ended. 1000 / 17 ns = 58823.5 ps, rounded up.
class Chain : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Chain, TakesItsLengthTimesLatencyAndCopy) {
  const std::uint64_t latency_ns = GetParam();
  BenchSetup setup;
  setup.engine.start_latency_ns = static_cast<double>(latency_ns);
  setup.engine.bytes_per_ns = 17;
  setup.source = flat_memory(800);
  setup.target = flat_memory(640);
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(0x1000));
    bench.program(0, std::vector<Descriptor>(5, contiguous_copy(0, 1000)));
    for (std::size_t i = 1; i <= 5; ++i) {
      bench.doorbell(0, 1);
      bench.wait_completions(i);
    }
    EXPECT_EQ(now_ps(), 5 * (latency_ns * 1000 + 58'824));
  });
}
INSTANTIATE_TEST_SUITE_P(StartLatency, Chain, ::testing::Values(1300u, 2600u));

// AWS Neuron documentation, NKI DMA bandwidth guide: throughput by bytes a partition for 128 partitions over 16
// engines, in per cent of the 32 KiB point (read off the figure), and the fit max(2420 B, row) / rate.
struct CurvePoint {
  std::uint64_t row_bytes;
  double fit_percent;
};

class Curve : public ::testing::TestWithParam<CurvePoint> {};

TEST_P(Curve, FollowsTheFit) {
  const auto [row, fit_percent] = GetParam();
  BenchSetup setup;
  setup.engines = 16;
  setup.engine.bytes_per_ns = 23;
  setup.engine.run_floor_ns = 2420.0 / 23;
  setup.source = flat_memory(8 * 65536);
  setup.target = flat_memory(8 * 65536);
  Bench bench(setup);
  bench.run([&] {
    for (unsigned e = 0; e < 16; ++e) {
      for (unsigned partition = 0; partition < 8; ++partition)
        bench.preload(source_address + (e * 8 + partition) * row, ramp(row));
      // Eight partitions an engine, rows apart at the target as partitions are.
      bench.program(0,
                    {copy(AccessPattern(source_address + e * 8 * row, 1, {{8 * row, 1}}),
                          AccessPattern(target_address + e * 8 * 0x10000, 1, {{8, 0x10000}, {row, 1}}))},
                    64, e);
    }
    const std::uint64_t start = now_ps();
    for (unsigned e = 0; e < 16; ++e) bench.doorbell(0, 1, e);
    bench.wait_completions(16);
    const double bytes_per_ns = static_cast<double>(128 * row) / (static_cast<double>(now_ps() - start) / 1000);
    EXPECT_NEAR(100 * bytes_per_ns / (16 * 23), fit_percent, 0.01 * fit_percent);
  });
}
INSTANTIATE_TEST_SUITE_P(Trainium, Curve,
                         ::testing::Values(CurvePoint{64, 2.64}, CurvePoint{512, 21.16}, CurvePoint{1024, 42.31},
                                           CurvePoint{2048, 84.63}, CurvePoint{4096, 100}, CurvePoint{32768, 100}),
                         [](const auto& param_info) { return std::to_string(param_info.param.row_bytes); });

TEST(DmaTime, TwoEnginesShareTheCeilingOfAMemory) {
  // Each reads 4000 bytes in packets of 1000; the source serves 10 bytes a nanosecond to both together, the engines
  // could take 100. Packets alternate: 0, 1, 0, 1, ... of 100 ns each.
  BenchSetup setup;
  setup.engines = 2;
  setup.engine.bytes_per_ns = 100;
  setup.engine.packet_bytes = 1000;
  setup.source = flat_memory(80);
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(8000));
    for (unsigned e = 0; e < 2; ++e)
      bench.program(0, {contiguous_copy(e * 4000, 4000, static_cast<std::uint8_t>(e))}, 64, e);
    bench.engines[0]->trigger(0, 1, 1);
    bench.engines[1]->trigger(0, 1, 1);
    bench.wait_completions(2);
    EXPECT_THAT(bench.sink.completed, ::testing::ElementsAre(Completed{0, 1, 700'000}, Completed{1, 1, 800'000}));
  });
}

TEST(DmaTime, QueuesOfAnEngineTakeTurnsByPacket) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 10;
  setup.engine.packet_bytes = 1000;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(20000));
    bench.program(2, {contiguous_copy(0, 3000, 2)});
    bench.program(5, {contiguous_copy(3000, 10000, 5)});
    bench.program(9, {contiguous_copy(13000, 1500, 9)});
    for (unsigned q : {2u, 5u, 9u}) bench.engines[0]->trigger(q, 1, 1);
    bench.wait_completions(3);
    // Packets of 100 ns: 2 5 9 2 5 9(50 ns) 2 5 5 5 ...
    EXPECT_THAT(bench.sink.completed,
                ::testing::ElementsAre(Completed{9, 1, 550'000}, Completed{2, 1, 650'000}, Completed{5, 1, 1'450'000}));
  });
}

TEST(DmaTime, ThePacketsInFlightAreLimited) {
  // A memory that answers 1000 ns later: with n packets of 1000 bytes in flight the engine moves n packets a 1010 ns.
  BenchSetup setup;
  setup.engine.bytes_per_ns = 100;
  setup.engine.packet_bytes = 1000;
  setup.engine.outstanding_packets = 4;
  setup.source.latency_ns = 1000;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(20000));
    bench.run_ring(0, {contiguous_copy(0, 20000)});
    // Issued at 0, 10, 20, 30; then each when the fourth before it has ended: 1000 later. The 20th at 4 * 1000 + 30.
    EXPECT_EQ(now_ps(), 5'030'000u);
  });
  EXPECT_EQ(bench.statistic("dma0", "stalled_outstanding_ps"), 4 * 960'000u);
}

TEST(DmaTime, AHundredPacketsOfAThirdOfAPicosecondDoNotDrift) {
  // 3 bytes a nanosecond: a packet of 1000 bytes takes 333333 1/3 ps.
  BenchSetup setup;
  setup.engine.bytes_per_ns = 3;
  setup.engine.packet_bytes = 1000;
  setup.source.clock_hz = setup.target.clock_hz = 1'000'000'000'000;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(300'000));
    bench.run_ring(0, {contiguous_copy(0, 300'000)});
    EXPECT_EQ(now_ps(), 100'000'001u);  // rounded up, once: rates are rounded up to 2^-32 ps a packet
  });
}

}  // namespace
}  // namespace tilevp::dma::testing
