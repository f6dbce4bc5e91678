#pragma once
// A view for GTKWave: what the engines, DMAs and memories do in front, everything else in closed groups, each signal in
// the radix of its kind, codes by the names of their values.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilevp/platform/waves/vcd_signal.hpp"

namespace tilevp::platform {

enum class GtkwContents : std::uint8_t { every_signal, changed_signals };

// What the values of some signals stand for: a "translate filter file" of GTKWave, a line a value.
struct GtkwTable {
  std::string file{};  // "x.gtkw.opcode"
  std::string text{};
};

// The tables that the view of these signals names; signals with the same names of the same width share one.
std::vector<GtkwTable> gtkw_tables(const std::string& vcd_file, std::span<const VcdSignal> signals);

// The text of a save file for `vcd_file`. Files are named without their folder: the view lies beside the waves, and
// GTKWave finds one by the other. Where signals have changed, the activity of the engines (of anything, if no engine
// was active) fills the window.
std::string gtkw_view(const std::string& vcd_file, std::span<const VcdSignal> signals, GtkwContents contents);

// The name of the view: "x.gtkw" beside "x.vcd".
std::string gtkw_file_of(const std::string& vcd_file);

// Writes the view under that name and its tables beside it, over earlier ones. UserError where they cannot be written.
void write_gtkw(const std::string& vcd_file, std::span<const VcdSignal> signals, GtkwContents contents);

}  // namespace tilevp::platform
