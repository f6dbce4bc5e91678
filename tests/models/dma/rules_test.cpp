// Every rule of the table, broken; some in more ways than one.
#include "tilevp/dma/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/dma/bench.hpp"
#include "tilevp/memory/rules.hpp"

namespace tilevp::dma::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t q0(std::uint64_t offset) { return registers::queue_base(0) + offset; }

struct Breach {
  const char* name;
  const char* rule;
  std::vector<std::string> parts;  // of the message
  void (*act)(Bench& bench);
};

void run_one(Bench& bench, const Descriptor& descriptor) {
  bench.preload(source_address, ramp(24));
  bench.program(0, {descriptor});
  bench.doorbell(0, 1);
  bench.wait_completions(1);
}

// Two rows of 8 bytes out of a table of three.
void run_gather(Bench& bench, std::array<std::int32_t, 2> indices) {
  constexpr std::uint64_t index_address = ring_address + 0x80'0000;
  std::vector<std::byte> bytes(sizeof indices);
  std::memcpy(bytes.data(), indices.data(), bytes.size());
  bench.preload(index_address, bytes);
  Descriptor descriptor = contiguous_copy(0, 8);
  descriptor.rows = {.side = Indirect::gather,
                     .count = 2,
                     .source_stride = 8,
                     .destination_stride = 8,
                     .indices = index_address,
                     .bound = 3};
  run_one(bench, descriptor);
}

const std::vector<Breach>& breaches() {
  static const std::vector<Breach> all{
      {"DoorbellBeforeTheRing", rule::ring, {"dma0 queue 2", "ring_base"}, [](Bench& b) { b.doorbell(2, 1); }},
      {"DoorbellBeyondTheRing",
       rule::doorbell,
       {"dma0 queue 0 descriptor 0", "5", "ring of 4"},
       [](Bench& b) {
         b.program(0, {}, 4);
         b.doorbell(0, 5);
       }},
      {"NoSuchQueue", rule::queue, {"queue 16", "16"}, [](Bench& b) { b.engines[0]->trigger(16, 1, 0); }},
      {"TheRingMoves",
       rule::ring_busy,
       {"dma0 queue 0", "ring_size", "1 descriptors"},
       [](Bench& b) {
         b.program(0, {contiguous_copy(0, 16)});
         b.engines[0]->trigger(0, 1, 0);
         b.write_register<std::uint32_t>(q0(registers::ring_size), 8);
       }},
      {"NoDescriptor",
       rule::descriptor,
       {"dma0 queue 0 descriptor 0", "data type 99"},
       [](Bench& b) {
         b.program(0, {contiguous_copy(0, 16)});
         b.preload(Bench::ring_of(0) + 16, {std::byte{99}});
         b.doorbell(0, 1);
         b.wait_completions(1);
       }},
      {"IncrementBeyondASemaphore",
       rule::descriptor,
       {"dma0 queue 0 descriptor 0", "increment 2147483648 exceeds 2147483647"},
       [](Bench& b) {
         Descriptor descriptor = contiguous_copy(0, 16);
         descriptor.increment = 0x8000'0000;
         run_one(b, descriptor);
       }},
      {"ReservedSemaphore",
       rule::semaphore,
       {"dma0 queue 0 descriptor 0", "semaphore 253, which is reserved; programs use 0 to 252"},
       [](Bench& b) { run_one(b, contiguous_copy(0, 16, 253)); }},
      {"DescriptorNobodyWrote",
       memory::rule::undefined_read,
       {"dma0 queue 0", "0x80"},
       [](Bench& b) {
         b.program(0, {contiguous_copy(0, 16)});
         b.preload(source_address, ramp(16));
         b.doorbell(0, 2);
         b.wait_completions(2);
       }},
      {"SourceNobodyWrote",
       memory::rule::undefined_read,
       {"dma0 queue 0 descriptor 1", "source", "0x63"},
       [](Bench& b) {
         b.preload(source_address, ramp(99));
         b.program(0, {contiguous_copy(0, 10), contiguous_copy(0, 100)});
         b.doorbell(0, 2);
         b.wait_completions(2);
       }},
      {"IndexOutOfBounds",
       rule::out_of_bounds,
       {"dma0 queue 0 descriptor 0", "index 1 is -1; expected at least 0 and below 3"},
       [](Bench& b) {
         run_gather(b, {2, -1});
       }},
      {"IndexAtTheBound",
       rule::out_of_bounds,
       {"dma0 queue 0 descriptor 0", "index 0 is 3; expected at least 0 and below 3"},
       [](Bench& b) {
         run_gather(b, {3, 0});
       }},
      {"UnmappedTarget",
       rule::address_error,
       {"dma0 queue 0 descriptor 0", "write of 16 bytes at 0x70000000"},
       [](Bench& b) {
         run_one(b, copy(AccessPattern::contiguous(source_address, 16), AccessPattern::contiguous(0x7000'0000, 16)));
       }},
      {"TransposeOfBytes",
       rule::transpose,
       {"dma0 queue 0 descriptor 0", "elements of 1 bytes, expected 2 or 4"},
       [](Bench& b) { run_one(b, transpose(8, 2, 1)); }},
      {"TransposeOutsideSbuf",
       rule::transpose,
       {"dma0 queue 0 descriptor 0", "outside SBUF"},
       [](Bench& b) { run_one(b, transpose(4, 2, 2)); }},
      {"TransposeOnAnEngineWithoutAny",
       rule::transpose,
       {"dma0 queue 0 descriptor 0", "the engine has no transposes"},
       [](Bench& b) {
         b.engines[0]->connect_sbuf(target_address, memory_bytes);
         run_one(b, transpose(4, 2, 2));
       }},
      {"UnmappedRing",
       rule::address_error,
       {"dma0 queue 0 descriptor 0", "read of 128 bytes at 0x70000000"},
       [](Bench& b) {
         b.write_register<std::uint64_t>(q0(registers::ring_base), 0x7000'0000);
         b.write_register<std::uint32_t>(q0(registers::ring_size), 4);
         b.doorbell(0, 1);
         b.wait_completions(1);
       }},
      {"RegisterNotToBeWritten",
       memory::rule::command_error,
       {"host", "write of 4 bytes at 0x30000000"},
       [](Bench& b) { b.write_register<std::uint32_t>(registers::status, 1); }},
  };
  return all;
}

class DmaBreach : public ::testing::TestWithParam<Breach> {};

TEST_P(DmaBreach, IsAFaultOfItsRule) {
  Bench bench;
  try {
    bench.run([&] { GetParam().act(bench); });
    FAIL() << "expected the fault " << GetParam().rule;
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), GetParam().rule) << fault.what();
    for (const auto& part : GetParam().parts) EXPECT_THAT(fault.what(), HasSubstr(part));
    EXPECT_FALSE(fault.module.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, DmaBreach, ::testing::ValuesIn(breaches()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(DmaRules, EveryRowIsBrokenAboveAndSaysWhatAndWhere) {
  std::set<std::string> broken;
  for (const Breach& breach : breaches()) broken.insert(breach.rule);
  std::set<std::string> ids;
  for (const Rule& row : rules()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(broken.contains(row.id)) << "no test breaks " << row.id;
    EXPECT_GT(std::string(row.text).size(), 10u) << row.id;
    EXPECT_GT(std::string(row.source).size(), 10u) << row.id;
  }
}

TEST(DmaRules, ASignalWithoutSemaphores) {
  Simulation simulation("simulation");
  memory::Memory everything("memory", simulation, instant_memory());
  DmaEngine engine("dma", simulation, instant_engine(), 3);
  unsigned running = 0;
  Driver host("host", simulation, 1, running);
  engine.memory().socket.bind(everything.socket);
  host.memory.socket.bind(everything.socket);
  Driver registers_host("registers_host", simulation, 2, running);
  registers_host.memory.socket.bind(engine.registers().socket);
  host.body = [&](Driver& driver) {
    const auto bytes = encode(copy(AccessPattern::contiguous(0, 16), AccessPattern::contiguous(0x100, 16)));
    driver.write(AccessPattern::contiguous(0, bytes.size()), {bytes.begin(), bytes.end()});
    std::vector<std::byte> base(8), size(4, std::byte{1});
    registers_host.write(AccessPattern::contiguous(q0(registers::ring_base), 8), base);
    registers_host.write(AccessPattern::contiguous(q0(registers::ring_size), 4), size);
    engine.trigger(0, 1, 0);
    sc_core::wait(1, sc_core::SC_MS);
  };
  try {
    simulation.run();
    FAIL() << "expected a fault";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), rule::semaphore);
    EXPECT_EQ(fault.module, "dma");
    EXPECT_THAT(fault.what(), HasSubstr("signals semaphore 7"));
  }
}

}  // namespace
}  // namespace tilevp::dma::testing
