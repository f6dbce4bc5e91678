#include "tilevp/described/overrides.hpp"

#include "tilevp/base/printable.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/described/path.hpp"
#include "tilevp/described/text.hpp"

namespace tilevp::described {

namespace json = boost::json;

namespace {

json::value json_or_string(std::string_view text, const std::string& where) {
  try {
    return parse("", text).tree;
  } catch (const UserError&) {
    if (valid_utf8(text) != text) throw UserError(where, "expected UTF-8, found '" + printable(text) + "'");
    return json::value(json::string_view(text.data(), text.size()));
  }
}

// The '=' after the path; one inside a quoted key is part of the key.
std::size_t find_equals(std::string_view assignment) {
  bool quoted = false;
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    if (quoted && assignment[i] == '\\') {
      ++i;
    } else if (assignment[i] == '"') {
      quoted = !quoted;
    } else if (assignment[i] == '=' && !quoted) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string quoted_path(const std::string& path) { return path.empty() ? "the description" : "'" + path + "'"; }

// One step down from `node`, which stands at `at`; `created` tells whether the member is new.
json::value& step_down(json::value& node, const Step& step, const std::string& at, const std::string& where,
                       bool& created) {
  if (const auto* index = std::get_if<std::size_t>(&step)) {
    if (!node.is_array()) throw UserError(where, quoted_path(at) + " is no list but " + found(node));
    if (*index >= node.get_array().size())
      throw UserError(where,
                      "the list " + quoted_path(at) + " has " + std::to_string(node.get_array().size()) + " elements");
    return node.get_array()[*index];
  }
  if (node.is_null()) {
    node.emplace_object();
    created = true;
  }
  if (!node.is_object()) throw UserError(where, quoted_path(at) + " is no object but " + found(node));
  const auto [member, inserted] = node.get_object().emplace(std::get<std::string>(step), nullptr);
  created = created || inserted;
  return member->value();
}

}  // namespace

Override parse_override(std::string_view assignment) {
  const auto equals = find_equals(assignment);
  const std::string where = "-c " + std::string(assignment);
  if (equals == std::string_view::npos) throw UserError(where, "expected PATH=VALUE");
  Override result{.path = std::string(assignment.substr(0, equals))};
  static_cast<void>(parse_path(result.path, where));
  result.value = json_or_string(assignment.substr(equals + 1), "-c " + result.path);
  return result;
}

void apply(Override& override_, json::value& tree) {
  const std::string where = "-c " + override_.path;
  json::value* node = &tree;
  std::string at;
  override_.root.clear();
  for (const auto& step : parse_path(override_.path, where)) {
    bool created = false;
    const bool was_null = node->is_null();
    json::value& next = step_down(*node, step, at, where, created);
    if (created && was_null && override_.root.empty()) override_.root = at;
    at = std::holds_alternative<std::size_t>(step) ? path_to_index(at, std::get<std::size_t>(step))
                                                   : path_to_key(at, std::get<std::string>(step));
    if (created && override_.root.empty()) override_.root = at;
    node = &next;
  }
  if (override_.root.empty()) override_.root = at;
  *node = override_.value;
}

}  // namespace tilevp::described
