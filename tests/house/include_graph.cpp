#include "house/include_graph.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "house/text.hpp"

namespace tilevp::house {
namespace {

struct Include {
  std::string name;  // between the quotes or angle brackets
  bool quoted = false;
};

std::vector<Include> includes_of(const std::string& text) {
  std::vector<Include> found;
  for (const auto& match : matches(text, R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">])"))
    found.push_back({match[2], match[1] == "\""});
  return found;
}

// "models/base" of "models/base/errors.hpp"; "platform" and "sc_main" are one folder each, whatever lies below.
std::string folder_of(const std::string& path) {
  const auto first = path.find('/');
  std::string top = path.substr(0, first);
  if (top == "platform" || top == "sc_main") return top;
  return path.substr(0, path.find('/', first + 1));
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// The file that "tilevp/base/errors.hpp" names: include names leave out "models", and may leave out "firmware".
std::optional<std::string> resolve(const std::string& name, const SourceTree& sources) {
  const std::string rest = name.substr(std::string_view("tilevp/").size());
  for (const std::string& path : {"models/" + rest, "firmware/" + rest, rest})
    if (sources.contains(path)) return path;
  return std::nullopt;
}

bool is_systemc(const Include& include) {
  static const std::set<std::string_view> headers = {"systemc", "systemc.h", "tlm", "tlm.h"};
  return headers.contains(include.name) || include.name.starts_with("tlm_utils/") || include.name.starts_with("sysc/");
}

// What of the models a program may know: the machine's own description for programmers, and vocabulary that is no
// hardware.
bool is_programmers_header(const std::string& path) {
  static const std::set<std::string> files = {"isa.hpp",     "registers.hpp",  "rules.hpp",         "prequant.hpp",
                                              "element.hpp", "descriptor.hpp", "access_pattern.hpp"};
  for (const auto* vocabulary : {"models/base", "models/numeric", "models/described"})
    if (is_below(path, vocabulary)) return true;
  return is_below(path, "models") && files.contains(std::filesystem::path(path).filename().string());
}

// The rule that an include of `to` in `from` breaks; empty when it is allowed.
std::string broken_rule(const std::string& from, const std::string& to) {
  const bool to_models = is_below(to, "models");
  const bool to_firmware = is_below(to, "firmware");
  if (is_below(from, "models")) return to_models ? "" : "models know only models";
  if (is_below(from, "firmware")) {
    if (to_firmware || (to_models && is_programmers_header(to))) return "";
    return to_models ? "of models, firmware knows only the programmer's headers"
                     : "firmware knows only firmware and models";
  }
  if (is_below(from, "platform")) {
    if (is_below(to, "platform") || to_models || is_below(to, "firmware/runtime")) return "";
    return "platform knows models and firmware/runtime";
  }
  if (to_models && !is_programmers_header(to)) return "of models, sc_main knows only the programmer's headers";
  return "";
}

// How `path` reaches SystemC, "a.hpp -> b.hpp -> <systemc>"; empty when it does not. `seen` holds the files already
// searched.
std::string way_to_systemc(const std::string& path, const SourceTree& sources, std::set<std::string>& seen) {
  if (!seen.insert(path).second) return "";
  for (const auto& include : includes_of(sources.at(path))) {
    if (is_systemc(include)) return path + " -> <" + include.name + ">";
    if (!include.name.starts_with("tilevp/")) continue;
    const auto next = resolve(include.name, sources);
    if (!next) continue;
    const std::string way = way_to_systemc(*next, sources, seen);
    if (!way.empty()) return path + " -> " + way;
  }
  return "";
}

using FolderGraph = std::map<std::string, std::set<std::string>>;

// A cycle that starts and ends at `start`, "a -> b -> a"; empty when there is none.
std::string cycle_from(const std::string& start, const std::string& at, const FolderGraph& graph,
                       std::set<std::string>& seen) {
  const auto found = graph.find(at);
  if (found == graph.end()) return "";
  for (const auto& next : found->second) {
    if (next == start) return at + " -> " + next;
    if (!seen.insert(next).second) continue;
    const std::string rest = cycle_from(start, next, graph, seen);
    if (!rest.empty()) return at + " -> " + rest;
  }
  return "";
}

}  // namespace

SourceTree read_sources(const std::string& root) {
  static const std::set<std::string> suffixes = {".hpp", ".cpp", ".h", ".inc"};
  SourceTree sources;
  for (const auto* top : {"models", "firmware", "platform", "sc_main"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(root) / top)) {
      if (!suffixes.contains(entry.path().extension().string())) continue;
      sources[std::filesystem::relative(entry.path(), root).generic_string()] = read(entry.path());
    }
  return sources;
}

std::vector<std::string> include_violations(const SourceTree& sources) {
  std::vector<std::string> violations;
  FolderGraph graph;
  for (const auto& [path, text] : sources) {
    for (const auto& include : includes_of(text)) {
      const auto report = [&, &file = path](const std::string& rule) {
        violations.push_back(file + ": includes " + include.name + ": " + rule);
      };
      if (!include.name.starts_with("tilevp/")) {
        if (include.quoted) report("project headers are included as \"tilevp/FOLDER/FILE\"");
        continue;
      }
      const auto target = resolve(include.name, sources);
      if (!target) {
        report("there is no such file");
        continue;
      }
      if (const std::string rule = broken_rule(path, *target); !rule.empty()) report(rule);
      if (folder_of(path) != folder_of(*target)) graph[folder_of(path)].insert(folder_of(*target));
    }
    std::set<std::string> seen;
    if (is_below(path, "firmware"))
      if (const std::string way = way_to_systemc(path, sources, seen); !way.empty())
        violations.push_back(path + ": firmware reaches SystemC: " + way);
  }
  for (const auto& [folder, _] : graph) {
    std::set<std::string> seen;
    if (const std::string cycle = cycle_from(folder, folder, graph, seen); !cycle.empty())
      violations.push_back(folder + ": the folders include each other: " + cycle);
  }
  return violations;
}

}  // namespace tilevp::house
