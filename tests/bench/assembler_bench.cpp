// Megabytes of text a second of the CUBE core's assembler and disassembler.
#include <cstdio>
#include <string>

#include "bench/bench_clock.hpp"
#include "tilevp/pto/assembler/text.hpp"

int main() {
  using namespace tilevp::pto;
  const std::string bundle =
      "hl.addi a0, 0x12340, ->x0\n"
      "BSTART.TLOAD FP16\nB.DATR {ND2N8, DTYPE_NONE, Null, 0, Default, 0, 0}\nB.DIM zero, 64, ->LB0\n"
      "C.B.DIMI 64, ->LB1\nB.IOR x0, a5\nB.IOT mask=1000, last, ->U<8KB>\nC.BSTOP\n"
      "BSTART.TGEMV.ACC FP16\nB.FPATR F322F16, ReLU, GroupN=16, RowMaxEn, GroupMaxEn\nB.DIM zero, 64, ->LB1\n"
      "B.IOT M#4, T#2, mask=1000\nB.IOT U#3, mask=1000, last, ->M<4KB>\nBSTOP\n";
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += bundle;
  const auto words = assembler::assemble("bench.s", text);
  const auto seconds = tilevp::bench::median_seconds(
      {[&] { assembler::assemble("bench.s", text); }, [&] { assembler::disassemble(words); }}, 5, 1);
  const double megabytes = static_cast<double>(text.size()) * 1e-6;
  std::printf("  assembled %.1f MB/s, disassembled %.1f MB/s\n", megabytes / seconds[0], megabytes / seconds[1]);
  return 0;
}
