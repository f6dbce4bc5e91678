#pragma once
// The programs of this build, and their options as words of the command line.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/runtime/program.hpp"
#include "tilevp/sc_main/arguments.hpp"
#include "tilevp/sc_main/plugins.hpp"

namespace tilevp::command {

// Those of this build alone; programs() (plugins.hpp) has the plug-ins' too.
runtime::ProgramRegistry builtin_programs();

std::vector<OptionSpec> option_specs(const runtime::Program& program);

// The program's options by name without dashes: those among `arguments`, the defaults of the others. A flag that was
// given has the value "true". A first word without a name is the program's positional option, where it has one.
runtime::OptionValues::Texts option_texts(const runtime::Program& program, const Arguments& arguments);
runtime::OptionValues option_values(const runtime::Program& program, const Arguments& arguments);

}  // namespace tilevp::command
