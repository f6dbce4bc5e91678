#pragma once
// The dozen lines that a run prints at its end.
#include <string>

#include "tilevp/platform/report.hpp"

namespace tilevp::command {

std::string summary_text(const platform::Report& report);

}  // namespace tilevp::command
