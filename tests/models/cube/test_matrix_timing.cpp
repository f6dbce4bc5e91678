// The times of matrix bundles against arithmetic by hand.
#include <gtest/gtest.h>

#include "tilevp/cube/matrix_timing.hpp"

namespace tilevp::cube {
namespace {

MatrixOperation gemv(unsigned n, unsigned k, DataType type = DataType::fp16) {
  MatrixOperation is;
  is.n = n;
  is.k = k;
  is.a_type = is.b_type = type;
  return is;
}

MatrixUnitParameters wide_reads() {
  MatrixUnitParameters parameters;
  parameters.tile_read_bytes_per_cycle = 1 << 20;
  return parameters;
}

// hw-native-sys/pto-isa's formula: ceil(M/16) ceil(K/16) ceil(N/16) steps; 4 cycles to fill.
TEST(MatrixTiming, A128By128GemvTakes64StepsAnd68Cycles) {
  const MatrixWork work = work_of(gemv(128, 128), wide_reads());
  EXPECT_EQ(work.steps, 64u);
  EXPECT_EQ(work.array_cycles, 64u);
  const MatrixTimes times = MatrixPipeline(wide_reads()).schedule(0, work);
  EXPECT_EQ(times.sums_end - 6, 68u);  // 6 cycles from idle
}

TEST(MatrixTiming, K9N10IsOneStepAnd5Cycles) {
  const MatrixWork work = work_of(gemv(10, 9), {});
  EXPECT_EQ(work.steps, 1u);
  EXPECT_EQ(work.read_cycles, 4u);  // 3 cells of A, 2 x 2 of B: 896 bytes at 256
  EXPECT_EQ(MatrixPipeline({}).schedule(0, work).sums_end - 6, 5u);
}

TEST(MatrixTiming, MIsRoundedUpToWholeSteps) {
  MatrixOperation is = gemv(16, 16);
  const MatrixWork one = work_of(is, {});
  for (const unsigned m : {2u, 15u, 16u}) {
    is.m = m;
    EXPECT_EQ(work_of(is, {}).array_cycles, one.array_cycles) << m;
  }
  is.m = 17;
  is.m_layout = Layout::cube_m32;
  EXPECT_EQ(work_of(is, {}).steps, 2u);
}

TEST(MatrixTiming, StepsDependOnTheWiderOperand) {
  EXPECT_EQ(work_of(gemv(16, 128, DataType::fp32), {}).steps, 16u);         // 8 of K a step
  EXPECT_EQ(work_of(gemv(16, 128, DataType::fp32), {}).array_cycles, 32u);  // 2 cycles each
  EXPECT_EQ(work_of(gemv(16, 128, DataType::s8), {}).steps, 4u);            // 32
  EXPECT_EQ(work_of(gemv(16, 128, DataType::u4x2), {}).steps, 2u);          // 64
  MatrixOperation mixed = gemv(16, 128, DataType::s8);
  mixed.b_type = DataType::s16;
  EXPECT_EQ(work_of(mixed, {}).steps, 8u);
}

TEST(MatrixTiming, PaddingIsWhatTheArrayDoesBeyondTheResult) {
  const MatrixWork work = work_of(gemv(10, 9), {});
  EXPECT_EQ(work.useful_macs, 90u);
  EXPECT_EQ(work.row_macs, 16u * 90);
  EXPECT_EQ(work.issued_macs, 4096u);
}

TEST(MatrixTiming, OperandsThatArriveSlowerThanTheStepsHoldTheArray) {
  // A: 32 cells, B: 16 x 16; 36864 bytes at 256 a cycle are 144 cycles, the 64 steps wait 80 of them.
  const MatrixTimes times = MatrixPipeline({}).schedule(100, work_of(gemv(128, 128), {}));
  EXPECT_EQ(times.begin, 100u);
  EXPECT_EQ(times.free, 106u + 144);
  EXPECT_EQ(times.stalled, 80u);
}

TEST(MatrixTiming, AllOperandsAreRead) {
  MatrixOperation is = gemv(16, 4);
  EXPECT_EQ(work_of(is, {}).read_cycles, 2u);  // A 128, B 256: 384 bytes
  is.c = 3;                                    // 8 cells
  is.bias = 4;                                 // 64
  is.quant_vector = 5;                         // 128
  EXPECT_EQ(work_of(is, {}).read_cycles, 7u);  // 384 + 1024 + 64 + 128 = 1600
}

TEST(MatrixTiming, OneByOneBundleFromIdle) {
  // 6 from idle, 1 step, 4 to fill; the 16 outputs of the padded column in 1 cycle, 4 of latency, 1 to write 128 bytes.
  const MatrixTimes times = MatrixPipeline({}).schedule(10, work_of(gemv(1, 1), {}));
  EXPECT_EQ(times.begin, 10u);
  EXPECT_EQ(times.free, 17u);
  EXPECT_EQ(times.sums_end, 21u);
  EXPECT_EQ(times.end, 27u);
}

TEST(MatrixTiming, BundlesFollowEachOtherThroughTheStages) {
  MatrixPipeline pipeline(wide_reads());
  const MatrixWork work = work_of(gemv(128, 128), wide_reads());
  const MatrixTimes first = pipeline.schedule(0, work);
  EXPECT_EQ(first.free, 70u);
  // Post: 16 x 128 outputs at 16 a cycle are 128 cycles from the first summed tile (6 + 4 + 8); then 4, then the 8192
  // bytes of D at 256 a cycle.
  EXPECT_EQ(first.end, 18u + 128 + 4 + 32);
  const MatrixTimes second = pipeline.schedule(3, work);
  EXPECT_EQ(second.begin, 70u);  // no cost from idle
  EXPECT_EQ(second.free, 134u);
  EXPECT_EQ(second.end, 146u + 128 + 4 + 32);  // post is the slower stage
  const MatrixTimes third = pipeline.schedule(135, work);
  EXPECT_EQ(third.free, 135u + 6 + 64);  // the array had been idle for a cycle
}

TEST(MatrixTiming, FastPostProcessingEndsSoonAfterTheLastTile) {
  MatrixUnitParameters parameters = wide_reads();
  parameters.post_elements_per_cycle = 64;  // a tile of 256 outputs in 4 cycles, its 8 steps in 8
  const MatrixTimes times = MatrixPipeline(parameters).schedule(0, work_of(gemv(128, 128), parameters));
  EXPECT_EQ(times.end, 74u + 4 + 4 + 32);
}

TEST(MatrixTiming, ReductionsCostTheirColumnGroups) {
  MatrixOperation is = gemv(128, 16);
  const std::uint64_t plain = work_of(is, {}).post_cycles;
  is.row_max_out = 7;
  EXPECT_EQ(work_of(is, {}).post_cycles, plain + 8);
  is.group_max_out = 8;
  is.post.group_n_code = 3;  // 32 columns
  EXPECT_EQ(work_of(is, {}).post_cycles, plain + 8 + 4);
}

TEST(MatrixTiming, OneUnitForAllPesDoesTheirWorkInTurns) {
  const MatrixWork four = in_turns(work_of(gemv(128, 128), wide_reads()), 4);
  EXPECT_EQ(MatrixPipeline(wide_reads()).schedule(0, four).free, 6u + 256);
}

}  // namespace
}  // namespace tilevp::cube
