// `tilevp waves FILE.vcd`.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/waves/selector.hpp"
#include "tilevp/platform/waves/vcd_summary.hpp"
#include "tilevp/sc_main/arguments.hpp"
#include "tilevp/sc_main/command.hpp"

namespace tilevp::command {
namespace {

using platform::SignalSummary;
using platform::VcdSummary;

std::vector<OptionSpec> options() {
  return {{.name = "--summary", .takes = Takes::nothing, .text = "a line for each signal (the default)"},
          {.name = "--trace",
           .placeholder = "GLOB|!GLOB",
           .default_value = "*",
           .text = "signals to show; with ! those not to show; repeatable",
           .repeatable = true},
          {.name = "--help", .takes = Takes::nothing, .text = "this text"}};
}

// With the unit that leaves one to three digits before the point, and digits enough to tell any two ticks of a run.
std::string ticks_text(const VcdSummary& summary, std::uint64_t ticks) {
  constexpr std::array<const char*, 6> units{"fs", "ps", "ns", "us", "ms", "s"};
  if (ticks == 0) return "0";
  long double value = static_cast<long double>(ticks) * summary.tick_count;
  auto unit = static_cast<std::size_t>((summary.tick_exponent + 15) / 3);
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.10Lg %s", value, units[unit]);
  return buffer.data();
}

using Line = std::array<std::string, 7>;  // signal, bits, changes, first, last, high, pulses

std::string high_text(const VcdSummary& summary, const SignalSummary& signal) {
  if (signal.bits != 1 || summary.end == summary.begin) return "-";
  const double share = static_cast<double>(signal.high) / static_cast<double>(summary.end - summary.begin);
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f %%", 100 * share);
  return buffer.data();
}

Line line_of(const VcdSummary& summary, const SignalSummary& signal) {
  const bool changed = signal.changes > 0;
  return {signal.name,
          std::to_string(signal.bits),
          std::to_string(signal.changes),
          changed ? ticks_text(summary, signal.first) : "-",
          changed ? ticks_text(summary, signal.last) : "-",
          high_text(summary, signal),
          signal.bits == 1 ? std::to_string(signal.pulses) : "-"};
}

void print_table(const std::vector<Line>& lines) {
  std::array<std::size_t, std::tuple_size_v<Line>> widths{};
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  for (const auto& line : lines) {
    std::cout << line[0] << std::string(widths[0] - line[0].size(), ' ');
    for (std::size_t i = 1; i < line.size(); ++i)
      std::cout << "  " << std::string(widths[i] - line[i].size(), ' ') << line[i];
    std::cout << "\n";
  }
}

VcdSummary read_summary(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw UserError(file, "expected a VCD file, found a directory");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(file, std::string("cannot read: ") + std::strerror(errno));
  return platform::summarise_vcd(stream, file);
}

void print_summary(const std::string& file, const VcdSummary& summary, const std::vector<std::string>& globs) {
  std::vector<std::string> names;
  for (const auto& signal : summary.signals) names.push_back(signal.name);
  const auto selected = platform::Selector(globs).select(names);
  std::vector<Line> lines{{"signal", "bits", "changes", "first", "last", "high", "pulses"}};
  std::uint64_t changes = 0;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    if (!selected[i]) continue;
    lines.push_back(line_of(summary, summary.signals[i]));
    changes += summary.signals[i].changes;
  }
  const auto count = lines.size() - 1;
  std::cout << file << ": " << ticks_text(summary, summary.begin) << " to " << ticks_text(summary, summary.end) << ", "
            << count << (count == 1 ? " signal" : " signals");
  if (count != summary.signals.size()) std::cout << " of " << summary.signals.size();
  std::cout << ", " << changes << (changes == 1 ? " change\n" : " changes\n");
  print_table(lines);
}

}  // namespace

int waves(Words words) {
  const auto arguments = parse_arguments(words, options(), "tilevp waves");
  if (arguments.has("--help")) {
    std::cout << "usage: tilevp waves FILE.vcd [options]\n\n" << help_lines(options());
    return 0;
  }
  if (arguments.positionals().size() != 1)
    throw UserError("waves", "expected one VCD file, found " + words_text(arguments.positionals().size()));
  const auto& file = arguments.positionals()[0];
  print_summary(file, read_summary(file), arguments.all("--trace"));
  return 0;
}

}  // namespace tilevp::command
