// Times of a whole core: what waits for what, and what runs beside what. At 1 GHz a cycle is 1000 ps.
#include <gtest/gtest.h>

#include "cube_bench.hpp"
#include "support/in_child.hpp"

namespace tilevp::cube::test {
namespace {

using tilevp::test::in_child;

constexpr std::uint64_t cycle_ps = 1000;
constexpr unsigned t1 = 0, u1 = 16;

BenchOptions at_1_ghz() {
  BenchOptions options;
  options.parameters.clock_hz = 1'000'000'000;
  return options;
}

// Dense FP16 zeros for every tile.
void put_data(CubeBench& bench) { bench.data(data_address, Bytes(65'536)); }

void gemv(Words& words, unsigned n, unsigned k, Hand hand, unsigned pe_mode = 7) {
  words.command(BStart{Operation::tgemv, DataType::fp16}).command(BFpatr{});
  words.command(BDim{.dimension = 1, .immediate = n}).command(BDim{.dimension = 2, .immediate = k});
  words.command(BIot{.sources = 2,
                     .source = {t1, u1},
                     .last = true,
                     .size_code = 7,
                     .destination = hand,
                     .pe_mode = static_cast<std::uint8_t>(pe_mode)});
  words.command(BStop{});
}

void operands(Words& words, unsigned n, unsigned k, unsigned pe_mode = 7) {
  words.load(data_address, nd2m16, DataType::fp16, 1, k, 6, Hand::t, pe_mode);
  words.load(data_address, nd2n8, DataType::fp16, k, n, 9, Hand::u, pe_mode);
}

TEST(CubeTiming, ABundleAloneStepByStep) {
  BenchOptions options = at_1_ghz();
  options.memory.latency_ns = 100;
  CubeBench bench(options);
  put_data(bench);
  Words words;
  operands(words, 1, 1);
  gemv(words, 1, 1, Hand::m);
  bench.program(words);
  bench.run();
  ASSERT_EQ(bench.records.size(), 3u);
  const BundleRecord& load = bench.records[1];
  const BundleRecord& is = bench.records[2];
  EXPECT_EQ(is.ready_ps, (bench.cycle(load.commit_ps) + 2) * cycle_ps);  // its source, then its preflight
  EXPECT_EQ(is.begin_ps, is.ready_ps);
  EXPECT_EQ(is.end_ps, is.begin_ps + 7 * cycle_ps);      // 6 from idle, one step
  EXPECT_EQ(is.commit_ps, is.begin_ps + 17 * cycle_ps);  // MatrixTiming.OneByOneBundleFromIdle
  EXPECT_EQ(bench.statistic("sequencer", "stalled_source_ps"), load.commit_ps - is.requested_ps);
  EXPECT_EQ(bench.statistic("matrix2", "busy_cycles"), 7u);
}

TEST(CubeTiming, HeadersTakeACycleAnInstruction) {
  CubeBench bench(at_1_ghz());
  put_data(bench);
  Words words;
  operands(words, 1, 1);
  for (int i = 0; i < 2; ++i) gemv(words, 1, 1, Hand::m);
  bench.program(words);
  bench.run();
  // Six instructions and two cycles of preflight after the one before.
  EXPECT_EQ(bench.records[3].ready_ps - bench.records[2].ready_ps, 8 * cycle_ps);
  EXPECT_EQ(bench.statistic("sequencer", "instructions"), words.instructions());
}

TEST(CubeTiming, LoadsRunBesideTheMatrixUnit) {
  CubeBench bench(at_1_ghz());
  put_data(bench);
  Words words;
  constexpr unsigned pe0 = 1;
  operands(words, 128, 128, pe0);
  gemv(words, 128, 128, Hand::m, pe0);
  words.load(data_address, nd2n8, DataType::fp16, 128, 128, 9, Hand::n, pe0);
  bench.program(words);
  bench.run();
  const BundleRecord& matrix = bench.records[2];
  const BundleRecord& load = bench.records[3];
  EXPECT_LT(load.begin_ps, matrix.end_ps);
  EXPECT_GE(load.commit_ps, matrix.commit_ps);
}

TEST(CubeTiming, BundlesCommitInProgramOrder) {
  BenchOptions options = at_1_ghz();
  options.memory.latency_ns = 5000;
  CubeBench bench(options);
  put_data(bench);
  Words words;
  operands(words, 1, 1);
  gemv(words, 1, 1, Hand::m);
  words.load(data_address, nd2n8, DataType::fp16, 8, 8, 1, Hand::n);
  gemv(words, 1, 1, Hand::m);
  bench.program(words);
  bench.run();
  const BundleRecord& load = bench.records[3];
  const BundleRecord& matrix = bench.records[4];
  EXPECT_EQ(matrix.operation, Operation::tgemv);
  EXPECT_LT(matrix.end_ps, load.commit_ps);
  EXPECT_EQ(matrix.commit_ps, load.commit_ps);
}

TEST(CubeTiming, TheWindowHoldsTheSequencer) {
  BenchOptions options = at_1_ghz();
  options.parameters.sequencer.issue_depth = 1;
  CubeBench bench(options);
  put_data(bench);
  Words words;
  operands(words, 1, 1);
  for (int i = 0; i < 3; ++i) gemv(words, 1, 1, Hand::m);
  bench.program(words);
  bench.run();
  for (unsigned i = 3; i < 5; ++i)
    EXPECT_EQ(bench.records[i].ready_ps, bench.records[i - 1].commit_ps + 2 * cycle_ps) << i;
  EXPECT_GT(bench.statistic("sequencer", "stalled_window_cycles"), 0u);
}

TEST(CubeTiming, OnlyTheUnitsOfTheMaskWork) {
  CubeBench bench(at_1_ghz());
  put_data(bench);
  Words words;
  operands(words, 16, 16);
  gemv(words, 16, 16, Hand::m, 2);  // PE1
  gemv(words, 16, 16, Hand::m, 3);  // PE2: beside it
  bench.program(words);
  bench.run();
  EXPECT_EQ(bench.statistic("matrix0", "instructions"), 0u);
  EXPECT_EQ(bench.statistic("matrix1", "instructions"), 1u);
  EXPECT_EQ(bench.records[3].begin_ps, bench.records[3].ready_ps);
}

TEST(CubeTiming, OneUnitForAllPesTakesFourTimesAsLong) {
  BenchOptions options = at_1_ghz();
  options.parameters.matrix_unit.unit_per_pe = false;
  options.parameters.matrix_unit.tile_read_bytes_per_cycle = 1 << 20;
  CubeBench bench(options);
  put_data(bench);
  Words words;
  operands(words, 128, 128);
  gemv(words, 128, 128, Hand::m);
  bench.program(words);
  bench.run();
  EXPECT_EQ(bench.records[2].end_ps - bench.records[2].begin_ps, (6 + 4 * 64) * cycle_ps);
}

TEST(CubeTiming, RowsOfATileAreRunsOfMemory) {
  CubeBench bench(at_1_ghz());
  put_data(bench);
  Words words;
  words.command(Scalar{.op = ScalarOp::hl_liu, .destination = 2, .immediate = data_address})
      .command(Scalar{.op = ScalarOp::hl_liu, .destination = 3, .immediate = 1024});
  words.command(BStart{Operation::tload, DataType::fp16}).command(BDatr{.layout = nd2n8});
  words.command(BDim{.dimension = 0, .immediate = 8}).command(BDim{.dimension = 1, .immediate = 32});
  words.command(BIor{.source = {2, 3, 0}});
  words.command(BIot{.last = true, .size_code = 3, .destination = Hand::u, .pe_mode = 7}).command(BStop{});
  bench.program(words);
  bench.run();
  EXPECT_EQ(bench.statistic("transfer", "runs"), 32u);
  EXPECT_EQ(bench.statistic("transfer", "bytes"), 512u);
  EXPECT_EQ(bench.statistic("transfer", "busy_cycles"), 32u);  // a run of 16 bytes takes a cycle, as one of 128 does
}

std::vector<std::uint64_t> times_of(const BenchOptions& options) {
  CubeBench bench(options);
  put_data(bench);
  Words words;
  operands(words, 16, 16);
  gemv(words, 16, 16, Hand::m);
  bench.program(words);
  bench.run();
  const BundleRecord& load = bench.records[0];
  const BundleRecord& matrix = bench.records[2];
  return {load.commit_ps - load.ready_ps, matrix.commit_ps - matrix.ready_ps, matrix.end_ps - matrix.begin_ps};
}

TEST(CubeTiming, HalfTheClockDoublesWhatCountsInCycles) {
  const auto fast = in_child([] { return times_of(at_1_ghz()); });
  const auto slow = in_child([] {
    BenchOptions options = at_1_ghz();
    options.parameters.clock_hz = 500'000'000;
    return times_of(options);
  });
  EXPECT_EQ(slow[1], 2 * fast[1]);
  EXPECT_EQ(slow[2], 2 * fast[2]);
}

TEST(CubeTiming, MemoryLatencyAddsToALoadOnce) {
  const auto with_latency = [](double ns) {
    return in_child([ns] {
      BenchOptions options = at_1_ghz();
      options.memory.latency_ns = ns;
      return times_of(options);
    });
  };
  const auto low = with_latency(100);
  const auto high = with_latency(200);
  EXPECT_EQ(high[0], low[0] + 100'000);
  EXPECT_EQ(high[1], low[1]);
}

}  // namespace
}  // namespace tilevp::cube::test
