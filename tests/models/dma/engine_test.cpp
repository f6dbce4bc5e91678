// What an engine does beside moving bytes in time: order, completions, registers, faults, definedness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/dma/bench.hpp"

namespace tilevp::dma::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t q0(std::uint64_t offset) { return registers::queue_base(0) + offset; }

TEST(DmaEngine, MovesTheBytesAndSignalsWhenTheLastIsWritten) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 10;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    Descriptor descriptor = contiguous_copy(0, 5000, 42);
    descriptor.increment = 3;
    bench.run_ring(0, {descriptor});
    EXPECT_EQ(bench.sink.completed.front(), (Completed{42, 3, 500'000}));
    EXPECT_EQ(bench.peek(target_address, 5000), ramp(5000));
  });
  EXPECT_EQ(bench.statistic("dma0.queue0", "descriptors"), 1u);
  EXPECT_EQ(bench.statistic("dma0.queue0", "bytes"), 5000u);
  EXPECT_EQ(bench.engines[0]->queue_bytes(0), 5000u);
  EXPECT_EQ(bench.statistic("source", "bytes_read"), 5000u);
  EXPECT_EQ(bench.statistic("target", "bytes_written"), 5000u);
}

TEST(DmaEngine, CountsTheBurstsAndTheWasteOfBothMemories) {
  BenchSetup setup;
  setup.source = flat_memory(512, 64);
  setup.target = flat_memory(512, 32);
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    // 10 runs of 40 bytes: 10 bursts of 64 read, 20 bursts of 32 written; 24 bytes wasted a run on each side.
    bench.run_ring(3, {copy(AccessPattern(source_address, 1, {{10, 100}, {40, 1}}),
                            AccessPattern(target_address, 1, {{10, 200}, {40, 1}}))});
  });
  EXPECT_EQ(bench.statistic("dma0.queue3", "runs"), 10u);
  EXPECT_EQ(bench.statistic("dma0.queue3", "bursts"), 30u);
  EXPECT_EQ(bench.statistic("dma0.queue3", "wasted_bytes"), 480u);
}

TEST(DmaEngine, BytesAreSampledAndWrittenAtTheEndOfThePacket) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 1;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(1000));
    bench.preload(target_address, ramp(1000, 50));
    bench.program(0, {contiguous_copy(0, 1000)});
    bench.doorbell(0, 1);
    bench.host->agent.wait_until(999'000);
    EXPECT_EQ(bench.peek(target_address, 1000), ramp(1000, 50));
    bench.preload(source_address, ramp(1000, 9));  // still in time
    bench.wait_completions(1);
    EXPECT_EQ(now_ps(), 1'000'000u);
    EXPECT_EQ(bench.peek(target_address, 1000), ramp(1000, 9));
  });
}

TEST(DmaEngine, DescriptorsOfAQueueEndInOrder) {
  BenchSetup setup;
  setup.target.latency_ns = 500;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    // The second copies inside the source, which answers at once: it still ends after the first.
    const Descriptor inside =
        copy(AccessPattern::contiguous(source_address, 8), AccessPattern::contiguous(source_address + 0x1000, 8), 2);
    bench.run_ring(0, {contiguous_copy(0, 1000, 1), inside});
    EXPECT_EQ(bench.sink.completed[0].semaphore, 1u);
    EXPECT_GE(bench.sink.completed[0].at_ps, 500'000u);
    EXPECT_EQ(bench.sink.completed[1].semaphore, 2u);
  });
}

TEST(DmaEngine, AnEmptyDescriptorOnlySignalsInItsTurn) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 1;
  setup.engine.start_latency_ns = 1300;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    Descriptor empty;
    empty.empty = empty.signals = true;
    empty.semaphore = 5;
    empty.increment = 1;
    bench.run_ring(0, {empty, contiguous_copy(0, 100, 6), empty});
    EXPECT_THAT(bench.sink.completed, ::testing::ElementsAre(Completed{5, 1, 1'300'000}, Completed{6, 1, 1'400'000},
                                                             Completed{5, 1, 1'400'000}));
  });
  EXPECT_EQ(bench.engines[0]->queue_bytes(0), 100u);
}

TEST(DmaEngine, TheRingWrapsAndIsRefilledAndPrefetchedInBlocks) {
  BenchSetup setup;
  setup.engine.prefetch_descriptors = 4;
  setup.engine.bytes_per_ns = 1;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    std::vector<Descriptor> six;
    for (unsigned i = 0; i < 6; ++i) six.push_back(contiguous_copy(i * 100, 100, static_cast<std::uint8_t>(i)));
    bench.program(1, six, 6);
    for (unsigned round = 0; round < 5; ++round) {
      bench.doorbell(1, 4);  // 0-3, 4-5 and 0-1, 2-5, ...
      bench.wait_completions(4 * (round + 1));
    }
    for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(bench.sink.completed[i].semaphore, i % 6);
    EXPECT_EQ(bench.read_register(registers::queue_base(1) + registers::head), 20u);
    // A new base starts at descriptor 0 again.
    bench.write_register(registers::queue_base(1) + registers::ring_base, Bench::ring_of(1));
    EXPECT_EQ(bench.read_register(registers::queue_base(1) + registers::head), 0u);
    bench.doorbell(1, 1);
    bench.wait_completions(21);
    EXPECT_EQ(bench.sink.completed[20].semaphore, 0u);
  });
}

TEST(DmaEngine, StatusAndInterruptRegisters) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 1;
  Bench bench(setup);
  std::vector<bool> levels;
  bench.engines[0]->on_interrupt([&](bool level) { levels.push_back(level); });
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    Descriptor descriptor = contiguous_copy(0, 100);
    descriptor.interrupts = true;
    bench.program(4, {descriptor});
    EXPECT_EQ(bench.read_register(registers::status), 0u);
    bench.doorbell(4, 1);
    EXPECT_EQ(bench.read_register(registers::status), 1u);
    EXPECT_EQ(bench.read_register(registers::interrupt), 0u);
    bench.wait_completions(1);
    EXPECT_THAT(levels, ::testing::ElementsAre(true));
    EXPECT_EQ(bench.read_register(registers::status), 0u);
    EXPECT_EQ(bench.read_register(registers::interrupt), 0x10u);
    bench.write_register<std::uint32_t>(registers::interrupt, 0x0f);
    EXPECT_EQ(bench.read_register(registers::interrupt), 0x10u);
    EXPECT_THAT(levels, ::testing::ElementsAre(true));
    bench.write_register<std::uint32_t>(registers::interrupt, 0x10);
    EXPECT_EQ(bench.read_register(registers::interrupt), 0u);
    EXPECT_THAT(levels, ::testing::ElementsAre(true, false));
  });
}

// The first copies inside a memory with direct access: its bytes are moved late. The second comes from a foreign
// memory, through the same scratch.
TEST(DmaEngine, AForeignSourceAfterADirectCopyKeepsItsBytes) {
  BenchSetup setup;
  setup.foreign_source = true;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(target_address, ramp(512));
    std::memcpy(bench.foreign_source->bytes.data(), ramp(512, 100).data(), 512);
    const Descriptor inside =
        copy(AccessPattern::contiguous(target_address, 512), AccessPattern::contiguous(target_address + 0x1000, 512));
    const Descriptor from_foreign =
        copy(AccessPattern::contiguous(source_address, 512), AccessPattern::contiguous(target_address + 0x2000, 512));
    bench.run_ring(0, {inside, from_foreign});
    EXPECT_EQ(bench.peek(target_address + 0x1000, 512), ramp(512));
    EXPECT_EQ(bench.peek(target_address + 0x2000, 512), ramp(512, 100));
  });
}

class Descriptors : public DescriptorObserver {
 public:
  std::vector<DescriptorRecord> ended_ones;
  void ended(const DescriptorRecord& record) override { ended_ones.push_back(record); }
};

TEST(DmaEngine, ADescriptorIsCausedByItsDoorbellAndCausesItsSemaphore) {
  BenchSetup setup;
  setup.engine.bytes_per_ns = 1;
  setup.engine.start_latency_ns = 1300;
  Bench bench(setup);
  Descriptors seen;
  bench.engines[0]->observe(seen);
  bench.run([&] {
    bench.preload(source_address, ramp(200));
    bench.program(4, {contiguous_copy(0, 100), contiguous_copy(100, 100)});
    bench.engines[0]->trigger(4, 1, 777'000);
    bench.engines[0]->trigger(4, 1, 777'001);
    bench.wait_completions(2);
  });
  ASSERT_EQ(seen.ended_ones.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const DescriptorRecord& record = seen.ended_ones[i];
    EXPECT_EQ(record.queue, 4u);
    EXPECT_EQ(record.number, i);
    EXPECT_EQ(record.cause, 777'000 + i);
    EXPECT_EQ(record.doorbell_ps, 0u);
    EXPECT_EQ(record.ready_ps, 1'300'000u);
    EXPECT_EQ(record.end_ps, 1'400'000u + i * 100'000u);
    EXPECT_EQ(bench.sink.causes[i], record.id);
  }
  EXPECT_NE(seen.ended_ones[0].id, seen.ended_ones[1].id);
}

TEST(DmaEngine, ConvertsThroughFp32) {
  Bench bench;
  bench.run([&] {
    // bf16 1.0, -2.0, 3.140625 to fp32 and to int8.
    const std::vector<std::byte> bf16{std::byte{0x80}, std::byte{0x3f}, std::byte{0x00},
                                      std::byte{0xc0}, std::byte{0x49}, std::byte{0x40}};
    bench.preload(source_address, bf16);
    Descriptor widen = copy(AccessPattern(source_address, 2, {{3, 2}}), AccessPattern(target_address, 4, {{3, 4}}));
    widen.source_dtype = numeric::DType::bf16;
    widen.destination_dtype = numeric::DType::fp32;
    Descriptor narrow =
        copy(AccessPattern(source_address, 2, {{3, 2}}), AccessPattern(target_address + 0x100, 1, {{3, 1}}));
    narrow.source_dtype = numeric::DType::bf16;
    narrow.destination_dtype = numeric::DType::int8;
    bench.run_ring(0, {widen, narrow});
    float values[3];
    std::memcpy(values, bench.peek(target_address, 12).data(), 12);
    EXPECT_THAT(values, ::testing::ElementsAre(1.0F, -2.0F, 3.140625F));
    EXPECT_THAT(bench.peek(target_address + 0x100, 3),
                ::testing::ElementsAre(std::byte{1}, std::byte{0xfe}, std::byte{3}));
  });
}

TEST(DmaEngine, WithoutArithmeticTheTimesStandAndNoByteMoves) {
  BenchSetup setup;
  setup.options.arithmetic = false;
  setup.engine.bytes_per_ns = 10;
  Bench bench(setup);
  bench.run([&] {
    bench.preload(source_address, ramp(5000));
    bench.run_ring(0, {contiguous_copy(0, 5000)});
    EXPECT_EQ(now_ps(), 500'000u);
    EXPECT_EQ(bench.peek(target_address, 5000), std::vector<std::byte>(5000));
    // Definedness is metadata: the bytes count as written.
    bench.host->read(AccessPattern::contiguous(target_address, 5000));
  });
}

TEST(DmaEngine, ADescriptorThatADmaWroteIsFetchedAsWritten) {
  Bench bench;
  bench.run([&] {
    bench.preload(source_address, ramp(64));
    const auto bytes = encode(contiguous_copy(0, 64, 9));
    bench.preload(source_address + 0x1000, {bytes.begin(), bytes.end()});
    bench.program(0, {copy(AccessPattern::contiguous(source_address + 0x1000, descriptor_bytes),
                           AccessPattern::contiguous(Bench::ring_of(1), descriptor_bytes), 8)});
    bench.program(1, {});
    bench.doorbell(0, 1);
    bench.wait_completions(1);
    bench.engines[0]->trigger(1, 1, 0);
    bench.wait_completions(2);
    EXPECT_EQ(bench.sink.completed[1].semaphore, 9u);
    EXPECT_EQ(bench.peek(target_address, 64), ramp(64));
  });
}

TEST(DmaParameters, OutOfRangeKeysAreNamed) {
  const auto message = [](auto change) -> std::string {
    Parameters parameters;
    change(parameters);
    try {
      validate(parameters, "dma");
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](Parameters&) {}), "");
  EXPECT_THAT(message([](Parameters& p) { p.engines = 0; }), HasSubstr("dma.engines: expected at least 1, found 0"));
  EXPECT_THAT(message([](Parameters& p) { p.packet_bytes = 0; }), HasSubstr("dma.packet_bytes"));
  EXPECT_THAT(message([](Parameters& p) { p.packet_runs = 0; }), HasSubstr("dma.packet_runs"));
  EXPECT_THAT(message([](Parameters& p) { p.outstanding_packets = 0; }), HasSubstr("dma.outstanding_packets"));
  EXPECT_THAT(message([](Parameters& p) { p.prefetch_descriptors = 0; }), HasSubstr("dma.prefetch_descriptors"));
  EXPECT_THAT(message([](Parameters& p) { p.bytes_per_ns = -17; }), HasSubstr("dma.bytes_per_ns"));
  EXPECT_THAT(message([](Parameters& p) { p.bytes_per_ns = 1e-6; }), HasSubstr("expected less than 2147483"));
  EXPECT_THAT(message([](Parameters& p) { p.run_floor_ns = -1; }), HasSubstr("dma.run_floor_ns"));
  EXPECT_THAT(message([](Parameters& p) { p.packet_floor_ns = 1e99; }), HasSubstr("dma.packet_floor_ns"));
  EXPECT_THAT(message([](Parameters& p) { p.start_latency_ns = -1; }), HasSubstr("dma.start_latency_ns"));
}

}  // namespace
}  // namespace tilevp::dma::testing
