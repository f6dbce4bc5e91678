#include "tilevp/sc_main/plugins.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/plugin_loader.hpp"
#include "tilevp/sc_main/programs.hpp"

namespace tilevp::command {
namespace {

struct Known {
  platform::PluginRegistry registry{.programs = builtin_programs(), .memories = {}};
  std::vector<std::string> plugins;
};

Known& known() {
  static Known all;
  return all;
}

// The values of the option in words that are not parsed yet.
std::vector<std::string> files_of(Words words, std::string_view option) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with(std::string(option) + "="))
      files.push_back(words[i].substr(option.size() + 1));
    else if (words[i] == option && i + 1 < words.size())
      files.push_back(words[++i]);
  }
  return files;
}

}  // namespace

OptionSpec plugin_option() {
  return {.name = "--plugin",
          .placeholder = "FILE",
          .text = "a shared library with programs and memory models; repeatable",
          .repeatable = true};
}

void load_plugins(Words words) {
  for (const auto& file : files_of(words, plugin_option().name)) {
    if (file.empty()) throw UserError("--plugin", "expected a file, found an empty name");
    platform::load_plugin(file, known().registry);
    known().plugins.push_back(file);
  }
}

const runtime::ProgramRegistry& programs() { return known().registry.programs; }
const platform::MemoryModels& memory_models() { return known().registry.memories; }
const std::vector<std::string>& plugins() { return known().plugins; }

}  // namespace tilevp::command
