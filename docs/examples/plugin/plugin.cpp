// What `tilevp --plugin example.so` finds here.
#include "tilevp/platform/plugin.hpp"

#include "latency_memory.hpp"
#include "scale_program.hpp"

static void add(tilevp::platform::PluginRegistry& registry) {
  registry.programs.add("example/scale", example::make_scale);
  registry.memories.add<example::LatencyMemory, example::LatencyOptions>("example/latency_memory",
                                                                         "a fixed latency, one port of a fixed rate");
}

const tilevp::platform::Plugin tilevp_plugin = tilevp::platform::make_plugin(add);
