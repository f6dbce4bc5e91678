#pragma once
// A plug-in: a shared library that brings programs and memory models (docs/plugins.md). It exports one C symbol:
//
//   static void add(tilevp::platform::PluginRegistry& registry) { ... }
//   const tilevp::platform::Plugin tilevp_plugin = tilevp::platform::make_plugin(add);
//
// The classes that cross the border are C++: the command refuses a plug-in that was built for another version, or with
// another compiler, Boost or SystemC. The first fields are plain data and stay as they are in every version, so that
// the refusal can name both.
#include <boost/version.hpp>
#include <cstdint>
#include <string_view>
#include <systemc>

#include "tilevp/platform/memory_model.hpp"
#include "tilevp/platform/version.hpp"
#include "tilevp/runtime/program.hpp"

// Text of a macro's value.
#define TILEVP_TEXT_OF(value) #value
#define TILEVP_TEXT(value) TILEVP_TEXT_OF(value)

namespace tilevp::platform {

// What a plug-in fills.
struct PluginRegistry {
  runtime::ProgramRegistry programs{};
  MemoryModels memories{};
};

inline constexpr std::uint64_t plugin_magic = 0x4755'4c50'454c'4954;  // "TILEPLUG"
// Of this header and what it includes; a new one for every change of a class there.
inline constexpr std::uint32_t plugin_abi = 2;

// What the translation unit was built with, as far as the layout of classes depends on it.
inline constexpr const char* plugin_build =
#if defined(__clang__)
    "clang " TILEVP_TEXT(__clang_major__)
#else
    "gcc " TILEVP_TEXT(__GNUC__)
#endif
        ", Boost " BOOST_LIB_VERSION
        ", SystemC " TILEVP_TEXT(SC_VERSION_MAJOR) "." TILEVP_TEXT(SC_VERSION_MINOR) "." TILEVP_TEXT(SC_VERSION_PATCH);

struct Plugin {
  std::uint64_t magic;
  std::uint32_t abi;
  const char* version;  // of TileVP: "tilevp 0.1.0"
  const char* build;
  void (*add)(PluginRegistry&);
};

constexpr Plugin make_plugin(void (*add)(PluginRegistry&)) {
  return {plugin_magic, plugin_abi, tool_name.data(), plugin_build, add};
}

}  // namespace tilevp::platform

extern "C" {
[[gnu::visibility("default")]] extern const tilevp::platform::Plugin tilevp_plugin;
}
