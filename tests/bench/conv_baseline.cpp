// The plain-host counterpart of `tilevp run conv2d`: a valid convolution, one image, by im2col and OpenBLAS sgemm on
// one thread.
//
//   conv_baseline C H W O HF WF [REPEATS]     prints the best time of im2col + sgemm, of sgemm alone, and GFLOP/s, as
//   JSON
#include <cblas.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/bench_clock.hpp"

extern "C" void openblas_set_num_threads(int);

namespace {

struct Shape {
  std::size_t c, h, w, o, hf, wf;
  std::size_t k0() const { return h - hf + 1; }
  std::size_t k1() const { return w - wf + 1; }
  double flops() const { return 2.0 * static_cast<double>(c * hf * wf * o * k0() * k1()); }
};

struct Times {
  double total = 1e30;
  double sgemm = 1e30;
};

// Columns of `rows` output rows from `row` on: [c * hf * wf][rows * k1].
void im2col(const Shape& s, const float* image, std::size_t row, std::size_t rows, float* columns) {
  for (std::size_t c = 0; c < s.c; ++c)
    for (std::size_t i = 0; i < s.hf; ++i)
      for (std::size_t j = 0; j < s.wf; ++j)
        for (std::size_t r = 0; r < rows; ++r) {
          const float* source = image + (c * s.h + row + r + i) * s.w + j;
          columns = std::copy(source, source + s.k1(), columns);
        }
}

// Strips of output rows whose columns stay in the last-level cache.
Times run(const Shape& s, const std::vector<float>& image, const std::vector<float>& filter, std::vector<float>& out) {
  const std::size_t depth = s.c * s.hf * s.wf;
  const std::size_t strip = std::max<std::size_t>(1, (std::size_t{16} << 20) / (depth * s.k1() * sizeof(float)));
  std::vector<float> columns(depth * strip * s.k1());
  Times times{0, 0};
  for (std::size_t row = 0; row < s.k0(); row += strip) {
    const std::size_t rows = std::min(strip, s.k0() - row);
    const double begin = tilevp::bench::wall_seconds();
    im2col(s, image.data(), row, rows, columns.data());
    const double packed = tilevp::bench::wall_seconds();
    const auto n = static_cast<int>(rows * s.k1());
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(s.o), n, static_cast<int>(depth), 1.0F,
                filter.data(), static_cast<int>(s.o), columns.data(), n, 0.0F, out.data() + row * s.k1(),
                static_cast<int>(s.k0() * s.k1()));
    const double end = tilevp::bench::wall_seconds();
    times.total += end - begin;
    times.sgemm += end - packed;
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr, "usage: conv_baseline C H W O HF WF [REPEATS]\n");
    return 2;
  }
  const auto number = [&](int i) { return static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)); };
  const Shape shape{number(1), number(2), number(3), number(4), number(5), number(6)};
  const std::size_t repeats = argc > 7 ? number(7) : 3;
  openblas_set_num_threads(1);
  std::vector<float> image(shape.c * shape.h * shape.w), filter(shape.c * shape.hf * shape.wf * shape.o);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 251) / 251.0F - 0.5F;
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<float>(i % 127) / 127.0F - 0.5F;
  std::vector<float> out(shape.o * shape.k0() * shape.k1());
  Times best;
  for (std::size_t i = 0; i < repeats; ++i) {
    const Times times = run(shape, image, filter, out);
    best.total = std::min(best.total, times.total);
    best.sgemm = std::min(best.sgemm, times.sgemm);
  }
  std::printf("{\"im2col_sgemm_s\": %.4f, \"sgemm_s\": %.4f, \"gflops\": %.1f, \"sum\": %.6g}\n", best.total,
              best.sgemm, shape.flops() / best.sgemm * 1e-9, static_cast<double>(out[out.size() / 2]));
  return 0;
}
