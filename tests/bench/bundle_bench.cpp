// Bundles a second of a CUBE core: 1x1 tiles, so what the simulation costs beside the numbers.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "bench/bench_clock.hpp"
#include "cube_bench.hpp"

namespace {

using namespace tilevp::cube;
using namespace tilevp::cube::test;

constexpr unsigned count = 400'000;

struct Case {
  const char* name;
  unsigned pe_mode;
  bool chained;  // each bundle starts from the sum of the one before
};
constexpr Case cases[] = {{"TGEMV 1x1x1, one PE", 1, false},
                          {"TGEMV 1x1x1, four PEs", 7, false},
                          {"TGEMV.ACC 1x1x1, one PE, each from the one before", 1, true}};

Words program_of(const Case& is) {
  Words words;
  words.load(data_address, nd2m16, DataType::fp16, 1, 1, 1, Hand::t, is.pe_mode)
      .load(data_address, nd2n8, DataType::fp16, 1, 1, 1, Hand::u, is.pe_mode)
      .load(data_address + 64, nd2m16, DataType::fp32, 1, 1, 1, Hand::m, is.pe_mode);
  const auto pe_mode = static_cast<std::uint8_t>(is.pe_mode);
  for (unsigned i = 0; i < count; ++i) {
    words.command(BStart{is.chained ? Operation::tgemv_acc : Operation::tgemv, DataType::fp16}).command(BFpatr{});
    const auto hand = is.chained ? Hand::m : Hand::n;
    if (is.chained)
      words.command(BIot{.sources = 2, .source = {32, 0}, .pe_mode = pe_mode})
          .command(BIot{
              .sources = 1, .source = {16, 0}, .last = true, .size_code = 1, .destination = hand, .pe_mode = pe_mode});
    else
      words.command(
          BIot{.sources = 2, .source = {0, 16}, .last = true, .size_code = 1, .destination = hand, .pe_mode = pe_mode});
    words.command(BStop{});
  }
  return words;
}

void run(const Case& is, std::uint64_t quantum_ps) {
  CubeBench bench({.simulation = {.quantum_ps = quantum_ps}, .keep_records = false});
  bench.data(data_address, Bytes(128));
  bench.program(program_of(is));
  double seconds = 0;
  bench.host = [&] {
    const double begin = tilevp::bench::thread_cpu_seconds();
    bench.run_program();
    seconds = tilevp::bench::thread_cpu_seconds() - begin;
  };
  bench.run();
  std::printf("%-52s quantum %4.1f us  %9.0f bundles/s  %6.1f ns simulated a bundle\n", is.name,
              static_cast<double>(quantum_ps) / 1e6, count / seconds,
              static_cast<double>(sc_core::sc_time_stamp().value()) / 1e3 / count);
  std::fflush(stdout);
}

}  // namespace

// SystemC allows one elaboration a process.
int sc_main(int argc, char** argv) {
  const int only = argc > 1 ? std::atoi(argv[1]) : -1;
  int number = 0;
  for (const Case& one : cases)
    for (const std::uint64_t quantum_ps : {std::uint64_t{0}, std::uint64_t{1'000'000}}) {
      if (only >= 0 && only != number++) continue;
      const pid_t child = fork();
      if (child == 0) {
        run(one, quantum_ps);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) return 1;
    }
  return 0;
}

int main(int argc, char** argv) {
  setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
  return sc_core::sc_elab_and_sim(argc, argv);
}
