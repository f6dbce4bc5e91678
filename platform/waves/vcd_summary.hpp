#pragma once
// `tilevp waves`: what each signal of a VCD file does.
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace tilevp::platform {

struct SignalSummary {
  std::string name{};
  unsigned bits = 0;
  std::uint64_t changes = 0;  // to another value than before; the first value is none
  std::uint64_t first = 0;    // times of the first and the last of them, in ticks
  std::uint64_t last = 0;
  // Of signals of one bit: ticks at 1 up to the end of the file, and how often it came to 1.
  std::uint64_t high = 0;
  std::uint64_t pulses = 0;
};

struct VcdSummary {
  unsigned tick_count = 1;  // a tick is tick_count * 10^tick_exponent seconds
  int tick_exponent = -9;   // IEEE 1364 knows no default; tools take 1 ns
  std::uint64_t begin = 0;  // first and last time of the file, in ticks
  std::uint64_t end = 0;
  std::vector<SignalSummary> signals{};  // one a name, in the file's order
};

// UserError as parse_vcd.
VcdSummary summarise_vcd(std::istream& stream, const std::string& name);

}  // namespace tilevp::platform
