// A VCD file as `tilevp waves` reads it: the summary of what is accepted adds up.
#include <sstream>

#include "fuzz/target.hpp"
#include "tilevp/platform/waves/vcd_summary.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilevp;
  fuzz::accepted([&] {
    std::istringstream stream{std::string(fuzz::as_text(data, size))};
    const auto summary = platform::summarise_vcd(stream, "input.vcd");
    fuzz::require(summary.begin <= summary.end, "time goes forward");
    for (const auto& signal : summary.signals) {
      fuzz::require(signal.high <= summary.end - summary.begin, "a signal is high for no longer than the file is");
      fuzz::require(signal.changes == 0 || signal.first <= signal.last, "the last change is not before the first");
      fuzz::require(signal.pulses <= signal.changes + 1, "a pulse is a change");
    }
  });
  return 0;
}
