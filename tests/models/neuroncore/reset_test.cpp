// Engines that stop at a fault, and the reset of the core: each block, and a good run after a bad one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
using tilevp::Fault;
using tilevp::now_ps;

constexpr unsigned k = 16;  // partitions, and columns of every tile
constexpr std::uint32_t image_at = 64, result_at = 1024;
constexpr unsigned done = 5, never = 9;  // semaphores
constexpr auto fault_bit = [](Engine engine) { return 1U << (registers::fault_interrupt_shift + unsigned(engine)); };

std::uint64_t reg(Engine engine, std::uint64_t offset) {
  return registers::sequencer(static_cast<unsigned>(engine)) + offset;
}

class ResetBench : public CoreBench {
 public:
  // Starts `count` records from record `first` of the engine's program.
  void start_at(Engine engine, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t program = 0x100'0000 * static_cast<std::uint64_t>(engine);  // as CoreBench places them
    set_register(reg(engine, registers::stream_base), 8, program + first * instruction_bytes);
    set_register(reg(engine, registers::stream_count), 4, count);
    set_register(reg(engine, registers::start), 4, 1);
  }
  void wait_for_interrupt_bits(std::uint64_t bits) {
    while ((register_value(registers::interrupt, 4) & bits) != bits) sc_core::wait(tilevp::from_ps(1'000'000));
  }
  void reset() {
    set_register(registers::reset, 4, 1);
    while (register_value(registers::reset, 4) != 0) sc_core::wait(tilevp::from_ps(1'000));
  }
  std::uint64_t status(Engine engine) { return register_value(reg(engine, registers::status), 4); }
  std::int32_t semaphore(unsigned s) { return static_cast<std::int32_t>(register_value(registers::semaphore(s), 4)); }
  // Every clock has an edge at each multiple of 25 ns: 2.8, 1.4, 1.12 and 1 GHz are multiples of 40 MHz.
  std::uint64_t align() {
    constexpr std::uint64_t grain = 1'000'000;
    sc_core::wait(tilevp::from_ps(grain - now_ps() % grain));
    return now_ps();
  }
  void write_inputs() {
    for (unsigned p = 0; p < k; ++p) {
      std::vector<float> image(k), ones(k, 1.0F);
      for (unsigned n = 0; n < k; ++n) image[n] = static_cast<float>(n);
      write_floats(Space::sbuf, p, 0, ones, tilevp::numeric::DType::bf16);
      write_floats(Space::sbuf, p, image_at, image, tilevp::numeric::DType::bf16);
      write_floats(Space::sbuf, p, result_at, std::vector<float>(k, -1.0F));
    }
  }
};

Instruction product(unsigned flags) { return matmul(k, k, k, 0, image_at, 0, flags); }
Instruction copy_out() { return tensor_copy(sbuf_tile(0, result_at, k), psum_tile(0, 0, k), k); }

// The good kernel comes first in each stream, the bad one behind it.
constexpr std::uint64_t good_pe = 2, good_vector = 3;
void program_both(ResetBench& bench) {
  bench.program(Engine::pe, {updating(product(matmul_start | matmul_stop), done), control(Opcode::halt),
                             updating(product(matmul_start), done), wait_for(never, 1)});
  bench.program(Engine::vector, {wait_for(done, 1), copy_out(), control(Opcode::halt), wait_for(done, 1), copy_out(),
                                 updating(copy_out(), never)});
}

// Times of the data instructions since `from`, relative to it.
std::vector<std::uint64_t> times_since(const ResetBench& bench, std::uint64_t from) {
  std::vector<std::uint64_t> times;
  for (const auto& record : bench.records)
    if (record.requested_ps >= from && record.opcode >= Opcode::matmul)
      for (const std::uint64_t time : {record.begin_ps, record.end_ps, record.complete_ps})
        times.push_back(time - from);
  return times;
}

TEST(Reset, AGoodRunAfterAFaultIsAsTheFirst) {
  ResetBench bench;
  program_both(bench);
  std::vector<std::uint64_t> first_times;
  std::uint64_t second_start = 0;
  const auto run_good = [&] {
    const std::uint64_t start = bench.align();
    bench.start_at(Engine::pe, 0, good_pe);
    bench.start_at(Engine::vector, 0, good_vector);
    return start;
  };
  bench.before = [&] {
    bench.write_inputs();
    const std::uint64_t start = run_good();
    bench.wait_for_interrupt_bits(1U << unsigned(Engine::vector) | 1U << unsigned(Engine::pe));
    first_times = times_since(bench, start);
    bench.set_register(registers::interrupt, 4, UINT32_MAX);
    bench.set_register(registers::semaphore(done), 4, 0);

    // The vector engine reads a bank whose accumulation group is open; the PE array waits for what never comes.
    bench.set_register(registers::fault_control, 4, 1);
    bench.start_at(Engine::pe, good_pe, 2);
    bench.start_at(Engine::vector, good_vector, 3);
    bench.wait_for_interrupt_bits(fault_bit(Engine::vector));
    EXPECT_EQ(bench.status(Engine::vector), 3U);
    EXPECT_EQ(bench.register_value(reg(Engine::vector, registers::fault_index), 4), 1U);
    EXPECT_EQ(bench.status(Engine::pe), 1U);
    EXPECT_EQ(bench.semaphore(done), 1);
    EXPECT_EQ(bench.semaphore(never), 0);  // issued behind the fault: it had no effect

    bench.reset();
    for (const Engine engine : {Engine::pe, Engine::vector}) EXPECT_EQ(bench.status(engine), 0U);
    EXPECT_EQ(bench.semaphore(done), 0);
    EXPECT_EQ(bench.register_value(registers::interrupt, 4), 0U);
    bench.write_inputs();
    second_start = run_good();
    bench.wait_for_interrupt_bits(1U << unsigned(Engine::vector) | 1U << unsigned(Engine::pe));
    EXPECT_THAT(times_since(bench, second_start), testing::ElementsAreArray(first_times));
    // 16 partitions of 1 x n.
    std::vector<float> expected(k);
    for (unsigned n = 0; n < k; ++n) expected[n] = static_cast<float>(k * n);
    for (unsigned p = 0; p < k; ++p) EXPECT_EQ(bench.read_floats(Space::sbuf, p, result_at, k), expected);
    bench.simulation.finish();
  };
  bench.run();
  EXPECT_EQ(first_times.size(), 6U);  // a matmul and a copy
}

TEST(Reset, WhatIsInFlightHasNoEffect) {
  ResetBench bench;
  // 512 columns and the latency take 612 cycles of 1.12 GHz, 546,428 ps.
  bench.program(Engine::vector, {updating(memset(sbuf_tile(0, result_at, 512), k, 7.0F), done), control(Opcode::halt)});
  bench.before = [&] {
    bench.write_inputs();
    const std::uint64_t start = now_ps();
    bench.start_at(Engine::vector, 0, 2);
    sc_core::wait(tilevp::from_ps(200'000));
    EXPECT_EQ(bench.status(Engine::vector), 1U);
    bench.set_register(registers::reset, 4, 1);
    EXPECT_EQ(bench.register_value(registers::reset, 4), 1U);
    while (bench.register_value(registers::reset, 4) != 0) sc_core::wait(tilevp::from_ps(10'000));
    EXPECT_GE(now_ps() - start, 546'428U);
    EXPECT_EQ(bench.semaphore(done), 0);
    EXPECT_EQ(bench.read_floats(Space::sbuf, 3, result_at, k), std::vector<float>(k, -1.0F));
    EXPECT_EQ(bench.register_value(registers::interrupt, 4), 0U);  // a stream that was stopped has not halted
    bench.simulation.finish();
  };
  bench.run();
}

// The PE array forgets its stationary tile, and PSUM which cells a matmul wrote.
TEST(Reset, ForgetsTheStationaryTileAndTheAccumulation) {
  ResetBench bench;
  bench.program(Engine::pe,
                {product(matmul_start | matmul_stop), control(Opcode::halt),
                 product(matmul_start | matmul_stop | matmul_reuse), product(matmul_accumulate | matmul_stop)});
  bench.before = [&] {
    bench.write_inputs();
    bench.set_register(registers::fault_control, 4, 1);
    for (const std::uint64_t bad : {2U, 3U}) {
      bench.start_at(Engine::pe, 0, 2);
      bench.wait_for_interrupt_bits(1U << unsigned(Engine::pe));
      bench.reset();
      bench.start_at(Engine::pe, bad, 2);
      bench.wait_for_interrupt_bits(fault_bit(Engine::pe));
      EXPECT_EQ(bench.register_value(reg(Engine::pe, registers::fault_index), 4), 0U) << bad;
      bench.reset();
    }
    bench.simulation.finish();
  };
  bench.run();
}

TEST(Reset, AnEngineThatFaultedStartsOnlyAfterIt) {
  ResetBench bench;
  bench.program(Engine::pe, {product(matmul_start | matmul_stop | matmul_reuse), control(Opcode::halt)});
  bench.before = [&] {
    bench.write_inputs();
    bench.set_register(registers::fault_control, 4, 1);
    bench.start_at(Engine::pe, 0, 2);
    bench.wait_for_interrupt_bits(fault_bit(Engine::pe));
    bench.start_at(Engine::pe, 0, 2);
  };
  try {
    bench.run();
    FAIL() << "it started";
  } catch (const Fault& fault) {
    EXPECT_THAT(fault.what(), testing::HasSubstr("before the core's reset was complete"));
  }
}

}  // namespace
