// The plain-host counterpart of `tilevp run cube/tgemv`: OpenBLAS sgemv on one thread, the matrix in memory.
//
//   gemv_baseline K N     prints the median seconds of one product
#include <cblas.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/bench_clock.hpp"

extern "C" void openblas_set_num_threads(int);

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gemv_baseline K N\n");
    return 2;
  }
  openblas_set_num_threads(1);
  const int k = std::atoi(argv[1]), n = std::atoi(argv[2]);
  const std::vector<float> x(static_cast<std::size_t>(k), 1.5F);
  const std::vector<float> w(static_cast<std::size_t>(k) * static_cast<std::size_t>(n), 0.5F);
  std::vector<float> y(static_cast<std::size_t>(n));
  // Row-major K x N, transposed: y = x . w.
  const auto product = [&] {
    cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1.0F, w.data(), n, x.data(), 1, 0.0F, y.data(), 1);
  };
  std::printf("%.6f\n", tilevp::bench::median_seconds({product}, 9, 1)[0]);
  return 0;
}
