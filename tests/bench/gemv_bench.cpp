// A TGEMV in fp16 on a simulated CUBE core, from operands in its memory to D stored there, beside plain host code of
// the same product in the same process: OpenBLAS sgemv on fp32 copies, and the matrix unit's own loops on an fp16
// matrix that lies in their order.
//
//   gemv_bench [K N [ROUNDS [THREADS [ARITHMETIC]]]]     best of the rounds; CPU time, with two threads wall time
#include <cblas.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <vector>

#include "bench/bench_clock.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/cube/matrix_unit.hpp"
#include "tilevp/platform/builder.hpp"
#include "tilevp/pto/code.hpp"
#include "tilevp/pto/driver.hpp"
#include "tilevp/pto/matmul/emitter.hpp"

extern "C" void openblas_set_num_threads(int);

namespace {

using namespace tilevp;

double best(const std::vector<double>& seconds) { return *std::min_element(seconds.begin(), seconds.end()); }

constexpr std::uint16_t one = 0x3c00, half = 0x3800;  // fp16

std::vector<std::byte> elements(std::uint64_t count, std::uint16_t code) {
  const std::vector<std::uint16_t> codes(count, code);
  const auto bytes = std::as_bytes(std::span(codes));
  return {bytes.begin(), bytes.end()};
}

// By the clock that is asked for: of one thread, what others do on the machine is left out.
using Clock = double (*)();
double seconds_of(Clock clock, const std::function<void()>& action) {
  const double begin = clock();
  action();
  return clock() - begin;
}

// The product in the machine's order, without the machine.
class Plain {
 public:
  Plain(std::uint32_t k, std::uint32_t n)
      : a_(elements(std::uint64_t{16} * k, one)),  // 16 rows to a cell
        b_(elements(std::uint64_t{k} * n, half)),
        d_(std::uint64_t{64} * n) {
    operation_.k = k;
    operation_.n = n;
    operation_.a_type = operation_.b_type = cube::DataType::fp16;
    k_ = k;
  }
  void run() { execute(operation_, {.a = {a_}, .b = {b_, k_}}, {.d = {d_}}); }

 private:
  cube::MatrixOperation operation_;
  std::uint32_t k_ = 0;
  std::vector<std::byte> a_, b_, d_;
};

class Blas {
 public:
  Blas(int k, int n)
      : k_(k),
        n_(n),
        x_(static_cast<std::size_t>(k), 1.0F),
        w_(static_cast<std::size_t>(k) * static_cast<std::size_t>(n), 0.5F),
        y_(static_cast<std::size_t>(n)) {
    openblas_set_num_threads(1);
  }
  // Row-major K x N, transposed: y = x . w.
  void run() { cblas_sgemv(CblasRowMajor, CblasTrans, k_, n_, 1.0F, w_.data(), n_, x_.data(), 1, 0.0F, y_.data(), 1); }

 private:
  int k_, n_;
  std::vector<float> x_, w_, y_;
};

class Simulated {
 public:
  Simulated(runtime::Host& host, std::uint64_t k, std::uint64_t n)
      : host_(host), driver_(host), code_(driver_.machine().absolute_selectors) {
    const auto plan = pto::matmul::make_plan({.gemv = true, .m = 1, .n = n, .k = k}, driver_.machine());
    addresses_ = {.a_stride = 2 * k, .b_stride = 2 * n, .d_stride = 4 * n};
    addresses_.a = driver_.store("A", elements(k, one));
    addresses_.b = driver_.store("B", elements(k * n, half));
    addresses_.d = driver_.allocate("D", 4 * n);
    emit(code_, plan);
    start_ = start_values(plan, addresses_);
    words_ = driver_.allocate("the program", code_.words().size());
  }
  double run(Clock clock) {
    for (const auto& value : start_) driver_.set_gpr(value.gpr, value.value);
    return seconds_of(clock, [&] { driver_.run_at(words_, code_.words()); });
  }
  std::uint64_t bundles() const { return code_.bundles(); }
  float first_of_d() { return host_.read_value<float>(addresses_.d); }

 private:
  runtime::Host& host_;
  pto::Driver driver_;
  pto::Code code_;
  pto::matmul::Addresses addresses_;
  std::vector<pto::matmul::StartValue> start_;
  std::uint64_t words_ = 0;
};

struct Request {
  std::uint32_t k = 4096;
  std::uint32_t n = 4096;
  int rounds = 9;
  unsigned threads = 1;
  bool arithmetic = true;
};

void compare(runtime::Host& host, const Request& request) {
  const Clock clock = request.threads == 1 ? bench::thread_cpu_seconds : bench::wall_seconds;
  Blas blas(static_cast<int>(request.k), static_cast<int>(request.n));
  Plain plain(request.k, request.n);
  Simulated simulated(host, request.k, request.n);
  std::vector<double> seconds[3];
  double first = 0;
  for (int round = 0; round <= request.rounds; ++round) {
    const double of[3] = {seconds_of(clock, [&] { blas.run(); }), seconds_of(clock, [&] { plain.run(); }),
                          simulated.run(clock)};
    if (round == 0) first = of[2];  // it warms up
    for (int i = 0; i < 3 && round > 0; ++i) seconds[i].push_back(of[i]);
  }
  if (request.arithmetic && simulated.first_of_d() != 0.5F * static_cast<float>(request.k))
    throw Defect("the simulated product is wrong");
  const double sgemv = best(seconds[0]), own = best(seconds[1]), core = best(seconds[2]);
  std::printf(
      "sgemv %.2f ms, own loops %.2f ms, simulated core %.2f ms (the first time %.2f ms), %.0f ns a bundle; ratio to "
      "the faster %.1f, to sgemv %.1f\n",
      1e3 * sgemv, 1e3 * own, 1e3 * core, 1e3 * first, 1e9 * core / static_cast<double>(simulated.bundles()),
      core / std::min(sgemv, own), core / sgemv);
}

}  // namespace

int sc_main(int argc, char** argv) {
  Request request;
  const auto number = [&](int i, auto& value) {
    if (argc > i) value = static_cast<std::remove_reference_t<decltype(value)>>(std::atoi(argv[i]));
  };
  number(1, request.k);
  number(2, request.n);
  number(3, request.rounds);
  number(4, request.threads);
  number(5, request.arithmetic);
  const auto loaded = platform::load_description("pto-cube", {});
  platform::Platform machine(loaded.description, {.arithmetic = request.arithmetic, .threads = request.threads});
  machine.run([&](runtime::Host& host) { compare(host, request); });
  return 0;
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  return sc_core::sc_elab_and_sim(argc, argv);
}
