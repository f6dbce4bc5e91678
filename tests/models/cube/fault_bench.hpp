#pragma once
// Runs a program into a fault, repairs the cause, and restarts.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "cube_bench.hpp"

namespace tilevp::cube::test {

inline constexpr std::uint64_t a_at = data_address;
inline constexpr std::uint64_t b_at = data_address + 0x1000;
inline constexpr std::uint64_t unmapped = 0x4000'0000;
inline constexpr unsigned t1 = 0, u1 = 16, m1 = 32;
inline constexpr std::uint64_t faulted_bit = 1U << registers::interrupt_faulted;
inline constexpr std::uint64_t halted_bit = 1U << registers::interrupt_halted;

inline const Bytes six = bytes_of(std::vector<float>{6.0F});

// 2.0 in T#1, 3.0 in U#1.
inline void put_operands(CubeBench& bench, Words& words) {
  bench.data(a_at, bytes_of(std::vector<std::uint16_t>{0x4000}));
  bench.data(b_at, bytes_of(std::vector<std::uint16_t>{0x4200}));
  words.load(a_at, nd2m16, DataType::fp16, 1, 1, 1, Hand::t).load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::u);
}

inline constexpr std::array<std::uint32_t, 4> product{0x21031181, 0x00002023, 0x4008cf13, 0x00000001};  // D in M#1

inline void put_product(Words& words) {
  for (const std::uint32_t word : product) words.word(word);
}

struct Expected {
  FaultCode code;
  std::uint64_t step;
  std::uint64_t pc;                // from the program's start
  bool before_the_product = true;  // nothing is published in M#1 yet
};

class CubeFaults : public ::testing::Test {
 protected:
  // Starts, sees the fault, repairs, restarts, and finds 6.0 in M#1.
  void fault_and_repair(const Words& program, const Expected& expected, const std::function<void()>& repair,
                        registers::Restart how) {
    bench.program(program);
    bench.host = [&, this] {
      bench.set(registers::fault_control, 4, 1);
      bench.start();
      ASSERT_EQ(bench.await_interrupt(), faulted_bit);
      EXPECT_EQ(bench.get(registers::status), static_cast<std::uint64_t>(registers::Status::faulted));
      EXPECT_EQ(bench.get(registers::fault_code), static_cast<std::uint64_t>(expected.code));
      EXPECT_EQ(bench.get(registers::fault_step), expected.step);
      EXPECT_EQ(bench.get(registers::fault_pc, 8), program_address + expected.pc);
      EXPECT_EQ(bench.get(registers::pc, 8), program_address + expected.pc);
      EXPECT_EQ(bench.get(registers::tile_info(m1) + registers::tile_capacity) == 0, expected.before_the_product);
      EXPECT_EQ(bench.get(registers::flags), 0u);
      repair();
      bench.set(registers::restart, 4, static_cast<std::uint64_t>(how));
      ASSERT_EQ(bench.await_interrupt(), halted_bit);
      EXPECT_EQ(bench.tile(m1, 0, 4), six);
      EXPECT_EQ(bench.get(registers::counter_faults, 8), 1u);
    };
    bench.run();
  }
  void patch(std::uint64_t offset, std::uint32_t word) {
    bench.write(program_address + offset, bytes_of(std::vector<std::uint32_t>{word}));
  }

  CubeBench bench;
  Words words;
};

}  // namespace tilevp::cube::test
