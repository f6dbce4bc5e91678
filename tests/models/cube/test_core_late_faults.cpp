// Faults that memory finds when younger bundles have gone past.
#include "fault_bench.hpp"

namespace tilevp::cube::test {
namespace {

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

}  // namespace
}  // namespace tilevp::cube::test
