#pragma once
// The programs of this build, and their options as words of the command line.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/runtime/program.hpp"
#include "tilevp/sc_main/arguments.hpp"

namespace tilevp::command {

const runtime::ProgramRegistry& programs();

std::vector<OptionSpec> option_specs(const runtime::Program& program);

// The program's options among `arguments`, by name without dashes; a flag that was given has the value "true".
std::map<std::string, std::string, std::less<>> given_options(const runtime::Program& program,
                                                              const Arguments& arguments);
// Those, with the defaults of the others.
runtime::OptionValues option_values(const runtime::Program& program, const Arguments& arguments);

}  // namespace tilevp::command
