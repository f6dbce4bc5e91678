// nc_transpose and tensor_reduce: values and times, by loops and figures written here.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>

#include "core_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/legality.hpp"
#include "tilevp/neuroncore/rules.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
using tilevp::Fault;
using tilevp::numeric::DType;

constexpr float infinity = std::numeric_limits<float>::infinity();

// Element (p, f) of a source; every one different, and exact in bf16 for small sources.
float element(unsigned p, unsigned f) { return static_cast<float>(p) * 128.0F + static_cast<float>(f); }

Operand pattern(Space space, unsigned partition, std::uint32_t offset, std::array<Dim, 3> dims) {
  return {space, static_cast<std::uint8_t>(partition), offset, dims};
}

Parameters generation(std::uint32_t number) {
  Parameters parameters;
  parameters.generation = number;
  return parameters;
}

// Source rows with a step of two elements from partition 32; the columns of the result three apart from partition 64.
TEST(Transpose, TheVectorEngineKeepsEveryBit) {
  CoreBench bench;
  constexpr std::uint32_t odd_nan = 0xffc1'2345;
  bench.before = [&] {
    for (unsigned p = 0; p < 20; ++p) {
      std::vector<float> row(62, -1.0F);
      for (unsigned f = 0; f < 31; ++f) row[2 * f] = element(p, f);
      if (p == 3) row[2 * 7] = std::bit_cast<float>(odd_nan);
      if (p == 4) row[2 * 7] = -0.0F;
      bench.write(Space::sbuf, 32 + p, 256, std::as_bytes(std::span(row)));
    }
  };
  bench.program(Engine::vector, {transpose(sbuf_tile(64, 4096, 20, 3), sbuf_tile(32, 256, 31, 2), 20, 31)});
  bench.after = [&] {
    for (unsigned f = 0; f < 31; ++f)
      for (unsigned p = 0; p < 20; ++p) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, bench.read(Space::sbuf, 64 + f, 4096 + 12 * p, 4).data(), 4);
        const std::uint32_t expected = f != 7   ? std::bit_cast<std::uint32_t>(element(p, f))
                                       : p == 3 ? odd_nan
                                       : p == 4 ? 0x8000'0000U
                                                : std::bit_cast<std::uint32_t>(element(p, f));
        EXPECT_EQ(bits, expected) << p << " " << f;
      }
  };
  bench.run();
}

// A process has one simulation: a test of several cases is as many tests.
class VectorTranspose : public testing::TestWithParam<DType> {};

TEST_P(VectorTranspose, TakesEveryType) {
  const DType dtype = GetParam();
  CoreBench bench;
  bench.before = [&] {
    for (unsigned p = 0; p < 3; ++p)
      bench.write_floats(Space::sbuf, p, 0, std::vector<float>{10.0F * float(p), 10.0F * float(p) + 1}, dtype);
  };
  bench.program(Engine::vector, {transpose(sbuf_tile(0, 512, 3), sbuf_tile(0, 0, 2), 3, 2, dtype)});
  bench.after = [&] {
    EXPECT_EQ(bench.read_floats(Space::sbuf, 0, 512, 3, dtype), (std::vector<float>{0, 10, 20}));
    EXPECT_EQ(bench.read_floats(Space::sbuf, 1, 512, 3, dtype), (std::vector<float>{1, 11, 21}));
  };
  bench.run();
}

INSTANTIATE_TEST_SUITE_P(Transpose, VectorTranspose, testing::Values(DType::uint8, DType::bf16, DType::int32));

// Generation, rows, columns, type.
class PeTranspose : public testing::TestWithParam<std::tuple<std::uint32_t, unsigned, unsigned, DType>> {};

TEST_P(PeTranspose, SwapsRowsAndColumns) {
  const auto [number, rows, columns, dtype] = GetParam();
  CoreBench bench({.parameters = generation(number)});
  const auto value = [&](unsigned p, unsigned f) { return static_cast<float>((p * 131 + f * 7) % 251); };
  bench.before = [&] {
    for (unsigned p = 0; p < rows; ++p) {
      std::vector<float> row(columns);
      for (unsigned f = 0; f < columns; ++f) row[f] = value(p, f);
      bench.write_floats(Space::sbuf, p, 1024, row, dtype);
    }
  };
  bench.program(Engine::pe, {transpose(psum_tile(0, 5, rows), sbuf_tile(0, 1024, columns), rows, columns, dtype)});
  unsigned wrong = 0;
  bench.after = [&] {
    for (unsigned f = 0; f < columns; ++f) {
      const auto row = bench.read_floats(Space::psum, f, 5 * psum_bank_bytes, rows, dtype);
      for (unsigned p = 0; p < rows; ++p) wrong += row[p] == value(p, f) ? 0 : 1;
    }
  };
  bench.run();
  EXPECT_EQ(wrong, 0U) << "NC-v" << number << " " << rows << " x " << columns;
  EXPECT_EQ(bench.statistic("pe", "transposes"), 1U);
  EXPECT_EQ(bench.statistic("pe", "matmuls"), 0U);
  EXPECT_EQ(bench.statistic("pe", "weight_loads"), 1U);
}

INSTANTIATE_TEST_SUITE_P(Transpose, PeTranspose,
                         testing::Values(std::tuple(2U, 128U, 128U, DType::fp32),
                                         std::tuple(2U, 100U, 37U, DType::bf16),
                                         std::tuple(3U, 128U, 128U, DType::fp32),
                                         std::tuple(3U, 1U, 128U, DType::fp16)));

// One column of each kind: what becomes of it in its destination partition.
std::vector<std::vector<float>> special_columns(std::uint32_t number) {
  CoreBench bench({.parameters = generation(number)});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> rows{
      {1, 2, nan, -0.0F, -0.0F}, {infinity, 3, 4, 5, -0.0F}, {6, 7, 8, -infinity, 1}};
  bench.before = [&] {
    for (unsigned p = 0; p < 3; ++p) bench.write_floats(Space::sbuf, p, 0, rows[p]);
  };
  bench.program(Engine::pe, {transpose(psum_tile(0, 0, 3), sbuf_tile(0, 0, 5), 3, 5)});
  std::vector<std::vector<float>> columns;
  bench.after = [&] {
    for (unsigned f = 0; f < 5; ++f) columns.push_back(bench.read_floats(Space::psum, f, 0, 3));
  };
  bench.run();
  return columns;
}

// A product with an identity matrix: 0 * inf is NaN, and +0 + -0 is +0.
TEST(Transpose, NotFiniteValuesSpreadOnTheArrayOfNcV2) {
  const auto columns = special_columns(2);
  EXPECT_TRUE(std::isnan(columns[0][0]));
  EXPECT_EQ(columns[0][1], infinity);
  EXPECT_TRUE(std::isnan(columns[0][2]));
  EXPECT_EQ(columns[1], (std::vector<float>{2, 3, 7}));
  for (const float value : columns[2]) EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(std::isnan(columns[3][0]));
  EXPECT_TRUE(std::isnan(columns[3][1]));
  EXPECT_EQ(columns[3][2], -infinity);
  EXPECT_FALSE(std::signbit(columns[4][0]));
}

TEST(Transpose, TheArrayOfNcV3KeepsEveryBit) {
  const auto columns = special_columns(3);
  EXPECT_EQ(columns[0], (std::vector<float>{1, infinity, 6}));
  EXPECT_TRUE(std::isnan(columns[2][0]));
  EXPECT_EQ(columns[2][1], 4.0F);
  EXPECT_TRUE(std::signbit(columns[3][0]));
  EXPECT_TRUE(std::signbit(columns[4][1]));
  EXPECT_EQ(columns[3][2], -infinity);
}

// The array holds the transposed tile as its stationary one.
TEST(Transpose, DropsTheStationaryTile) {
  CoreBench bench;
  bench.before = [&] {
    for (unsigned p = 0; p < 16; ++p) bench.write_floats(Space::sbuf, p, 0, std::vector<float>(64, 1.0F));
  };
  const unsigned whole = matmul_start | matmul_stop;
  bench.program(Engine::pe,
                {matmul(16, 16, 16, 0, 64, 0, whole), transpose(psum_tile(0, 1, 16), sbuf_tile(0, 0, 16), 16, 16),
                 matmul(16, 16, 16, 0, 64, 2, whole | matmul_reuse)});
  try {
    bench.run();
    FAIL() << "nothing was raised";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.rule(), rule::pe_reuse_not_loaded);
  }
}

// The begins of the last two of three equal instructions, in cycles of the engine's clock.
std::uint64_t interval_of(Engine engine, const std::vector<Instruction>& stream) {
  CoreBench bench;
  bench.before = [&] {
    for (unsigned p = 0; p < 128; ++p) bench.write_floats(Space::sbuf, p, 0, std::vector<float>(4096, 1.0F));
  };
  bench.program(engine, stream);
  bench.run();
  const auto records = bench.of(engine);
  const auto& clock = bench.core.clock(engine);
  return clock.edge_at_or_after(records.at(2).begin_ps) - clock.edge_at_or_after(records.at(1).begin_ps);
}

// nki.isa of release 2.26: max(P, min(64, F)), whatever the type. Rows, columns, cycles.
class PeTransposeTiming : public testing::TestWithParam<std::tuple<unsigned, unsigned, std::uint64_t>> {};

TEST_P(PeTransposeTiming, StreamsAnIdentity) {
  const auto [rows, columns, cycles] = GetParam();
  std::vector<Instruction> stream;
  for (unsigned bank = 0; bank < 3; ++bank)
    stream.push_back(transpose(psum_tile(0, bank, rows), sbuf_tile(0, 0, columns), rows, columns));
  EXPECT_EQ(interval_of(Engine::pe, stream), cycles);
}

INSTANTIATE_TEST_SUITE_P(Timing, PeTransposeTiming,
                         testing::Values(std::tuple(128U, 128U, 128U), std::tuple(100U, 128U, 100U),
                                         std::tuple(16U, 100U, 64U), std::tuple(16U, 40U, 40U),
                                         std::tuple(50U, 8U, 50U)));

TEST(TransposeTiming, TheVectorEngineTakesItsLeastInterval) {
  std::vector<Instruction> stream;
  for (unsigned i = 0; i < 3; ++i)
    stream.push_back(transpose(sbuf_tile(0, 32'768 + 128 * i, 32), sbuf_tile(0, 0, 32), 32, 32));
  EXPECT_EQ(interval_of(Engine::vector, stream), 64U);
}

// [2][3][4] elements; by hand: sums of runs of 4, of 12, of all 24 of 0, 1, 2, ...
TEST(Reduce, TrailingDimensions) {
  CoreBench bench;
  bench.before = [&] {
    std::vector<float> row(64);
    for (unsigned i = 0; i < 64; ++i) row[i] = static_cast<float>(i);
    for (unsigned p = 0; p < 2; ++p) bench.write_floats(Space::sbuf, 32 + p, 0, row);
  };
  const auto source = pattern(Space::sbuf, 32, 0, {Dim{12, 2}, Dim{4, 3}, Dim{1, 4}});
  const auto apart = pattern(Space::sbuf, 32, 0, {Dim{32, 2}, Dim{8, 3}, Dim{-2, 1}});
  const Operand strided = pattern(Space::sbuf, 32, 0, {Dim{32, 2}, Dim{8, 3}, Dim{1, 2}});
  bench.program(Engine::vector, {tensor_reduce(sbuf_tile(0, 1024, 6), AluOp::add, source, 1, 2),
                                 tensor_reduce(sbuf_tile(0, 1088, 2), AluOp::add, source, 2, 2),
                                 tensor_reduce(sbuf_tile(0, 1152, 1), AluOp::add, source, 3, 2),
                                 tensor_reduce(sbuf_tile(0, 1216, 2), AluOp::max, strided, 2, 2),
                                 tensor_reduce(sbuf_tile(0, 1280, 2), AluOp::min, strided, 2, 2),
                                 tensor_reduce(sbuf_tile(0, 1344, 2), AluOp::multiply, apart, 2, 2)});
  bench.after = [&] {
    for (unsigned p = 0; p < 2; ++p) {
      EXPECT_EQ(bench.read_floats(Space::sbuf, p, 1024, 6), (std::vector<float>{6, 22, 38, 54, 70, 86}));
      EXPECT_EQ(bench.read_floats(Space::sbuf, p, 1088, 2), (std::vector<float>{66, 210}));
      EXPECT_EQ(bench.read_floats(Space::sbuf, p, 1152, 1), (std::vector<float>{276}));
      EXPECT_EQ(bench.read_floats(Space::sbuf, p, 1216, 2), (std::vector<float>{17, 49}));
      EXPECT_EQ(bench.read_floats(Space::sbuf, p, 1280, 2), (std::vector<float>{0, 32}));
      EXPECT_EQ(bench.read_floats(Space::sbuf, p, 1344, 2), (std::vector<float>{0, 32.0F * 40 * 48}));
    }
  };
  bench.run();
}

// 2^24 + 1 is no fp32: in order from the first element each step is rounded, the other way round nothing is lost.
TEST(Reduce, GoesInOrderAndRoundsEachStep) {
  CoreBench bench;
  bench.before = [&] { bench.write_floats(Space::sbuf, 0, 0, std::vector<float>{16'777'216.0F, 1, 1, 1}); };
  bench.program(Engine::vector, {tensor_reduce(sbuf_tile(0, 64, 1), AluOp::add, sbuf_tile(0, 0, 4), 1, 1),
                                 tensor_reduce(sbuf_tile(0, 128, 1), AluOp::add, sbuf_tile(0, 12, 4, -1), 1, 1)});
  bench.after = [&] {
    EXPECT_EQ(bench.read_floats(Space::sbuf, 0, 64, 1)[0], 16'777'216.0F);
    EXPECT_EQ(bench.read_floats(Space::sbuf, 0, 128, 1)[0], 16'777'220.0F);  // 3 + 2^24 to even
  };
  bench.run();
}

// N elements read: N cycles; N/2 with bf16 in and out and add or max.
class ReduceTiming : public testing::TestWithParam<std::tuple<AluOp, DType, DType, std::uint64_t>> {};

TEST_P(ReduceTiming, HalfForBf16SumsAndMaxima) {
  const auto [op, to, from, cycles] = GetParam();
  const auto source = pattern(Space::sbuf, 0, 0, {Dim{0, 1}, Dim{100, 10}, Dim{1, 100}});
  std::vector<Instruction> stream;
  for (unsigned i = 0; i < 3; ++i)
    stream.push_back(
        with_dtypes(tensor_reduce(sbuf_tile(0, 32'768 + 64 * i, 10), op, source, 1, 128), to, from, DType::fp32));
  EXPECT_EQ(interval_of(Engine::vector, stream), cycles);
}

INSTANTIATE_TEST_SUITE_P(Timing, ReduceTiming,
                         testing::Values(std::tuple(AluOp::add, DType::fp32, DType::fp32, 1000U),
                                         std::tuple(AluOp::add, DType::bf16, DType::bf16, 500U),
                                         std::tuple(AluOp::max, DType::bf16, DType::bf16, 500U),
                                         std::tuple(AluOp::min, DType::bf16, DType::bf16, 1000U),
                                         std::tuple(AluOp::add, DType::fp32, DType::bf16, 1000U)));

// ---- What is refused

std::string refusal(Engine engine, const Instruction& instruction) {
  try {
    check(instruction, engine, {2, 180'224}, 7);
  } catch (const Fault& fault) {
    return fault.rule() + " | " + fault.what();
  }
  return "legal";
}

TEST(LayoutInstructions, SayWhatTheyCannotDo) {
  const Operand s = sbuf_tile(0, 0, 40);
  const Operand to = psum_tile(0, 0, 40);
  EXPECT_EQ(refusal(Engine::pe, transpose(to, s, 40, 40)), "legal");
  EXPECT_EQ(refusal(Engine::vector, transpose(sbuf_tile(0, 512, 40), s, 40, 40)),
            "operand.transpose_size | nc_transpose #7: source 0 of 40 partitions x 40 elements exceeds 32 x 32 of the "
            "vector engine");
  EXPECT_EQ(refusal(Engine::scalar, transpose(to, s, 40, 40)),
            "engine.opcode | nc_transpose #7: the scalar engine does not execute it");
  EXPECT_EQ(refusal(Engine::pe, transpose(sbuf_tile(0, 512, 40), s, 40, 40)),
            "operand.space | nc_transpose #7: destination is in SBUF, expected PSUM");
  EXPECT_EQ(refusal(Engine::pe, transpose(to, s, 40, 39)),
            "partition.count | nc_transpose #7: source 0 has 40 elements a partition, destination 39 partitions");
  EXPECT_EQ(refusal(Engine::pe, transpose(to, s, 41, 40)),
            "operand.elements | nc_transpose #7: source 0 has 41 partitions, destination 40 elements a partition");
  EXPECT_EQ(refusal(Engine::pe, transpose(to, s, 40, 40, DType::int32)),
            "pe.dtype | nc_transpose #7: source 0 is int32; the PE array takes fp32, bf16 and fp16");
  EXPECT_EQ(refusal(Engine::pe, transpose(psum_tile(0, 0, 40, 2000), s, 40, 40)),
            "psum.bank_span | nc_transpose #7: destination spans banks 0 to 1; a group lies in one");
  EXPECT_EQ(refusal(Engine::vector, with_dtypes(transpose(s, s, 8, 8), DType::fp32, DType::bf16, DType::fp32)),
            "operand.dtype | nc_transpose #7: source 0 is bf16, destination fp32; a transpose keeps the type");
  EXPECT_EQ(refusal(Engine::vector, tensor_reduce(sbuf_tile(0, 0, 2), AluOp::subtract, s, 1, 8)),
            "operand.op | tensor_reduce #7: op is subtract, expected add, multiply, max or min");
  EXPECT_EQ(refusal(Engine::vector, tensor_reduce(sbuf_tile(0, 0, 2), AluOp::add, s, 1, 8)),
            "operand.elements | tensor_reduce #7: source 0 reduces to 1 elements a partition, destination has 2");
  EXPECT_EQ(refusal(Engine::gpsimd, tensor_reduce(sbuf_tile(0, 0, 1), AluOp::add, s, 1, 8)),
            "engine.opcode | tensor_reduce #7: the gpsimd engine does not execute it");
}

TEST(LayoutInstructions, AreListed) {
  const auto bf16 =
      with_dtypes(tensor_reduce(sbuf_tile(0, 64, 10), AluOp::max,
                                pattern(Space::psum, 0, 2048, {Dim{0, 1}, Dim{100, 10}, Dim{1, 100}}), 1, 96),
                  DType::bf16, DType::fp32, DType::fp32);
  EXPECT_EQ(disassemble(bf16),
            "tensor_reduce sbuf[0..95, 64, 10:1] bf16 = max psum[0..95, bank 1 + 0, 10:100 100:1] "
            "fp32 over 1");
  EXPECT_EQ(disassemble(transpose(psum_tile(0, 2, 100), sbuf_tile(0, 0, 37), 100, 37)),
            "transpose psum[0..36, bank 2 + 0, 100:1] fp32 = sbuf[0..99, 0, 37:1] fp32");
}

}  // namespace
