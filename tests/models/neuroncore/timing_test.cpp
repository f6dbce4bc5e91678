// Cycles by hand: what pe_array.hpp, tile_engine.hpp and engine_costs.hpp promise, and the published figures behind it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core_bench.hpp"
#include "tilevp/neuroncore/engine_costs.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
using tilevp::numeric::DType;

constexpr std::uint32_t weights_at = 0;
constexpr std::uint32_t image_at = 4096;

// Ones in all partitions, enough for 128 x 128 weights and 128 x 512 of image in fp32.
void fill_sbuf(CoreBench& bench) {
  const std::vector<float> ones(2048, 1.0F);
  for (unsigned p = 0; p < 128; ++p) bench.write_floats(Space::sbuf, p, 0, ones);
}

// Begins of the engine's data instructions in its cycles, from the first one on.
std::vector<std::uint64_t> begins(const CoreBench& bench, Engine engine) {
  std::vector<std::uint64_t> out;
  for (const auto& record : bench.of(engine)) out.push_back(bench.core.clock(engine).edge_at_or_after(record.begin_ps));
  return out;
}

std::vector<std::uint64_t> intervals(const CoreBench& bench, Engine engine) {
  std::vector<std::uint64_t> out = begins(bench, engine);
  for (std::size_t i = out.size(); i-- > 1;) out[i] -= out[i - 1];
  out.erase(out.begin());
  return out;
}

std::vector<std::uint64_t> matmul_intervals(std::vector<Instruction> stream, Parameters parameters = {}) {
  CoreBench bench({.parameters = parameters});
  bench.before = [&] { fill_sbuf(bench); };
  bench.program(Engine::pe, std::move(stream));
  bench.run();
  return intervals(bench, Engine::pe);
}

std::vector<Instruction> in_four_banks(const Instruction& one) {
  std::vector<Instruction> stream;
  for (unsigned bank = 0; bank < 4; ++bank) {
    stream.push_back(one);
    stream.back().destination.offset = bank * psum_bank_bytes;
  }
  return stream;
}

using Cycles = std::vector<std::uint64_t>;
constexpr unsigned whole_group = matmul_start | matmul_stop;

TEST(MatmulTiming, OneMovingColumnACycle) {
  EXPECT_EQ(matmul_intervals(in_four_banks(matmul(128, 128, 512, weights_at, image_at, 0, whole_group))),
            (Cycles{512, 512, 512}));
}

TEST(MatmulTiming, ShortMovingTilesTakeSixtyFourCycles) {
  EXPECT_EQ(matmul_intervals(in_four_banks(matmul(128, 128, 1, weights_at, image_at, 0, whole_group))),
            (Cycles{64, 64, 64}));
}

TEST(MatmulTiming, NarrowStationaryTilesTakeTheirColumns) {
  EXPECT_EQ(matmul_intervals(in_four_banks(matmul(128, 32, 8, weights_at, image_at, 0, whole_group))),
            (Cycles{32, 32, 32}));
}

TEST(MatmulTiming, Fp32CostsFourPasses) {
  EXPECT_EQ(matmul_intervals(in_four_banks(fp32(matmul(128, 128, 512, weights_at, image_at, 0, whole_group)))),
            (Cycles{2048, 2048, 2048}));
}

// 128 columns at 1 a cycle take longer than a matmul of 64: the load of the next one begins when it issues, one cycle
// after the begin of the one before, so 1 + 128 cycles apart.
TEST(MatmulTiming, ASlowWeightLoadIsExposed) {
  Parameters parameters;
  parameters.pe.weight_load_columns_per_cycle = 1;
  EXPECT_EQ(matmul_intervals(in_four_banks(matmul(128, 128, 64, weights_at, image_at, 0, whole_group)), parameters),
            (Cycles{129, 129, 129}));
}

TEST(MatmulTiming, ReuseLoadsNothing) {
  Parameters parameters;
  parameters.pe.weight_load_columns_per_cycle = 1;
  auto stream = in_four_banks(matmul(128, 128, 64, weights_at, image_at, 0, whole_group));
  for (std::size_t i = 1; i < stream.size(); ++i) stream[i].flags |= matmul_reuse;
  CoreBench bench({.parameters = parameters});
  bench.before = [&] { fill_sbuf(bench); };
  bench.program(Engine::pe, stream);
  bench.run();
  EXPECT_EQ(intervals(bench, Engine::pe), (Cycles{64, 64, 64}));
  EXPECT_EQ(bench.statistic("pe", "weight_loads"), 1U);
  EXPECT_EQ(bench.statistic("pe", "stalled_weight_load_cycles"), 128U);  // the first
}

TEST(MatmulTiming, TheFirstWaitsForItsWeightsAndAllForTheFill) {
  CoreBench bench;
  bench.before = [&] { fill_sbuf(bench); };
  bench.program(Engine::pe, {matmul(128, 128, 512, weights_at, image_at, 0, whole_group)});
  bench.run();
  const auto record = bench.of(Engine::pe).at(0);
  const auto& clock = bench.core.clock(Engine::pe);
  const std::uint64_t requested = clock.edge_at_or_after(record.requested_ps);
  EXPECT_EQ(clock.edge_at_or_after(record.begin_ps), requested + 32);  // 128 / 4
  EXPECT_EQ(clock.edge_at_or_after(record.end_ps), requested + 32 + 512);
  EXPECT_EQ(clock.edge_at_or_after(record.complete_ps), requested + 32 + 512 + 400);
  EXPECT_EQ(record.complete_ps, clock.time_ps(requested + 944));
}

// 256 -> 256 channels, 3x3, on 224x224: two tiles of output and of input channels, 9 taps, 222 rows two at a time (111
// pairs of 444 columns): 2 * 2 * 9 * 111 = 3996 matmuls.
TEST(MatmulTiming, CountersOfTheLargeConvolution) {
  CoreBench bench({.simulation = {.arithmetic = false}});
  bench.before = [&] { fill_sbuf(bench); };
  std::vector<Instruction> stream;
  for (unsigned i = 0; i < 3996; ++i) stream.push_back(matmul(128, 128, 444, weights_at, image_at, i % 8, whole_group));
  bench.program(Engine::pe, stream);
  std::array<std::uint64_t, 4> counted{};
  bench.after = [&] {
    counted = {bench.register_value(registers::counter_matmuls, 8), bench.register_value(registers::counter_macs, 8),
               bench.register_value(registers::counter_pe_cycles, 8),
               bench.register_value(registers::counter_weight_loads, 8)};
  };
  bench.run();
  EXPECT_EQ(counted[0], 3996U);
  EXPECT_EQ(counted[1], 3996ULL * 128 * 128 * 444);
  EXPECT_EQ(counted[2], 1'774'224U);
  EXPECT_EQ(counted[3], 3996U);
  EXPECT_EQ(bench.statistic("pe", "busy_cycles"), 1'774'224U);
  const auto records = bench.of(Engine::pe);
  EXPECT_NEAR(static_cast<double>(records.back().end_ps - records.front().begin_ps) / 1e6, 633.651, 0.001);  // us
}

// 65536 three-element tensor_tensor took 3.84 ms: 58.6 ns each (a published trn1 profile of conv1d).
TEST(VectorTiming, ShortInstructionsAreSixtyFourCyclesApart) {
  CoreBench bench;
  std::vector<Instruction> stream{memset(sbuf_tile(0, 0, 256), 128, 1.0F)};
  for (unsigned i = 0; i < 16; ++i)
    stream.push_back(
        tensor_tensor(sbuf_tile(0, 2048 + 16 * i, 3), sbuf_tile(0, 0, 3), AluOp::multiply, sbuf_tile(0, 512, 3), 128));
  bench.program(Engine::vector, stream);
  bench.run();
  const auto records = bench.of(Engine::vector);
  const double each_ns = static_cast<double>(records[16].begin_ps - records[1].begin_ps) / 15 / 1000;
  EXPECT_NEAR(each_ns, 57.143, 0.001);
  EXPECT_NEAR(each_ns, 58.6, 0.03 * 58.6);
}

// "1-element dependent Scalar ops every 189 ns" (AWS Neuron documentation, NKI performance guide).
TEST(ScalarTiming, DependentInstructionsWaitForTheResult) {
  CoreBench bench;
  bench.before = [&] { fill_sbuf(bench); };
  std::vector<Instruction> stream;
  for (unsigned i = 0; i < 5; ++i)
    stream.push_back(activation(sbuf_tile(0, 4 * i + 4, 1), sbuf_tile(0, 4 * i, 1), 1, Function::copy));
  bench.program(Engine::scalar, stream);
  bench.run();
  EXPECT_EQ(intervals(bench, Engine::scalar), (Cycles{264, 264, 264, 264}));
  const auto records = bench.of(Engine::scalar);
  EXPECT_NEAR(static_cast<double>(records[4].begin_ps - records[0].begin_ps) / 4 / 1000, 188.571, 0.001);
  EXPECT_EQ(bench.statistic("scalar", "stalled_dependency_cycles"), 4U * 200);
}

TEST(ScalarTiming, IndependentAndInterleavedInstructionsDoNotWait) {
  CoreBench bench;
  bench.before = [&] { fill_sbuf(bench); };
  // Destinations interleave element by element.
  bench.program(Engine::scalar, {activation(sbuf_tile(0, 1024, 8, 2), sbuf_tile(0, 0, 8), 1, Function::copy),
                                 activation(sbuf_tile(0, 1028, 8, 2), sbuf_tile(0, 0, 8), 1, Function::copy),
                                 activation(sbuf_tile(0, 2048, 8), sbuf_tile(0, 0, 8), 1, Function::copy)});
  bench.run();
  EXPECT_EQ(intervals(bench, Engine::scalar), (Cycles{64, 64}));
}

TEST(PortTiming, VectorAndGpsimdTakeTurnsAtSbufOnV2Only) {
  for (const bool shared : {true, false}) {
    if (const pid_t child = fork(); child == 0) {
      Parameters parameters;
      parameters.vector_gpsimd_share_sbuf_port = shared;
      CoreBench bench({.parameters = parameters});
      bench.program(Engine::vector, {memset(sbuf_tile(0, 0, 1120), 128, 1.0F)});
      bench.program(Engine::gpsimd, {memset(sbuf_tile(0, 8192, 64), 128, 1.0F)});
      bench.run();
      const auto vector = bench.of(Engine::vector).at(0);
      const auto gpsimd = bench.of(Engine::gpsimd).at(0);
      // Same instant: the lower port number, gpsimd, goes first.
      const bool right = shared ? vector.begin_ps >= gpsimd.end_ps && bench.statistic("vector", "stalled_port_ps") > 0
                                : vector.begin_ps < gpsimd.end_ps && bench.statistic("vector", "stalled_port_ps") == 0;
      _exit(right ? 0 : 1);
    } else {
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0) << "shared " << shared;
    }
  }
}

// Scalar: 448 columns at 1.4 GHz are 320 ns, into bank 1. Vector: 336 at 1.12 GHz are 300 ns, into bank 0. Vector
// asks a few ns after scalar began.
struct BothOnPsum {
  InstructionRecord scalar;
  InstructionRecord vector;
  std::uint64_t vector_edge_ps = 0;  // the vector engine's edge at or after its request
  std::uint64_t next_edge_ps = 0;    // and at or after the end of scalar's
  std::uint64_t stalled_ps = 0;
};

BothOnPsum both_on_psum(bool shared) {
  Parameters parameters;
  parameters.vector_scalar_share_psum_port = shared;
  CoreBench bench({.parameters = parameters});
  bench.before = [&] { fill_sbuf(bench); };
  bench.program(Engine::scalar, {activation(psum_tile(0, 1, 448), sbuf_tile(0, 0, 448), 128, Function::copy)});
  bench.program(Engine::vector, {memset(psum_tile(0, 0, 336), 128, 1.0F)});
  bench.run();
  BothOnPsum both{bench.of(Engine::scalar).at(0), bench.of(Engine::vector).at(0)};
  const auto& clock = bench.core.clock(Engine::vector);
  both.vector_edge_ps = clock.time_ps(clock.edge_at_or_after(both.vector.requested_ps));
  both.next_edge_ps = clock.time_ps(clock.edge_at_or_after(both.scalar.begin_ps + 320'000));
  both.stalled_ps = bench.statistic("vector", "stalled_port_ps");
  return both;
}

TEST(PortTiming, VectorAndScalarTakeTurnsAtPsumOnV2) {
  const BothOnPsum both = both_on_psum(true);
  EXPECT_NEAR(static_cast<double>(both.scalar.end_ps - both.scalar.begin_ps), 320'000, 1);
  EXPECT_LT(both.vector.requested_ps, both.scalar.begin_ps + 10'000);
  EXPECT_EQ(both.vector.begin_ps, both.next_edge_ps);
  EXPECT_NEAR(static_cast<double>(both.vector.end_ps - both.vector.begin_ps), 300'000, 1);
  EXPECT_EQ(both.stalled_ps, both.next_edge_ps - both.vector_edge_ps);
}

TEST(PortTiming, VectorAndScalarAccessPsumTogetherWhereTheyHavePorts) {
  const BothOnPsum both = both_on_psum(false);
  EXPECT_LT(both.vector.requested_ps, both.scalar.begin_ps + 10'000);
  EXPECT_EQ(both.vector.begin_ps, both.vector_edge_ps);
  EXPECT_NEAR(static_cast<double>(both.vector.end_ps - both.vector.begin_ps), 300'000, 1);
  EXPECT_EQ(both.stalled_ps, 0U);
}

TEST(PsumTiming, ABankIsHeldForTheLengthOfTheInstruction) {
  CoreBench bench;
  bench.before = [&] { fill_sbuf(bench); };
  // The vector engine fills bank 0 for 512 cycles; the matmul into the same bank waits, the one into bank 1 does not.
  bench.program(Engine::vector, {memset(psum_tile(0, 0, 512), 128, 0.5F)});
  bench.program(Engine::pe, {control(Opcode::nop), matmul(128, 128, 64, weights_at, image_at, 1, whole_group),
                             matmul(128, 128, 64, weights_at, image_at, 0, whole_group)});
  bench.run();
  const auto vector = bench.of(Engine::vector).at(0);
  const auto pe = bench.of(Engine::pe);
  EXPECT_LT(pe[0].begin_ps, vector.end_ps);
  EXPECT_GE(pe[1].begin_ps, vector.end_ps);
  EXPECT_LT(pe[1].begin_ps, vector.end_ps + 358);  // the next PE edge
  EXPECT_GT(bench.statistic("pe", "stalled_psum_bank_cycles"), 0U);
}

// ---- Costs: one row an entry of the table in the documentation of nki.isa.

struct CostRow {
  const char* what;
  Instruction instruction;
  std::uint32_t generation;
  std::uint64_t cycles;
};

Instruction bf16(Instruction i) { return with_dtypes(i, DType::bf16, DType::bf16, DType::bf16); }

TEST(EngineCosts, FollowTheTable) {
  const Operand s = sbuf_tile(0, 0, 500);
  const Operand t = sbuf_tile(0, 8192, 500);
  const Operand p = psum_tile(0, 0, 500);
  const Operand strided = sbuf_tile(0, 0, 500, 5);    // 20 bytes in fp32, 10 in bf16
  const Operand strided4 = sbuf_tile(0, 0, 500, -4);  // 16 bytes
  const CostRow rows[] = {
      {"tensor_copy", tensor_copy(t, s, 128), 2, 500},
      {"tensor_copy, short", tensor_copy(sbuf_tile(0, 0, 3), sbuf_tile(0, 64, 3), 128), 2, 64},
      {"tensor_copy, stride 20 bytes", tensor_copy(t, strided, 128), 2, 1000},
      {"tensor_copy, stride 20 bytes, v3", tensor_copy(t, strided, 128), 3, 500},
      {"tensor_copy, stride 16 bytes", tensor_copy(t, strided4, 128), 2, 500},
      {"tensor_copy, bf16 stride 10 bytes", bf16(tensor_copy(t, strided, 128)), 2, 500},
      {"tensor_tensor fp32", tensor_tensor(t, s, AluOp::add, s, 128), 2, 1000},
      {"tensor_tensor, one in PSUM", tensor_tensor(t, p, AluOp::add, s, 128), 2, 500},
      {"tensor_tensor bf16 add", bf16(tensor_tensor(t, s, AluOp::add, s, 128)), 2, 500},
      {"tensor_tensor bf16 multiply", bf16(tensor_tensor(t, s, AluOp::multiply, s, 128)), 2, 500},
      {"tensor_tensor bf16 max", bf16(tensor_tensor(t, s, AluOp::max, s, 128)), 2, 1000},
      {"tensor_tensor bf16 strided", bf16(tensor_tensor(t, strided, AluOp::add, s, 128)), 2, 1000},
      {"tensor_scalar", tensor_scalar(t, s, 128, AluOp::add, 1), 2, 500},
      {"activation", activation(t, s, 128, Function::relu), 2, 500},
      {"memset zero bf16", memset(s, 128, 0, DType::bf16), 2, 250},
      {"memset zero fp32", memset(s, 128, 0), 2, 500},
      {"memset one bf16", memset(s, 128, 1, DType::bf16), 2, 500},
      {"memset zero bf16, short", memset(sbuf_tile(0, 0, 100), 128, 0, DType::bf16), 2, 64},
  };
  for (const CostRow& row : rows)
    EXPECT_EQ(cost_cycles(row.instruction, Parameters{}.vector, row.generation), row.cycles) << row.what;
}

}  // namespace
