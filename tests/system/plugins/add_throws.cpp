// Registers a program, then throws.
#include <stdexcept>

#include "tilevp/platform/plugin.hpp"

static void add(tilevp::platform::PluginRegistry& registry) {
  registry.programs.add("plugin/half", nullptr);
  throw std::runtime_error("no licence");
}

const tilevp::platform::Plugin tilevp_plugin = tilevp::platform::make_plugin(add);
