// Engines that ask by nb_transport: the times of loosely timed ones, throughput by hand, the same bytes from memories
// that answer out of order and hold END_REQ back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "models/dma/bench.hpp"

namespace tilevp::dma::testing {
namespace {

using memory::CodingStyle;

BenchSetup in_style(BenchSetup setup, CodingStyle engine, CodingStyle memories) {
  setup.engine.coding_style = engine;
  for (MemoryParameters* parameters : {&setup.ring, &setup.source, &setup.target}) parameters->coding_style = memories;
  return setup;
}

// One elaboration a process.
std::uint64_t in_child(const std::function<std::uint64_t()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t value = body();
    const bool failed = ::testing::Test::HasFailure();
    _exit(write(ends[1], &value, sizeof value) == sizeof value && !failed ? 0 : 1);
  }
  close(ends[1]);
  std::uint64_t value = 0;
  EXPECT_EQ(read(ends[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return value;
}

// ---- min(rate, outstanding x bytes / latency)

struct Load {
  std::uint64_t outstanding;
  std::uint64_t packet_bytes;
  std::uint64_t bytes_per_ns;  // of the source
  std::uint64_t latency_ns;
  std::uint64_t packets;

  std::uint64_t service_ps() const { return packet_bytes * 1000 / bytes_per_ns; }
  // One packet after the other at the port; the latency does not occupy it; a packet is asked for when one of the
  // limit has come back.
  std::uint64_t expected_ps() const {
    std::vector<std::uint64_t> ends;
    std::uint64_t port_free = 0;
    for (std::uint64_t p = 0; p < packets; ++p) {
      const std::uint64_t asked = p < outstanding ? 0 : ends[p - outstanding];
      port_free = std::max(port_free, asked) + service_ps();
      ends.push_back(port_free + latency_ns * 1000);
    }
    return ends.back();
  }
};

std::uint64_t measured_ps(const Load& load, CodingStyle engine, CodingStyle memories) {
  return in_child([&] {
    BenchSetup setup;
    setup.engine.packet_bytes = static_cast<std::uint32_t>(load.packet_bytes);
    setup.engine.outstanding_packets = static_cast<std::uint32_t>(load.outstanding);
    setup.source = flat_memory(8.0 * static_cast<double>(load.bytes_per_ns));
    setup.source.latency_ns = static_cast<double>(load.latency_ns);
    Bench bench(in_style(setup, engine, memories));
    const std::uint64_t bytes = load.packets * load.packet_bytes;
    bench.run([&] {
      bench.preload(source_address, ramp(bytes));
      bench.program(0, {contiguous_copy(0, bytes)});
      bench.doorbell(0, 1);
      bench.wait_completions(1);
      EXPECT_EQ(bench.peek(target_address, bytes), ramp(bytes));
      EXPECT_EQ(bench.engines[0]->memory().in_flight(), 0u);
    });
    return bench.sink.completed.front().at_ps;
  });
}

class Throughput : public ::testing::TestWithParam<unsigned> {};

TEST_P(Throughput, IsTheRateOrOutstandingTimesBytesByLatency) {
  std::mt19937_64 random(GetParam());
  Load load;
  load.outstanding = 1 + random() % 16;
  load.bytes_per_ns = std::uint64_t{1} << random() % 5;
  load.packet_bytes = 64 << random() % 6;
  load.latency_ns = random() % 2000;
  load.packets = 60 + random() % 60;
  const std::uint64_t lt = measured_ps(load, CodingStyle::lt, CodingStyle::lt);
  const std::uint64_t at = measured_ps(load, CodingStyle::at, CodingStyle::at);
  const auto expected = static_cast<double>(load.expected_ps());
  EXPECT_NEAR(static_cast<double>(at), expected, expected / 1000) << "seed " << GetParam();
  EXPECT_NEAR(static_cast<double>(lt), expected, expected / 1000) << "seed " << GetParam();
  EXPECT_EQ(at, lt) << "seed " << GetParam();
}
INSTANTIATE_TEST_SUITE_P(Seeds, Throughput, ::testing::Range(1u, 25u));

// 256-byte packets at 4 bytes/ns: 64 ns at the port and 576 ns of latency. N in flight move N x 256 bytes in 640 ns,
// until the port is busy all the time with 10.
TEST(Throughput, GrowsWithTheLimitUpToTheRate) {
  for (const std::uint64_t outstanding : {1u, 2u, 4u, 8u, 10u, 12u, 16u}) {
    const Load load{outstanding, 256, 4, 576, 2400};
    const auto time_ps = static_cast<double>(measured_ps(load, CodingStyle::at, CodingStyle::at));
    const double bytes_per_ns = 2400 * 256 * 1000.0 / time_ps;
    const double law = std::min(4.0, static_cast<double>(outstanding) * 256 / 640);
    EXPECT_NEAR(bytes_per_ns, law, law / 100) << outstanding;
  }
}

// ---- Whoever of both can do better gives way to the other.

TEST(CodingStyles, EveryMixGivesTheSameTimesAndBytes) {
  const Load load{4, 512, 8, 300, 40};
  const std::uint64_t lt = measured_ps(load, CodingStyle::lt, CodingStyle::lt);
  EXPECT_EQ(measured_ps(load, CodingStyle::at, CodingStyle::lt), lt);
  EXPECT_EQ(measured_ps(load, CodingStyle::lt, CodingStyle::at), lt);
  EXPECT_EQ(measured_ps(load, CodingStyle::at, CodingStyle::at), lt);
}

// ---- A memory with a short request queue.

TEST(RequestQueue, ThatIsFullHoldsTheEngineBackToItsDepth) {
  // As above, with 8 packets allowed in flight and room for 2 in the memory: 2 x 256 bytes in 640 ns.
  const std::uint64_t end = in_child([] {
    BenchSetup setup;
    setup.engine.packet_bytes = 256;
    setup.engine.outstanding_packets = 8;
    setup.source = flat_memory(32);
    setup.source.latency_ns = 576;
    setup.source.request_queue = 2;
    Bench bench(in_style(setup, CodingStyle::at, CodingStyle::at));
    bench.run([&] {
      bench.preload(source_address, ramp(100 * 256));
      bench.program(0, {contiguous_copy(0, 100 * 256)});
      bench.doorbell(0, 1);
      bench.wait_completions(1);
      EXPECT_EQ(bench.peek(target_address, 100 * 256), ramp(100 * 256));
    });
    return bench.sink.completed.front().at_ps;
  });
  // Packets come in pairs: 50 of them, each waiting for the pair before.
  EXPECT_NEAR(static_cast<double>(end), 50 * 640'000.0 + 64'000, 64'000);
}

// ---- Several engines at one memory.

std::uint64_t last_of_engines(CodingStyle style, std::uint64_t quantum_ps = 0, bool reversed = false) {
  return in_child([=] {
    BenchSetup setup;
    setup.engine = Parameters{};
    setup.engine.outstanding_packets = 8;
    setup.engines = 4;
    setup.source = flat_memory(256, 64);
    setup.source.latency_ns = 150;
    setup.target = flat_memory(200, 32);
    setup.options.quantum_ps = quantum_ps;
    setup.reversed = reversed;
    Bench bench(in_style(setup, style, style));
    bench.run([&] {
      bench.preload(source_address, ramp(1 << 20));
      for (unsigned e = 0; e < 4; ++e) {
        const std::uint64_t first = e * 0x4'0000;
        bench.program(0,
                      {copy(AccessPattern(source_address + first, 1, {{100, 300}, {100, 1}}),
                            AccessPattern(target_address + first, 1, {{50, 400}, {200, 1}})),
                       contiguous_copy(first + 0x2'0000, 40'000 + e * 500)},
                      64, e);
      }
      for (unsigned e = 0; e < 4; ++e) bench.doorbell(0, 2, e);
      bench.wait_completions(8);
      for (unsigned e = 0; e < 4; ++e) EXPECT_EQ(bench.engines[e]->memory().in_flight(), 0u);
    });
    return bench.sink.completed.back().at_ps;
  });
}

TEST(SeveralEngines, TakeTheSameTimeInBothStyles) {
  const auto lt = static_cast<double>(last_of_engines(CodingStyle::lt));
  EXPECT_NEAR(static_cast<double>(last_of_engines(CodingStyle::at)), lt, lt / 100);
}

TEST(SeveralEngines, QuantumAndConstructionOrderChangeNothing) {
  const std::uint64_t first = last_of_engines(CodingStyle::at);
  for (const std::uint64_t quantum_ps : {0ull, 1'000'000ull, 100'000'000ull})
    for (const bool reversed : {false, true})
      EXPECT_EQ(last_of_engines(CodingStyle::at, quantum_ps, reversed), first) << quantum_ps << " " << reversed;
}

// ---- Somebody else's memory.

std::vector<std::byte> bytes_of(const DisorderedMemory& memory, std::size_t count) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(memory.bytes[i]));
  return bytes;
}

TEST(DisorderedMemories, GiveTheSameBytesWithSeveralPacketsInFlight) {
  BenchSetup setup;
  setup.engine.packet_bytes = 256;
  setup.engine.outstanding_packets = 4;
  setup.disordered_source = setup.disordered_target = true;
  setup.engine.coding_style = CodingStyle::at;
  Bench bench(setup);
  bench.run([&] {
    for (std::size_t i = 0; i < 10'000; ++i) bench.disordered_source->bytes[i] = static_cast<unsigned char>(i % 251);
    // 25 runs of 400 bytes transposed into 100 of 100 bytes; then a copy of what that wrote.
    bench.program(0, {copy(AccessPattern(source_address, 1, {{25, 400}, {400, 1}}),
                           AccessPattern(target_address, 1, {{100, 100}, {100, 1}})),
                      copy(AccessPattern::contiguous(target_address, 10'000),
                           AccessPattern::contiguous(source_address + 0x1'0000, 10'000))});
    bench.doorbell(0, 2);
    bench.wait_completions(2);
  });
  EXPECT_EQ(bytes_of(*bench.disordered_target, 10'000), ramp(10'000));
  for (std::size_t i = 0; i < 10'000; ++i) ASSERT_EQ(bench.disordered_source->bytes[0x1'0000 + i], i % 251);
  EXPECT_GT(bench.disordered_source->overtakings(), 10u);
  EXPECT_GT(bench.disordered_source->most_in_flight(), 3u);
  EXPECT_EQ(bench.statistic("dma0.queue0", "bytes"), 20'000u);
  EXPECT_EQ(bench.engines[0]->memory().in_flight(), 0u);
}

TEST(DisorderedMemories, ServeLooselyTimedEnginesToo) {
  BenchSetup setup;
  setup.disordered_source = true;
  Bench bench(setup);
  bench.run([&] {
    for (std::size_t i = 0; i < 5000; ++i) bench.disordered_source->bytes[i] = static_cast<unsigned char>(i % 251);
    bench.program(0, {contiguous_copy(0, 5000)});
    bench.doorbell(0, 1);
    bench.wait_completions(1);
    EXPECT_EQ(bench.peek(target_address, 5000), ramp(5000));
  });
}

// Types are converted between the reads and the writes.
TEST(DisorderedMemories, ConvertTypes) {
  BenchSetup setup;
  setup.disordered_source = setup.disordered_target = true;
  setup.engine.coding_style = CodingStyle::at;
  Bench bench(setup);
  bench.run([&] {
    const std::vector<float> values{1.0f, -2.5f, 3.140625f, 65536.0f};
    std::memcpy(bench.disordered_source->bytes.data(), values.data(), 16);
    Descriptor descriptor =
        copy(AccessPattern(source_address, 4, {{4, 4}}), AccessPattern(target_address, 2, {{4, 2}}));
    descriptor.source_dtype = numeric::DType::fp32;
    descriptor.destination_dtype = numeric::DType::bf16;
    bench.program(0, {descriptor});
    bench.doorbell(0, 1);
    bench.wait_completions(1);
  });
  // The upper halves of the fp32 values: they need no rounding.
  const std::vector<unsigned char> expected{0x80, 0x3f, 0x20, 0xc0, 0x49, 0x40, 0x80, 0x47};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bench.disordered_target->bytes.begin()));
}

// ---- Resets

// At any time: while requests wait for END_REQ, between reads and writes, with responses on their way. What was issued
// ends, all payloads come back, and the engine works as before.
TEST(Resets, InTheMiddleOfTheTrafficLeaveNothingBehind) {
  for (const std::uint64_t at_ns : {300u, 307u, 311u, 340u, 355u, 402u, 480u, 777u}) {
    in_child([&] {
      BenchSetup setup;
      setup.engine.packet_bytes = 256;
      setup.engine.outstanding_packets = 4;
      setup.disordered_source = setup.disordered_target = true;
      setup.engine.coding_style = CodingStyle::at;
      Bench bench(setup);
      auto& engine = *bench.engines[0];
      bench.run([&] {
        for (std::size_t i = 0; i < 10'000; ++i)
          bench.disordered_source->bytes[i] = static_cast<unsigned char>(i % 251);
        bench.program(0, {contiguous_copy(0, 10'000, 1), contiguous_copy(0, 10'000, 1)});
        bench.doorbell(0, 2);
        sc_core::wait(from_ps(at_ns * 1000));
        EXPECT_GT(engine.memory().in_flight(), 0u) << at_ns;
        bench.write_register<std::uint32_t>(registers::reset, 1);
        for (unsigned polls = 0; bench.read_register(registers::reset) != 0; ++polls) {
          ASSERT_LT(polls, 1000u) << "the reset at " << at_ns << " ns does not end";
          sc_core::wait(from_ps(10'000));
        }
        EXPECT_EQ(engine.memory().in_flight(), 0u) << at_ns;
        EXPECT_FALSE(engine.busy()) << at_ns;
        EXPECT_TRUE(bench.sink.completed.empty()) << at_ns;
        // What was issued is there as a whole, packet by packet, and nothing more.
        const auto& target = bench.disordered_target->bytes;
        const auto copied = static_cast<std::size_t>(engine.queue_bytes(0));
        EXPECT_EQ(copied % 256, 0u);
        EXPECT_GT(copied, 0u);
        EXPECT_LT(copied, 10'000u);
        EXPECT_EQ(bytes_of(*bench.disordered_target, copied), ramp(copied));
        EXPECT_TRUE(std::all_of(target.begin() + static_cast<std::ptrdiff_t>(copied), target.begin() + 10'000,
                                [](unsigned char byte) { return byte == 0xff; }));
        bench.run_ring(2, {contiguous_copy(0, 10'000)});
        EXPECT_EQ(bytes_of(*bench.disordered_target, 10'000), ramp(10'000));
        EXPECT_EQ(engine.memory().in_flight(), 0u);
      });
      return std::uint64_t{0};
    });
  }
}

// A blocking memory of others under an engine that asks by nb_transport: its socket turns one into the other.
TEST(ForeignBlockingMemories, ServeApproximatelyTimedEngines) {
  BenchSetup setup;
  setup.engine.packet_bytes = 512;
  setup.engine.coding_style = CodingStyle::at;
  setup.foreign_source = setup.foreign_target = true;
  Bench bench(setup);
  bench.run([&] {
    for (std::size_t i = 0; i < 5000; ++i) bench.foreign_source->bytes[i] = static_cast<unsigned char>(i % 251);
    bench.program(0, {contiguous_copy(0, 5000)});
    bench.doorbell(0, 1);
    bench.wait_completions(1);
    EXPECT_EQ(bench.peek(target_address, 5000), ramp(5000));
  });
}

TEST(DisorderedMemories, AnAddressErrorIsAFaultThatNamesTheDescriptor) {
  BenchSetup setup;
  setup.disordered_source = true;
  setup.engine.coding_style = CodingStyle::at;
  Bench bench(setup);
  bench.disordered_source->bytes.resize(100);
  try {
    bench.run([&] {
      bench.program(3, {contiguous_copy(0, 5000)});
      bench.doorbell(3, 1);
      bench.wait_completions(1);
    });
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), "dma.address_error");
    EXPECT_THAT(fault.what(), ::testing::HasSubstr("queue 3 descriptor 0"));
    EXPECT_EQ(fault.module, "dma0");
  }
}

}  // namespace
}  // namespace tilevp::dma::testing
