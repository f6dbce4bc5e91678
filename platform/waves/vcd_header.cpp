#include <algorithm>
#include <list>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/waves/vcd_signal.hpp"

namespace tilevp::platform {

namespace {

struct Scope {
  std::string name{};
  std::list<Scope> scopes{};
  std::vector<std::size_t> signals{};

  Scope& below(const std::string& part) {
    const auto known = std::ranges::find(scopes, part, &Scope::name);
    return known != scopes.end() ? *known : scopes.emplace_back(Scope{.name = part});
  }
};

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

void append_scope(std::string& out, const Scope& scope, std::span<const VcdSignal> signals) {
  if (!scope.name.empty()) out += "$scope module " + scope.name + " $end\n";
  for (const std::size_t id : scope.signals) {
    const auto& signal = signals[id];
    out += "$var wire " + std::to_string(signal.bits) + ' ' + vcd_code(id) + ' ' + last_part(signal.name);
    if (signal.bits > 1) out += " [" + std::to_string(signal.bits - 1) + ":0]";
    out += " $end\n";
  }
  for (const auto& inner : scope.scopes) append_scope(out, inner, signals);
  if (!scope.name.empty()) out += "$upscope $end\n";
}

}  // namespace

std::string vcd_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '$' || c == '.';
    if (c != ']') result += plain ? c : '_';
  }
  if (result.empty() || result.front() == '.' || result.back() == '.' || result.find("..") != std::string::npos)
    throw Defect("the signal name '" + std::string(name) + "' has an empty part");
  return result;
}

std::string vcd_code(std::size_t id) {
  std::string code;
  for (std::size_t rest = id + 1; rest > 0; rest = (rest - 1) / 94) code += static_cast<char>('!' + (rest - 1) % 94);
  return code;
}

std::string vcd_header(std::span<const VcdSignal> signals) {
  Scope top;
  for (std::size_t id = 0; id < signals.size(); ++id) {
    Scope* scope = &top;
    std::string_view rest = signals[id].name;
    for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      scope = &scope->below(std::string(rest.substr(0, dot)));
      rest.remove_prefix(dot + 1);
    }
    scope->signals.push_back(id);
  }
  // No $date: the same run gives the same bytes.
  std::string out = "$version TileVP $end\n$timescale 1ps $end\n";
  append_scope(out, top, signals);
  return out + "$enddefinitions $end\n";
}

}  // namespace tilevp::platform
