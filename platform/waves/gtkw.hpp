#pragma once
// A view for GTKWave: what the engines, DMAs and memories do in front, everything else in closed groups, each signal in
// the radix of its kind.
#include <cstdint>
#include <span>
#include <string>

#include "tilevp/platform/waves/vcd_signal.hpp"

namespace tilevp::platform {

enum class GtkwContents : std::uint8_t { every_signal, changed_signals };

// The text of a save file for `vcd_file`. Files are named without their folder: the view lies beside the waves, and
// GTKWave finds one by the other. Where signals have changed, the activity of the engines (of anything, if no engine
// was active) fills the window.
std::string gtkw_view(const std::string& vcd_file, std::span<const VcdSignal> signals, GtkwContents contents);

// The name of the view: "x.gtkw" beside "x.vcd".
std::string gtkw_file_of(const std::string& vcd_file);

// Writes the view under that name, over an earlier one. UserError where it cannot be written.
void write_gtkw(const std::string& vcd_file, std::span<const VcdSignal> signals, GtkwContents contents);

}  // namespace tilevp::platform
