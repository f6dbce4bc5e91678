#include "tilevp/platform/waves/gtkw.hpp"

#include <filesystem>

#include "tilevp/base/atomic_file.hpp"

namespace tilevp::platform {

namespace {

// Flags of a GTKWave save file (gtkwave, analyzer.h, TR_*): a hexadecimal number, right-justified values throughout.
constexpr const char* binary_trace = "@28\n";
constexpr const char* decimal_trace = "@24\n";
constexpr const char* hexadecimal_trace = "@22\n";
constexpr const char* group_begin = "@800200\n";
constexpr const char* group_end = "@1000200\n";

const char* radix(SignalKind kind) {
  switch (kind) {
    case SignalKind::count:
      return decimal_trace;
    case SignalKind::code:
      return hexadecimal_trace;
    default:
      return binary_trace;
  }
}

std::string module_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

}  // namespace

std::string gtkw_view(const std::string& vcd_file, std::span<const VcdSignal> signals) {
  std::string out =
      "[*] TileVP\n[dumpfile] \"" + std::filesystem::path(vcd_file).filename().string() + "\"\n[timestart] 0\n";
  std::string module;
  const auto end_group = [&] {
    if (!module.empty()) out += group_end + ("-" + module) + '\n';
  };
  for (const auto& signal : signals) {
    if (const auto next = module_of(signal.name); next != module) {
      end_group();
      module = next;
      if (!module.empty()) out += group_begin + ("-" + module) + '\n';
    }
    out += radix(signal.kind) + signal.name;
    if (signal.bits > 1) out += "[" + std::to_string(signal.bits - 1) + ":0]";
    out += '\n';
  }
  end_group();
  return out;
}

std::string write_gtkw(const std::string& vcd_file, std::span<const VcdSignal> signals) {
  std::string name = std::filesystem::path(vcd_file).replace_extension(".gtkw").string();
  AtomicFile file(name);
  file.write(gtkw_view(vcd_file, signals));
  file.commit();
  return name;
}

}  // namespace tilevp::platform
