#pragma once
// A view for GTKWave: the signals in groups by module, each in the radix of its kind.
#include <span>
#include <string>

#include "tilevp/platform/waves/vcd_signal.hpp"

namespace tilevp::platform {

// The text of a save file for `vcd_file`, which is named without its folder: the view lies beside it.
std::string gtkw_view(const std::string& vcd_file, std::span<const VcdSignal> signals);

// Writes it beside the VCD, as "x.gtkw" for "x.vcd", and returns the name. UserError where it cannot be written.
std::string write_gtkw(const std::string& vcd_file, std::span<const VcdSignal> signals);

}  // namespace tilevp::platform
