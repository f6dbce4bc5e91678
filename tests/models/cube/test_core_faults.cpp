// Each class of fault: what it leaves behind, and that a repaired program ends like one that never faulted.
#include "fault_bench.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::cube::test {
namespace {

TEST_F(CubeFaults, IllegalInstructionIsRewritten) {
  put_operands(bench, words);
  const std::uint64_t at = words.size();
  words.words({product[0], 0x18002023, product[2], product[3]});  // PreQuant 6 is reserved
  fault_and_repair(
      words, {FaultCode::illegal_instruction, 0, at + 4}, [&] { patch(at + 4, product[1]); },
      registers::Restart::resume);
}

TEST_F(CubeFaults, ReservedTypeFaultsBeforeABundleIsOpen) {
  put_operands(bench, words);
  const std::uint64_t at = words.size();
  words.words({product[0] | 0x78000000, product[1], product[2], product[3]});  // DataType 15
  fault_and_repair(
      words, {FaultCode::illegal_instruction, 0, at},
      [&] {
        EXPECT_EQ(bench.get(registers::bundle_pc, 8), 0u);
        patch(at, product[0]);
      },
      registers::Restart::resume);
}

TEST_F(CubeFaults, HeaderCommandIsRewritten) {
  put_operands(bench, words);
  const std::uint64_t at = words.size();
  words.words({product[0], product[1], product[1], product[2], product[3]});  // a second B.FPATR
  fault_and_repair(
      words, {FaultCode::bundle_control, 0, at + 8},
      [&] {
        EXPECT_EQ(bench.get(registers::bundle_pc, 8), program_address + at);
        patch(at + 8, 0x00101043);  // B.DIM LB1 = 1 in its place
      },
      registers::Restart::resume);
}

TEST_F(CubeFaults, MissingFpatrIsPutIntoTheProgram) {
  put_operands(bench, words);
  const std::uint64_t at = words.size();
  words.words({product[0], 0x00101043, product[2], product[3]});  // B.DIM LB1 = 1 where B.FPATR should be
  fault_and_repair(
      words, {FaultCode::bundle_control, 2, at + 12},
      [&] {
        patch(at + 4, product[1]);
        bench.set(registers::pc, 8, program_address + at);
      },
      registers::Restart::discard_header);
}

TEST_F(CubeFaults, OperandOutsideABundle) {
  put_operands(bench, words);
  const std::uint64_t at = words.size();
  words.word(product[2]);
  put_product(words);
  fault_and_repair(
      words, {FaultCode::bundle_control, 0, at}, [&] { bench.set(registers::pc, 8, program_address + at + 4); },
      registers::Restart::resume);
}

TEST_F(CubeFaults, IllegalTileIsFoundAtTheClose) {
  put_operands(bench, words);
  const std::uint64_t at = words.size();
  words.words({product[0], product[1], 0x00200043, product[2], product[3]});  // LB0 = 2: TGEMV has M = 1
  fault_and_repair(
      words, {FaultCode::tile_legality, 5, at + 16},
      [&] {
        patch(at + 8, 0x00100043);
        bench.set(registers::pc, 8, bench.get(registers::bundle_pc, 8));
      },
      registers::Restart::discard_header);
}

// The 17th live tile of a hand, with absolute selectors.
TEST(CubeFaultsAbsolute, FullHandGoesOnWhenATileIsReleased) {
  BenchOptions options;
  options.parameters.tile_selectors = TileSelectors::absolute;
  CubeBench bench(options);
  Words words;
  put_operands(bench, words);
  for (int i = 0; i < 16; ++i) put_product(words);
  const std::uint64_t last = words.size();
  put_product(words);
  bench.program(words);
  bench.host = [&] {
    bench.set(registers::fault_control, 4, 1);
    bench.start();
    ASSERT_EQ(bench.await_interrupt(), faulted_bit);
    EXPECT_EQ(bench.get(registers::fault_code), static_cast<std::uint64_t>(FaultCode::tile_allocation));
    EXPECT_EQ(bench.get(registers::fault_step), 12u);
    EXPECT_EQ(bench.get(registers::pc, 8), program_address + last + 12);
    EXPECT_EQ(bench.get(registers::counter_bundles, 8), 18u);
    bench.set(registers::release_tile, 4, m1 + 5);
    EXPECT_EQ(bench.get(registers::tile_info(m1 + 5) + registers::tile_capacity), 0u);
    bench.set(registers::restart, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), halted_bit);
    EXPECT_EQ(bench.tile(m1 + 5, 3, 4), six);
  };
  bench.run();
}

TEST_F(CubeFaults, PostCommitStopsAfterTheBundle) {
  put_operands(bench, words);
  words.words({product[0], 0x00080023, product[1], product[2], product[3]});  // B.CATR.trap
  const std::uint64_t after = words.size();
  words.command(Scalar{.op = ScalarOp::addi, .destination = 4, .immediate = 7});
  bench.program(words);
  bench.host = [&] {
    bench.set(registers::fault_control, 4, 1);
    bench.start();
    ASSERT_EQ(bench.await_interrupt(), faulted_bit);
    EXPECT_EQ(bench.get(registers::fault_code), static_cast<std::uint64_t>(FaultCode::bundle_post_commit));
    EXPECT_EQ(bench.get(registers::pc, 8), program_address + after);
    EXPECT_EQ(bench.get(registers::bundle_pc, 8), 0u);
    EXPECT_EQ(bench.tile(m1, 0, 4), six);
    bench.set(registers::restart, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), halted_bit);
    EXPECT_EQ(bench.get(registers::gpr(4), 8), 7u);
  };
  bench.run();
}

// ---- Fetch.

TEST_F(CubeFaults, OddPc) {
  put_operands(bench, words);
  put_product(words);
  bench.program(words);
  bench.host = [&] {
    bench.set(registers::fault_control, 4, 1);
    bench.set(registers::start_pc, 8, program_address + 1);
    bench.set(registers::program_end, 8, program_address + words.size());
    bench.set(registers::start, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), faulted_bit);
    EXPECT_EQ(bench.get(registers::fault_code), static_cast<std::uint64_t>(FaultCode::instruction_pc));
    bench.set(registers::pc, 8, program_address);
    bench.set(registers::restart, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), halted_bit);
    EXPECT_EQ(bench.tile(m1, 1, 4), six);
  };
  bench.run();
}

TEST_F(CubeFaults, InstructionThatMemoryDoesNotHold) {
  put_operands(bench, words);
  put_product(words);
  bench.program(words);
  bench.host = [&] {
    bench.set(registers::fault_control, 4, 1);
    bench.set(registers::start_pc, 8, unmapped);
    bench.set(registers::program_end, 8, unmapped + 64);
    bench.set(registers::start, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), faulted_bit);
    EXPECT_EQ(bench.get(registers::fault_code), static_cast<std::uint64_t>(FaultCode::instruction_page));
    EXPECT_EQ(bench.get(registers::fault_pc, 8), unmapped);
    bench.set(registers::pc, 8, program_address);
    bench.set(registers::program_end, 8, program_address + words.size());
    bench.set(registers::restart, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), halted_bit);
    EXPECT_EQ(bench.tile(m1, 1, 4), six);
  };
  bench.run();
}

TEST_F(CubeFaults, InstructionCutOffByTheProgramsEnd) {
  put_operands(bench, words);
  put_product(words);
  const std::uint64_t at = words.size();
  words.half(0x2023);  // half of a B.FPATR
  fault_and_repair(
      words, {FaultCode::instruction_page, 0, at, false},
      [&] { bench.set(registers::program_end, 8, program_address + at); }, registers::Restart::resume);
}

// ---- Faults that end the run.

std::string fault_text(CubeBench& bench, const Words& words, std::string_view rule) {
  bench.program(words);
  try {
    bench.run();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), rule);
    return fault.what();
  }
  return "no fault";
}

TEST_F(CubeFaults, WithoutFaultControlTheRunEndsWithPlaceAndText) {
  put_operands(bench, words);
  words.words({product[0], 0x00101043, product[2], product[3]});
  const std::string text = fault_text(bench, words, "cube.2.no_fpatr");
  EXPECT_NE(text.find("cube0.sequencer at 0x10005c BSTOP"), std::string::npos) << text;
  EXPECT_NE(text.find("[BundleControl, step 2]"), std::string::npos) << text;
}

TEST_F(CubeFaults, ALateFaultEndsTheRunToo) {
  words.load(unmapped, nd2m16, DataType::fp16, 1, 1, 1, Hand::t);
  const std::string text = fault_text(bench, words, "cube.transfer.4.memory");
  EXPECT_NE(text.find("0x40000000"), std::string::npos) << text;
  EXPECT_NE(text.find("[DataPage, step 4]"), std::string::npos) << text;
}

TEST_F(CubeFaults, AnOlderBundlesLateFaultGoesBeforeAYoungerOne) {
  words.load(unmapped, nd2m16, DataType::fp16, 1, 1, 1, Hand::t);
  words.word(0x18002023);  // no instruction, looked at long before memory answers
  fault_text(bench, words, "cube.transfer.4.memory");
}

TEST_F(CubeFaults, StartedWhileItRuns) {
  put_operands(bench, words);
  bench.host = [&] {
    bench.start();
    bench.start();
  };
  fault_text(bench, words, "cube.start.status");
}

TEST_F(CubeFaults, StartedBeforeItsResetIsComplete) {
  put_operands(bench, words);
  bench.host = [&] {
    bench.start();
    sc_core::wait(sc_core::sc_time(20, sc_core::SC_NS));
    bench.set(registers::reset, 4, 1);
    bench.start();
  };
  fault_text(bench, words, "cube.start.status");
}

TEST_F(CubeFaults, ABundleThatTheProgramDoesNotCloseNeverEnds) {
  put_operands(bench, words);
  words.words({product[0], product[1]});
  bench.program(words);
  try {
    bench.run();
    FAIL() << "the run ended";
  } catch (const NoEnd& end) {
    ASSERT_EQ(end.waiting().size(), 1u);
    EXPECT_EQ(end.waiting()[0].who, "cube0.sequencer");
    EXPECT_EQ(end.waiting()[0].what, "TGEMV bundle of 0x100050 to be closed");
  }
}

}  // namespace
}  // namespace tilevp::cube::test
