// The ordered tile multiply against OpenBLAS sgemm on one thread, and the packs and conversions around it.
#include <cblas.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench/bench_clock.hpp"
#include "tilevp/numeric/convert.hpp"
#include "tilevp/numeric/ordered_gemm.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::numeric {
namespace {

struct Shape {
  std::size_t depth, rows, columns;
};

// Operands of one multiplication: the same numbers as bf16 in tile memory and as fp32 for sgemm.
struct Operands {
  explicit Operands(const Shape& shape)
      : stationary(shape.depth * shape.rows), moving(shape.depth * shape.columns), out(shape.rows * shape.columns) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (auto* values : {&stationary, &moving})
      for (float& value : *values) value = from_bf16(to_bf16(normal(random)));
    narrow(stationary, stationary_bf16);
    narrow(moving, moving_bf16);
  }
  static void narrow(const std::vector<float>& values, std::vector<std::byte>& out) {
    out.resize(2 * values.size());
    narrow_bf16(values.data(), values.size(), out.data(), 1);
  }
  std::vector<float> stationary, moving, out;
  std::vector<std::byte> stationary_bf16, moving_bf16;
};

StridedTile tile_of(const std::vector<std::byte>& bytes, DType dtype, std::size_t depth, std::size_t columns) {
  return dense_tile(bytes.data(), dtype, depth, static_cast<std::ptrdiff_t>(columns * size_bytes(dtype)), columns);
}

StridedTile tile_of(const std::vector<float>& values, std::size_t depth, std::size_t columns) {
  return dense_tile(reinterpret_cast<const std::byte*>(values.data()), DType::fp32, depth,
                    static_cast<std::ptrdiff_t>(columns * sizeof(float)), columns);
}

void compare_shape(const Shape& s) {
  Operands o(s);
  const auto stationary32 = tile_of(o.stationary, s.depth, s.rows);
  const auto moving32 = tile_of(o.moving, s.depth, s.columns);
  const auto stationary16 = tile_of(o.stationary_bf16, DType::bf16, s.depth, s.rows);
  const auto moving16 = tile_of(o.moving_bf16, DType::bf16, s.depth, s.columns);
  PackedStationary a;
  PackedMoving b;
  const auto stride = static_cast<std::ptrdiff_t>(s.columns);
  const auto whole = [&](const StridedTile& stationary, const StridedTile& moving) {
    a.pack(stationary);
    b.pack(moving, a);
    multiply(a, b, o.out.data(), stride, true);
  };
  const auto sgemm = [&] {
    const auto m = static_cast<int>(s.rows), n = static_cast<int>(s.columns), k = static_cast<int>(s.depth);
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1.0F, o.stationary.data(), m, o.moving.data(), n,
                1.0F, o.out.data(), n);
  };
  const double flop = 2.0 * static_cast<double>(s.depth * s.rows * s.columns);
  const int repeats = static_cast<int>(2e7 / flop) + 1;
  a.pack(stationary32);
  b.pack(moving32, a);
  const auto t =
      bench::median_seconds({sgemm, [&] { whole(stationary32, moving32); }, [&] { whole(stationary16, moving16); },
                             [&] { multiply(a, b, o.out.data(), stride, true); }, [&] { a.pack(stationary16); },
                             [&] { b.pack(moving16, a); }},
                            61, repeats);
  std::printf(
      "K=%-4zu M=%-4zu N=%-4zu sgemm %6.1f GFLOP/s | packed fp32 %6.1f (%.2fx) bf16 %6.1f (%.2fx) | kernel %6.1f"
      " | pack bf16 A %5.1f us B %5.1f us\n",
      s.depth, s.rows, s.columns, flop / t[0] * 1e-9, flop / t[1] * 1e-9, t[0] / t[1], flop / t[2] * 1e-9, t[0] / t[2],
      flop / t[3] * 1e-9, t[4] * 1e6, t[5] * 1e6);
}

// A convolution window in a scratchpad of 192 KB a partition, as im2col addresses it: rows of `row` elements, `stride`
// apart.
void gather_window(DType dtype, std::ptrdiff_t stride) {
  constexpr std::size_t partitions = 128, row = 222, rows = 2, pitch = 192 * 1024UL;
  const std::vector<std::byte> memory(partitions * pitch, std::byte{0});
  StridedTile tile = dense_tile(memory.data(), dtype, partitions, pitch, row);
  tile.dims[0] = {rows, 224 * stride};
  tile.dims[1] = {row, stride};
  tile.dim_count = 2;
  const auto weights = dense_tile(memory.data(), DType::bf16, partitions, pitch, 128);
  PackedStationary a;
  a.pack(weights);
  PackedMoving b;
  const auto t = bench::median_seconds({[&] { b.pack(tile, a); }}, 101, 4);
  std::printf("window 128 x [2][222], stride %td, %s: pack %.1f us\n", stride, std::string(name(dtype)).c_str(),
              t[0] * 1e6);
}

void conversions() {
  constexpr std::size_t count = 4096;
  std::vector<float> values(count, 1.5F);
  std::vector<std::byte> bytes(8 * count, std::byte{0x3c});
  const auto t = bench::median_seconds({[&] { widen_bf16(bytes.data(), count, 1, values.data()); },
                                        [&] { widen_bf16(bytes.data(), count, 2, values.data()); },
                                        [&] { widen_fp16(bytes.data(), count, 1, values.data()); },
                                        [&] { widen_fp16(bytes.data(), count, 2, values.data()); },
                                        [&] { narrow_bf16(values.data(), count, bytes.data(), 1); },
                                        [&] { narrow_fp16(values.data(), count, bytes.data(), 1); },
                                        [&] { store_fp32(values.data(), count, bytes.data(), 1); }},
                                       61, 200);
  const char* names[] = {"widen bf16",  "widen bf16 stride 2", "widen fp16", "widen fp16 stride 2",
                         "narrow bf16", "narrow fp16",         "store fp32"};
  for (std::size_t i = 0; i < t.size(); ++i)
    std::printf("%-20s %5.2f elements/ns\n", names[i], static_cast<double>(count) / t[i] * 1e-9);
}

void compare_all() {
  openblas_set_num_threads(1);
  std::printf("OpenBLAS kernels: %s, 1 thread; widest path here: %s\n", openblas_get_corename(),
              std::string(name(simd_level())).c_str());
  for (const SimdLevel level : all_simd_levels) {
    if (!simd_supported(level)) continue;
    set_simd_level(level);
    std::printf("-- %s\n", std::string(name(level)).c_str());
    compare_shape({128, 128, 512});
    if (level == SimdLevel::scalar) continue;
    for (const Shape& shape :
         {Shape{128, 128, 444}, {128, 128, 128}, {128, 64, 64}, {32, 32, 32}, {128, 4, 512}, {128, 1, 512}})
      compare_shape(shape);
  }
  for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32})
    for (const std::ptrdiff_t stride : {1, 2, 3}) gather_window(dtype, stride);
  conversions();
}

}  // namespace
}  // namespace tilevp::numeric

int main() { tilevp::numeric::compare_all(); }
