// Instructions a second of a NeuronCore's sequencers with arithmetic off: what the simulation costs beside the numbers.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "bench/bench_clock.hpp"
#include "core_bench.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;

constexpr unsigned count = 200'000;
constexpr unsigned whole_group = matmul_start | matmul_stop;

std::vector<Instruction> repeated(const std::function<Instruction(unsigned)>& make) {
  std::vector<Instruction> stream;
  for (unsigned i = 0; i < count; ++i) stream.push_back(make(i));
  return stream;
}

struct Case {
  const char* name;
  std::function<void(CoreBench&)> program;
};

const Case cases[] = {
    {"nop", [](CoreBench& b) { b.program(Engine::sync, repeated([](unsigned) { return control(Opcode::nop); })); }},
    {"matmul 1x1x1",
     [](CoreBench& b) {
       b.program(Engine::pe, repeated([](unsigned i) { return matmul(1, 1, 1, 0, 64, i % 8, whole_group); }));
     }},
    {"matmul 128x128x444",
     [](CoreBench& b) {
       b.program(Engine::pe, repeated([](unsigned i) { return matmul(128, 128, 444, 0, 4096, i % 8, whole_group); }));
     }},
    {"vector tensor_scalar, SBUF",
     [](CoreBench& b) {
       b.program(Engine::vector, repeated([](unsigned i) {
                   return tensor_scalar(sbuf_tile(0, 16384 + 64 * (i % 64), 8), sbuf_tile(0, 0, 8), 128, AluOp::add, 1);
                 }));
     }},
    {"activation, PSUM",
     [](CoreBench& b) {
       b.program(Engine::scalar, repeated([](unsigned i) {
                   return activation(psum_tile(0, i % 8, 64), sbuf_tile(0, 0, 64), 128, Function::relu);
                 }));
     }},
    {"pe and scalar, one semaphore each way",
     [](CoreBench& b) {
       std::vector<Instruction> pe;
       std::vector<Instruction> scalar;
       for (unsigned i = 0; i < count / 4; ++i) {
         pe.push_back(wait_for(2, static_cast<std::int32_t>(i) - 3));
         pe.push_back(updating(matmul(128, 128, 444, 0, 4096, i % 8, whole_group), 1));
         scalar.push_back(wait_for(1, static_cast<std::int32_t>(i) + 1));
         scalar.push_back(
             updating(activation(sbuf_tile(0, 16384, 444), psum_tile(0, i % 8, 444), 128, Function::copy), 2));
       }
       b.program(Engine::pe, pe);
       b.program(Engine::scalar, scalar);
     }},
};

void run(const Case& one, std::uint64_t quantum_ps) {
  CoreBench bench({.simulation = {.quantum_ps = quantum_ps, .arithmetic = false}, .keep_records = false});
  bench.before = [&] {
    for (unsigned p = 0; p < 128; ++p) bench.write_floats(Space::sbuf, p, 0, std::vector<float>(4096, 1.0F));
  };
  one.program(bench);
  double begin = 0;
  const auto before = bench.before;
  bench.before = [&] {
    before();
    begin = tilevp::bench::thread_cpu_seconds();
  };
  double seconds = 0;
  bench.after = [&] { seconds = tilevp::bench::thread_cpu_seconds() - begin; };
  bench.run();
  std::uint64_t instructions = 0;
  for (unsigned e = 0; e < engines; ++e) instructions += bench.statistic(name(static_cast<Engine>(e)), "instructions");
  std::printf("%-40s quantum %6.1f us  %9.0f instructions/s\n", one.name, static_cast<double>(quantum_ps) / 1e6,
              static_cast<double>(instructions) / seconds);
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
