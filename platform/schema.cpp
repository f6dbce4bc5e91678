#include "tilevp/platform/schema.hpp"

#include <algorithm>
#include <array>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/described/parse.hpp"
#include "tilevp/described/path.hpp"
#include "tilevp/described/text.hpp"

namespace tilevp::platform {

// Made by CMake from docs/schema/report.schema.json.
extern const std::string_view report_schema_text;

namespace {

using boost::json::value;
using described::KeyError;

bool has_type(const value& tree, std::string_view type) {
  if (type == "null") return tree.is_null();
  if (type == "boolean") return tree.is_bool();
  if (type == "string") return tree.is_string();
  if (type == "array") return tree.is_array();
  if (type == "object") return tree.is_object();
  if (type == "integer") return tree.is_int64() || tree.is_uint64();
  if (type == "number") return tree.is_number();
  throw Defect("schema: unknown type '" + std::string(type) + "'");
}

class Validator {
 public:
  explicit Validator(const value& root) : root_(root) {}

  void check(const value& tree, const value& schema_or_ref, const std::string& path) const {
    const auto& schema = resolve(schema_or_ref).as_object();
    check_keywords(schema);
    check_type(tree, schema, path);
    if (tree.is_object()) check_object(tree.get_object(), schema, path);
    if (const auto* items = schema.if_contains("items"); items != nullptr && tree.is_array())
      for (std::size_t i = 0; i < tree.get_array().size(); ++i)
        check(tree.get_array()[i], *items, described::path_to_index(path, i));
  }

 private:
  static void check_keywords(const boost::json::object& schema) {
    constexpr std::array<std::string_view, 13> known{
        "$schema",    "$id",      "$defs", "title",   "description",         "type", "enum", "const",
        "properties", "required", "items", "minimum", "additionalProperties"};
    for (const auto& [key, member] : schema)
      if (std::ranges::find(known, std::string_view(key)) == known.end())
        throw Defect("schema: unknown keyword '" + std::string(key) + "'");
  }

  const value& resolve(const value& schema) const {
    const auto* ref = schema.as_object().if_contains("$ref");
    if (ref == nullptr) return schema;
    constexpr std::string_view prefix = "#/$defs/";
    const std::string_view target = ref->as_string();
    if (!target.starts_with(prefix)) throw Defect("schema: $ref must point into $defs");
    return root_.as_object().at("$defs").as_object().at(target.substr(prefix.size()));
  }

  static void check_type(const value& tree, const boost::json::object& schema, const std::string& path) {
    if (const auto* type = schema.if_contains("type")) {
      const auto fits = [&](const value& name) { return has_type(tree, std::string_view(name.as_string())); };
      const bool good = type->is_array() ? std::ranges::any_of(type->get_array(), fits) : fits(*type);
      if (!good) throw KeyError(path, "expected " + described::compact(*type) + ", found " + described::found(tree));
    }
    if (const auto* choices = schema.if_contains("enum");
        choices != nullptr && std::ranges::find(choices->as_array(), tree) == choices->as_array().end())
      throw KeyError(path, "expected one of " + described::compact(*choices) + ", found " + described::found(tree));
    if (const auto* wanted = schema.if_contains("const"); wanted != nullptr && *wanted != tree)
      throw KeyError(path, "expected " + described::compact(*wanted) + ", found " + described::found(tree));
    if (const auto* minimum = schema.if_contains("minimum");
        minimum != nullptr && tree.is_number() && tree.to_number<double>() < minimum->to_number<double>())
      throw KeyError(path, "expected at least " + described::compact(*minimum) + ", found " + described::found(tree));
  }

  void check_object(const boost::json::object& tree, const boost::json::object& schema, const std::string& path) const {
    static const boost::json::object none;
    const auto* properties = schema.if_contains("properties");
    const auto& known = properties == nullptr ? none : properties->get_object();
    if (const auto* required = schema.if_contains("required"))
      for (const auto& name : required->as_array())
        if (!tree.contains(name.as_string()))
          throw KeyError(path, "lacks the key '" + std::string(name.as_string()) + "'");
    const auto* others = schema.if_contains("additionalProperties");
    for (const auto& [key, member] : tree) {
      const std::string name(key);
      const auto member_path = described::path_to_key(path, name);
      if (const auto* property = known.if_contains(key))
        check(member, *property, member_path);
      else if (others != nullptr && others->is_object())
        check(member, *others, member_path);
      else if (others != nullptr && !others->as_bool())
        refuse(known, name, path);
    }
  }

  [[noreturn]] static void refuse(const boost::json::object& known, const std::string& name, const std::string& path) {
    std::vector<std::string> names;
    for (const auto& [key, member] : known) names.emplace_back(key);
    throw KeyError(described::path_to_key(path, name),
                   "unknown key" + described::nearest_hint(name, names, path.empty() ? "" : path + "."));
  }

  const value& root_;
};

}  // namespace

void validate(const value& tree, const value& schema, const std::string& file) {
  try {
    Validator(schema).check(tree, schema, "");
  } catch (const KeyError& error) {
    throw UserError(error.path().empty() ? file : file + ": " + error.path(), error.problem());
  }
}

const value& report_schema_json() {
  static const value schema = described::parse("report.schema.json", report_schema_text).tree;
  return schema;
}

void check_report(const value& tree, const std::string& file) { validate(tree, report_schema_json(), file); }

}  // namespace tilevp::platform
