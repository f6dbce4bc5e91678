// Each class of fault: what it leaves behind, and that a repaired program ends like one that never faulted.
#include <gtest/gtest.h>

#include <cstring>

#include "cube_bench.hpp"
#include "tilevp/base/errors.hpp"

namespace tilevp::cube::test {
namespace {

constexpr std::uint64_t a_at = data_address;
constexpr std::uint64_t b_at = data_address + 0x1000;
constexpr std::uint64_t unmapped = 0x4000'0000;
constexpr unsigned t1 = 0, u1 = 16, m1 = 32;
constexpr std::uint64_t faulted_bit = 1U << registers::interrupt_faulted;
constexpr std::uint64_t halted_bit = 1U << registers::interrupt_halted;

const Bytes six = bytes_of(std::vector<float>{6.0F});

// 2.0 in T#1, 3.0 in U#1.
void put_operands(CubeBench& bench, Words& words) {
  bench.data(a_at, bytes_of(std::vector<std::uint16_t>{0x4000}));
  bench.data(b_at, bytes_of(std::vector<std::uint16_t>{0x4200}));
  words.load(a_at, nd2m16, DataType::fp16, 1, 1, 1, Hand::t).load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::u);
}

constexpr std::array<std::uint32_t, 4> product{0x21031181, 0x00002023, 0x4008cf13, 0x00000001};  // D in M#1

void put_product(Words& words) {
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

// ---- Found late: memory refuses a transfer that younger bundles have gone past.

TEST_F(CubeFaults, RefusedLoadTakesEverythingBack) {
  bench.data(b_at, bytes_of(std::vector<std::uint16_t>{0x4200}));
  bench.data(a_at, bytes_of(std::vector<std::uint16_t>{0x4000}));
  words.load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::u);
  words.load(unmapped, nd2m16, DataType::fp16, 1, 1, 1, Hand::t);
  const std::uint64_t closer = words.size() - 4;
  // Past it: a register it used, a load, and a bundle that waits for it.
  words.command(Scalar{.op = ScalarOp::addi, .destination = 2, .left = 2, .immediate = 1});
  words.load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::n);
  put_product(words);
  fault_and_repair(
      words, {FaultCode::data_page, 4, closer},
      [&] {
        EXPECT_EQ(bench.get(registers::gpr(2), 8), unmapped);
        EXPECT_EQ(bench.get(registers::tile_info(t1) + registers::tile_capacity), 0u);
        EXPECT_EQ(bench.get(registers::tile_info(48) + registers::tile_capacity), 0u);
        EXPECT_EQ(bench.get(registers::counter_bundles, 8), 1u);
        bench.set(registers::gpr(2), 8, a_at);
      },
      registers::Restart::resume);
}

// With absolute selectors a register that was not given back would be missed at once.
TEST(CubeFaultsAbsolute, RefusedLoadGivesItsRegistersBack) {
  BenchOptions options;
  options.parameters.tile_selectors = TileSelectors::absolute;
  CubeBench bench(options);
  bench.data(a_at, bytes_of(std::vector<std::uint16_t>{0x4000}));
  bench.data(b_at, bytes_of(std::vector<std::uint16_t>{0x4200}));
  Words words;
  words.load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::u);
  words.load(unmapped, nd2m16, DataType::fp16, 1, 1, 1, Hand::t);
  words.load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::n);
  put_product(words);
  bench.program(words);
  bench.host = [&] {
    bench.set(registers::fault_control, 4, 1);
    bench.start();
    ASSERT_EQ(bench.await_interrupt(), faulted_bit);
    bench.set(registers::gpr(2), 8, a_at);
    bench.set(registers::restart, 4, 1);
    ASSERT_EQ(bench.await_interrupt(), halted_bit);
    EXPECT_NE(bench.get(registers::tile_info(t1) + registers::tile_capacity), 0u);
    EXPECT_EQ(bench.get(registers::tile_info(t1 + 1) + registers::tile_capacity), 0u);
    EXPECT_EQ(bench.tile(m1, 0, 4), six);
  };
  bench.run();
}

// A fault of memory is known while an older bundle is still at work; what comes after it must not happen meanwhile.
class CubeLateFaults : public CubeFaults {
 protected:
  static constexpr std::uint64_t out = a_at + 0x10'000;
  static constexpr unsigned pe0 = 1;

  void SetUp() override {
    bench.data(a_at, Bytes(0x8000));
    bench.data(out, Bytes(512, std::byte{0x55}));
    words.load(a_at, nd2m16, DataType::fp16, 1, 128, 6, Hand::t, pe0);
    words.load(a_at, nd2n8, DataType::fp16, 128, 128, 9, Hand::u, pe0);
    words.command(BStart{Operation::tgemv, DataType::fp16}).command(BFpatr{});
    words.command(BDim{.dimension = 1, .immediate = 128}).command(BDim{.dimension = 2, .immediate = 128});
    words.command(
        BIot{.sources = 2, .source = {t1, u1}, .last = true, .size_code = 7, .destination = Hand::m, .pe_mode = pe0});
    words.command(BStop{});
  }
  // Zeros from T#1 behind the fault.
  void run_with_a_store_behind(const std::function<void()>& repair, const Bytes& expected) {
    words.store(out, m162nd, DataType::fp16, 1, 128, t1, pe0);
    bench.program(words);
    bench.host = [&] {
      bench.set(registers::fault_control, 4, 1);
      bench.start();
      ASSERT_EQ(bench.await_interrupt(), faulted_bit);
      EXPECT_EQ(bench.get(registers::counter_bundles, 8), 3u);  // the product has committed
      EXPECT_EQ(bench.read(out, 512), Bytes(512, std::byte{0x55}));
      repair();
      bench.set(registers::restart, 4, 1);
      ASSERT_EQ(bench.await_interrupt(), halted_bit);
      EXPECT_EQ(bench.read(out, 512), expected);
    };
    bench.run();
  }
};

TEST_F(CubeLateFaults, StoresBehindARefusedOneAreNotDone) {
  words.store(unmapped, m162nd, DataType::fp16, 1, 128, t1, pe0);
  run_with_a_store_behind([&] { bench.set(registers::gpr(2), 8, out + 256); }, Bytes(512));
}

TEST_F(CubeLateFaults, StoresBehindALoadOfUnwrittenBytesAreNotDone) {
  words.load(out + 0x1000, nd2n8, DataType::fp16, 1, 1, 1, Hand::n, pe0);
  Bytes expected(256);
  expected.resize(512, std::byte{0x55});
  run_with_a_store_behind([&] { bench.write(out + 0x1000, Bytes(2)); }, expected);
}

TEST_F(CubeFaults, BytesThatNobodyWroteAreADataPage) {
  bench.data(b_at, bytes_of(std::vector<std::uint16_t>{0x4200}));
  words.load(b_at, nd2n8, DataType::fp16, 1, 1, 1, Hand::u).load(a_at, nd2m16, DataType::fp16, 1, 1, 1, Hand::t);
  const std::uint64_t closer = words.size() - 4;
  put_product(words);
  fault_and_repair(
      words, {FaultCode::data_page, 4, closer},
      [&] { bench.write(a_at, bytes_of(std::vector<std::uint16_t>{0x4000})); }, registers::Restart::resume);
}

TEST_F(CubeFaults, RefusedStoreWritesNothingAndLaterStoresDoNotRun) {
  put_operands(bench, words);
  words.store(unmapped, m162nd, DataType::fp16, 1, 1, t1);
  const std::uint64_t closer = words.size() - 4;
  words.store(a_at + 0x100, m162nd, DataType::fp16, 1, 1, t1);
  put_product(words);
  bench.data(a_at + 0x100, Bytes(2));
  fault_and_repair(
      words, {FaultCode::data_page, 4, closer},
      [&] {
        EXPECT_EQ(bench.read(a_at + 0x100, 2), Bytes(2));
        bench.set(registers::gpr(2), 8, a_at + 0x80);
      },
      registers::Restart::resume);
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
