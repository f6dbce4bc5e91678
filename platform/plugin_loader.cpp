#include "tilevp/platform/plugin_loader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/platform/plugin_guard.hpp"

namespace tilevp::platform {
namespace {

constexpr const char* symbol = "tilevp_plugin";

// The dynamic linker's own words; Boost adds an error number to them that has nothing to do with it.
std::string loader_message(const std::string& path) {
  const char* const text = dlerror();
  std::string message = text == nullptr ? "unknown reason" : text;
  if (message.starts_with(path + ": ")) message.erase(0, path.size() + 2);
  return message;
}

boost::dll::shared_library open(const std::string& file) {
  std::error_code error;
  const auto kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::not_found) throw UserError(file, "there is no such plug-in");
  if (kind != std::filesystem::file_type::regular)
    throw UserError(file, error ? "cannot read: " + error.message() : "is no file, expected a plug-in");
  const std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  dlerror();
  boost::dll::shared_library library;
  library.load(path, error, boost::dll::load_mode::rtld_now);
  if (error) throw UserError(file, "cannot be loaded as a plug-in: " + loader_message(path));
  return library;
}

std::string text_of(std::uint32_t abi, const char* version, const char* build) {
  return std::string(version) + " (plug-in ABI " + std::to_string(abi) + ", " + build + ")";
}

void check_versions(const std::string& file, const Plugin& plugin) {
  if (plugin.magic != plugin_magic)
    throw UserError(file, std::string("is no plug-in: its ") + symbol + " begins with " + hex_text(plugin.magic));
  const std::string found = text_of(plugin.abi, plugin.version, plugin.build);
  const std::string own = text_of(plugin_abi, tool_name.data(), plugin_build);
  if (found != own) throw UserError(file, "was built for " + found + ", this is " + own);
  if (plugin.add == nullptr)
    throw UserError(file, std::string("is no plug-in: its ") + symbol + " has no add function");
}

void refuse_taken(const std::string& file, const std::string& kind, const std::vector<std::string>& names,
                  const std::vector<std::string>& taken) {
  for (const auto& name : names)
    if (std::ranges::find(taken, name) != taken.end())
      throw UserError(file, "brings the " + kind + " '" + name + "', which is there already");
}

// Everything that add registers is the plug-in's, so whatever leaves it is the plug-in's failure.
void fill(const std::string& who, const Plugin& plugin, PluginRegistry& brought) {
  try {
    guarded(who, [&] { plugin.add(brought); });
  } catch (const Error& error) {
    const std::string text = error.what();
    throw PluginFailure(text.starts_with(who) ? text : who + ": " + text);
  }
}

}  // namespace

void load_plugin(const std::string& file, PluginRegistry& registry) {
  // Never destroyed: closing a library while something of it is alive would crash.
  static auto& libraries = *new std::vector<boost::dll::shared_library>;
  libraries.push_back(open(file));
  auto& library = libraries.back();
  if (!library.has(symbol)) throw UserError(file, std::string("is no plug-in: it does not export ") + symbol);
  const Plugin& plugin = library.get<const Plugin>(symbol);
  check_versions(file, plugin);

  const std::string who = "plug-in " + file;
  // Factories refer to it; it lives as long as the library.
  static auto& all = *new std::vector<std::unique_ptr<PluginRegistry>>;
  all.push_back(std::make_unique<PluginRegistry>());
  PluginRegistry& brought = *all.back();
  fill(who, plugin, brought);

  refuse_taken(file, "program", brought.programs.names(), registry.programs.names());
  auto taken = registry.memories.names();
  taken.emplace_back(builtin_memory);
  refuse_taken(file, "memory model", brought.memories.names(), taken);
  for (const auto& name : brought.programs.names())
    registry.programs.add(name, [who, name, &brought] { return guard_program(who, name, brought.programs); });
  for (const auto& name : brought.memories.names())
    registry.memories.add(name, guard_memory(who, name, brought.memories.find(name)));
}

}  // namespace tilevp::platform
