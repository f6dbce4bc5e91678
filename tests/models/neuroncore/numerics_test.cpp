// Values of matmuls and elementwise instructions, against loops written here.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core_bench.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/random.hpp"
#include "tilevp/neuroncore/tile_operations.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
using tilevp::numeric::DType;

constexpr std::uint32_t weights_at = 0;
constexpr std::uint32_t image_at = 4096;
constexpr unsigned whole_group = matmul_start | matmul_stop;

using Matrix = std::vector<std::vector<float>>;

Matrix random_integers(std::uint64_t seed, std::size_t rows, std::size_t columns) {
  auto generator = tilevp::generator_for(seed, "numerics");
  Matrix m(rows, std::vector<float>(columns));
  for (auto& row : m)
    for (float& x : row) x = static_cast<float>(tilevp::uniform_int(generator, -8, 8));
  return m;
}

Matrix random_values(std::uint64_t seed, std::size_t rows, std::size_t columns) {
  auto generator = tilevp::generator_for(seed, "numerics");
  Matrix m(rows, std::vector<float>(columns));
  for (auto& row : m)
    for (float& x : row) x = static_cast<float>(tilevp::uniform_int(generator, -1'000'000, 1'000'000)) / 999'983.0F;
  return m;
}

void write_rows(CoreBench& bench, std::uint32_t at, const Matrix& rows, DType dtype) {
  for (unsigned p = 0; p < rows.size(); ++p) bench.write_floats(Space::sbuf, p, at, rows[p], dtype);
}

// Before the run: the stationary operand `a` and the moving one `b`, which must stay until then.
void put_operands(CoreBench& bench, const Matrix& a, const Matrix& b, DType dtype) {
  bench.before = [&bench, &a, &b, dtype] {
    write_rows(bench, weights_at, a, dtype);
    write_rows(bench, image_at, b, dtype);
  };
}

// The machine's definition: from +0, k ascending, the product rounded, then the sum rounded; then one add.
float ordered_dot(const Matrix& a, const Matrix& b, std::size_t m, std::size_t n) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float product = a[k][m] * b[k][n];
    sum = sum + product;
  }
  return sum;
}

TEST(MatmulValues, SmallIntegersAreExactOverTwoAccumulatedTiles) {
  CoreBench bench;
  const Matrix a = random_integers(1, 77, 100);
  const Matrix b = random_integers(2, 77, 333);
  put_operands(bench, a, b, DType::bf16);
  bench.program(Engine::pe, {matmul(77, 100, 333, weights_at, image_at, 2, matmul_start),
                             matmul(77, 100, 333, weights_at, image_at, 2, matmul_accumulate | matmul_reuse),
                             matmul(77, 100, 333, weights_at, image_at, 2, matmul_accumulate | matmul_stop)});
  unsigned wrong = 0;
  bench.after = [&] {
    for (unsigned m = 0; m < 100; ++m) {
      const auto row = bench.read_floats(Space::psum, m, 2 * psum_bank_bytes, 333);
      for (unsigned n = 0; n < 333; ++n) {
        std::int64_t expected = 0;
        for (unsigned k = 0; k < 77; ++k) expected += static_cast<std::int64_t>(a[k][m] * b[k][n]);
        wrong += row[n] == static_cast<float>(3 * expected) ? 0 : 1;
      }
    }
  };
  bench.run();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(bench.statistic("pe", "weight_loads"), 2U);
}

// The array keeps packed tiles (moving_tiles.hpp): an engine's write and a memory-mapped one must reach the next
// product.
TEST(MatmulValues, AMovingTileThatChangesBetweenTwoProducts) {
  CoreBench bench;
  const Matrix a(16, std::vector<float>(20, 1.0F));
  const Matrix b(16, std::vector<float>(40, 1.0F));
  put_operands(bench, a, b, DType::bf16);
  const auto product = [](unsigned bank) { return matmul(16, 20, 40, weights_at, image_at, bank, whole_group); };
  bench.program(Engine::pe, {updating(product(0), 1), wait_for(2, 1), product(1)});
  // One element in the middle of the tile: row 0, column 7.
  bench.program(Engine::gpsimd,
                {wait_for(1, 1), updating(memset(sbuf_tile(0, image_at + 14, 1), 1, 5.0F, DType::bf16), 2)});
  std::vector<float> before;
  std::vector<float> after;
  bench.after = [&] {
    before = bench.read_floats(Space::psum, 3, 0, 40);
    after = bench.read_floats(Space::psum, 3, psum_bank_bytes, 40);
  };
  bench.run();
  std::vector<float> expected(40, 16.0F);
  EXPECT_EQ(before, expected);
  expected[7] = 20.0F;
  EXPECT_EQ(after, expected);
}

// A dense result is computed in parts of the moving tile's columns, one with gaps is not; both from the same tile.
TEST(MatmulValues, DenseAndStridedResultsOfOneMovingTile) {
  CoreBench bench;
  const Matrix a = random_integers(7, 16, 20);
  const Matrix b = random_integers(8, 16, 250);
  put_operands(bench, a, b, DType::bf16);
  const auto dense = [](unsigned bank) { return matmul(16, 20, 250, weights_at, image_at, bank, whole_group); };
  const auto strided = [&](unsigned bank) {
    Instruction i = dense(bank);
    i.destination.dims = {Dim{0, 1}, Dim{0, 1}, Dim{2, 250}};
    return i;
  };
  bench.program(Engine::pe, {dense(0), strided(1), dense(2)});
  unsigned wrong = 0;
  bench.after = [&] {
    for (unsigned m = 0; m < 20; ++m)
      for (const unsigned bank : {0U, 1U, 2U}) {
        const unsigned step = bank == 1 ? 2 : 1;
        for (unsigned n = 0; n < 250; ++n) {
          const auto got = bench.read_floats(Space::psum, m, bank * psum_bank_bytes + 4 * n * step, 1);
          wrong += got[0] == ordered_dot(a, b, m, n) ? 0 : 1;
        }
      }
  };
  bench.run();
  EXPECT_EQ(wrong, 0U);
}

TEST(MatmulValues, Fp32RoundsInTheDocumentedOrder) {
  CoreBench bench;
  const Matrix a = random_values(3, 128, 33);
  const Matrix b = random_values(4, 128, 50);
  put_operands(bench, a, b, DType::fp32);
  bench.program(Engine::pe, {fp32(matmul(128, 33, 50, weights_at, image_at, 0, matmul_start)),
                             fp32(matmul(128, 33, 50, weights_at, image_at, 0, matmul_accumulate | matmul_stop))});
  unsigned wrong = 0;
  bench.after = [&] {
    for (unsigned m = 0; m < 33; ++m) {
      const auto row = bench.read_floats(Space::psum, m, 0, 50);
      for (unsigned n = 0; n < 50; ++n) {
        const float once = ordered_dot(a, b, m, n);
        wrong += row[n] == once + once ? 0 : 1;
      }
    }
  };
  bench.run();
  EXPECT_EQ(wrong, 0U);
}

// A destination with gaps (step 2) keeps what lies between; moving operands may repeat and walk back.
TEST(MatmulValues, StridedOperandsAndDestinations) {
  CoreBench bench;
  const Matrix a = random_integers(5, 16, 20);
  const Matrix b = random_integers(6, 16, 40);
  put_operands(bench, a, b, DType::bf16);
  Instruction first = matmul(16, 20, 40, weights_at, image_at, 1, matmul_start);
  first.source0.offset = image_at + 2 * 39;
  first.source0.dims = {Dim{0, 1}, Dim{0, 2}, Dim{-2, 20}};  // columns 39, 37, ... 1, twice
  first.destination.dims = {Dim{0, 1}, Dim{40, 2}, Dim{2, 20}};
  Instruction second = first;
  second.flags = matmul_accumulate | matmul_stop;
  bench.program(Engine::vector, {updating(memset(psum_tile(0, 1, 80), 20, -7.0F), 1)});
  bench.program(Engine::pe, {wait_for(1, 1), first, second});
  unsigned wrong = 0;
  bench.after = [&] {
    for (unsigned m = 0; m < 20; ++m) {
      const auto row = bench.read_floats(Space::psum, m, psum_bank_bytes, 80);
      for (unsigned n = 0; n < 80; ++n) {
        const float expected = n % 2 == 1 ? -7.0F : 2 * ordered_dot(a, b, m, 39 - 2 * (n % 40 / 2));
        wrong += row[n] == expected ? 0 : 1;
      }
    }
  };
  bench.run();
  EXPECT_EQ(wrong, 0U);
}

// The array holds the tile it loaded, whatever becomes of the source.
TEST(MatmulValues, ReuseTakesTheLoadedTile) {
  CoreBench bench;
  const Matrix a = random_integers(7, 8, 8);
  const Matrix b = random_integers(8, 8, 8);
  put_operands(bench, a, b, DType::bf16);
  bench.program(Engine::pe, {updating(matmul(8, 8, 8, weights_at, image_at, 0, whole_group), 1), wait_for(2, 1),
                             matmul(8, 8, 8, weights_at, image_at, 1, whole_group | matmul_reuse)});
  bench.program(Engine::vector,
                {wait_for(1, 1), updating(memset(sbuf_tile(0, weights_at, 8), 8, 99.0F, DType::bf16), 2)});
  std::vector<float> row;
  bench.after = [&] { row = bench.read_floats(Space::psum, 3, psum_bank_bytes, 8); };
  bench.run();
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(row[n], ordered_dot(a, b, 3, n));
}

TEST(ElementwiseValues, ComputeInFp32AndRoundOnce) {
  CoreBench bench;
  const std::vector<float> x{1.0F, -2.5F, 3.0F, 0.0F, 100.5F, -0.125F, 7.0F, 9.0F};
  const std::vector<float> y{2.0F, 0.5F, -3.0F, 5.0F, 0.25F, -8.0F, 7.0F, 256.5F};
  bench.before = [&] {
    bench.write_floats(Space::sbuf, 0, 0, x, DType::bf16);
    bench.write_floats(Space::sbuf, 0, 64, y);
    bench.write_floats(Space::sbuf, 0, 128, std::vector<float>{0.5F});
  };
  const auto in = [](Instruction i, DType to) { return with_dtypes(i, to, DType::bf16, DType::fp32); };
  Instruction scaled = in(tensor_scalar(sbuf_tile(0, 2048, 8), sbuf_tile(0, 0, 8), 1, AluOp::multiply, 0), DType::fp32);
  scaled.scalar0 = {.is_address = true, .address = 128};
  scaled.op1 = AluOp::add;
  scaled.scalar1.immediate = 1.0F;
  bench.program(
      Engine::vector,
      {in(tensor_tensor(sbuf_tile(0, 1024, 8), sbuf_tile(0, 0, 8), AluOp::add, sbuf_tile(0, 64, 8), 1), DType::bf16),
       in(tensor_tensor(sbuf_tile(0, 1088, 8), sbuf_tile(0, 0, 8), AluOp::max, sbuf_tile(0, 64, 8), 1), DType::fp32),
       scaled});
  bench.program(
      Engine::scalar,
      {in(activation(sbuf_tile(0, 3072, 8), sbuf_tile(0, 0, 8), 1, Function::relu, 2.0F, -1.0F), DType::fp32)});
  std::vector<std::vector<float>> got;
  bench.after = [&] {
    got = {bench.read_floats(Space::sbuf, 0, 1024, 8, DType::bf16), bench.read_floats(Space::sbuf, 0, 1088, 8),
           bench.read_floats(Space::sbuf, 0, 2048, 8), bench.read_floats(Space::sbuf, 0, 3072, 8)};
  };
  bench.run();
  // 9 + 256.5 = 265.5 lies between 264 and 266 in bf16 (steps of 2); 100.5 + 0.25 = 100.75 rounds to 101 (steps of 1/2
  // give 100.5 or 101, a tie: 100.5 has an odd significand 201, 101 an even one).
  EXPECT_EQ(got[0], (std::vector<float>{3, -2, 0, 5, 101, -8.125F, 14, 266}));
  EXPECT_EQ(got[1], (std::vector<float>{2, 0.5F, 3, 5, 100.5F, -0.125F, 7, 256.5F}));
  EXPECT_EQ(got[2], (std::vector<float>{1.5F, -0.25F, 2.5F, 1, 51.25F, 0.9375F, 4.5F, 5.5F}));
  EXPECT_EQ(got[3], (std::vector<float>{1, 0, 5, 0, 200, 0, 13, 17}));
}

TEST(ElementwiseValues, NanAndZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(apply(AluOp::max, nan, 1)));
  EXPECT_TRUE(std::isnan(apply(AluOp::max, 1, nan)));
  EXPECT_TRUE(std::isnan(apply(AluOp::min, 1, nan)));
  EXPECT_FALSE(std::signbit(apply(AluOp::max, -0.0F, 0.0F)));
  EXPECT_TRUE(std::signbit(apply(AluOp::max, 0.0F, -0.0F)));
  EXPECT_EQ(apply(AluOp::bypass, 4, 9), 4);
  EXPECT_EQ(apply(AluOp::subtract, 4, 9), -5);

  std::array<float, 4> in{nan, -1.0F, -0.0F, 2.0F};
  std::array<float, 4> out{};
  TileOperation relu;
  relu.opcode = Opcode::activation;
  relu.function = Function::relu;
  relu.scalar0.immediate = 1;
  relu.destination = tilevp::numeric::dense_tile(reinterpret_cast<std::byte*>(out.data()), DType::fp32, 1, 16, 4);
  relu.source0 = tilevp::numeric::dense_tile(reinterpret_cast<const std::byte*>(in.data()), DType::fp32, 1, 16, 4);
  OperationBuffers buffers;
  execute(relu, 0, relu.destination.partitions, buffers);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(out[0]), 0x7fc0'0000U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(out[1]), 0U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(out[2]), 0U);
  EXPECT_EQ(out[3], 2.0F);
}

// Equal types move as bytes: a NaN keeps its payload. Through the scalar engine of NC-v3 it becomes the canonical one.
TEST(ElementwiseValues, CopiesKeepBitsOnVectorAndGpsimd) {
  Parameters parameters;
  parameters.generation = 3;
  CoreBench bench({.parameters = parameters});
  const std::uint32_t payload = 0xffc1'2345;
  bench.before = [&] { bench.write(Space::sbuf, 0, 0, std::as_bytes(std::span(&payload, 1))); };
  bench.program(Engine::vector, {tensor_copy(sbuf_tile(0, 64, 1), sbuf_tile(0, 0, 1), 1)});
  bench.program(Engine::gpsimd, {tensor_copy(sbuf_tile(0, 128, 1), sbuf_tile(0, 0, 1), 1)});
  bench.program(Engine::scalar, {tensor_copy(sbuf_tile(0, 192, 1), sbuf_tile(0, 0, 1), 1)});
  std::vector<float> got;
  bench.after = [&] {
    for (const std::uint32_t at : {64U, 128U, 192U}) {
      const auto bytes = bench.read(Space::sbuf, 0, at, 4);
      got.push_back(std::bit_cast<float>(std::array<std::byte, 4>{bytes[0], bytes[1], bytes[2], bytes[3]}));
    }
  };
  bench.run();
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got[0]), payload);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got[1]), payload);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got[2]), 0x7fc0'0000U);
}

TEST(ElementwiseValues, GpsimdIntegersWrap) {
  CoreBench bench;
  const std::array<std::int32_t, 2> a{0x7fff'ffff, 16'777'217};
  const std::array<std::int32_t, 2> b{1, 2};
  bench.before = [&] {
    bench.write(Space::sbuf, 0, 0, std::as_bytes(std::span(a)));
    bench.write(Space::sbuf, 0, 64, std::as_bytes(std::span(b)));
  };
  bench.program(
      Engine::gpsimd,
      {with_dtypes(tensor_tensor(sbuf_tile(0, 128, 2), sbuf_tile(0, 0, 2), AluOp::add, sbuf_tile(0, 64, 2), 1),
                   DType::int32, DType::int32, DType::int32)});
  std::vector<std::byte> got;
  bench.after = [&] { got = bench.read(Space::sbuf, 0, 128, 8); };
  bench.run();
  std::array<std::int32_t, 2> sum{};
  std::memcpy(sum.data(), got.data(), 8);
  EXPECT_EQ(sum[0], std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(sum[1], 16'777'219);  // fp32 would give 16777220
}

}  // namespace
