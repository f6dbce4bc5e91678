#pragma once
// Brings a plug-in into the process. It stays there until the process ends: what it registered may be used that long.
#include <string>

#include "tilevp/platform/plugin.hpp"

namespace tilevp::platform {

// Adds what the plug-in registers to `registry`; all of it or nothing. A name without a slash is a file of the working
// directory.
// UserError: the file is missing, is no shared library, lacks the symbol, was built for another version (both are
// named), brings a name that is taken. PluginFailure: its add function threw.
void load_plugin(const std::string& file, PluginRegistry& registry);

}  // namespace tilevp::platform
