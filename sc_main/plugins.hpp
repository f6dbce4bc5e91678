#pragma once
// `--plugin FILE`, and what the command knows with it.
#include <string>
#include <vector>

#include "tilevp/platform/memory_models.hpp"
#include "tilevp/runtime/program.hpp"
#include "tilevp/sc_main/arguments.hpp"
#include "tilevp/sc_main/command.hpp"

namespace tilevp::command {

OptionSpec plugin_option();

// Loads the plug-ins that the words of a subcommand name. To be called before anything else is read of them: plug-ins
// bring programs, whose options are not known before.
void load_plugins(Words words);

// Built in, and of the plug-ins loaded.
const runtime::ProgramRegistry& programs();
const platform::MemoryModels& memory_models();
// Files of the plug-ins loaded.
const std::vector<std::string>& plugins();

}  // namespace tilevp::command
