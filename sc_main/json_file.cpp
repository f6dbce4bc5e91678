#include "tilevp/sc_main/json_file.hpp"

#include "tilevp/described/document.hpp"
#include "tilevp/platform/report.hpp"

namespace tilevp::command {
namespace {

// What names an element of a report's list.
std::string element_name(const boost::json::value& element, std::size_t index) {
  std::string name;
  if (const auto* object = element.if_object()) {
    for (const std::string_view key : {"path", "name", "queue", "who"})
      if (const auto* value = object->if_contains(key); name.empty() && value != nullptr && value->is_string())
        name = std::string(value->get_string());
    if (const auto* port = object->if_contains("port"); port != nullptr && port->is_string())
      name += ":" + std::string(port->get_string());
  }
  return name.empty() ? std::to_string(index) : name;
}

void collect(std::vector<Leaf>& out, const boost::json::value& value, const std::string& path) {
  if (const auto* object = value.if_object()) {
    for (const auto& [key, member] : *object)
      collect(out, member, path.empty() ? std::string(key) : path + "." + std::string(key));
  } else if (const auto* list = value.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i)
      collect(out, (*list)[i], path + "[" + element_name((*list)[i], i) + "]");
  } else {
    out.push_back({path, described::compact(value)});
  }
}

}  // namespace

boost::json::value read_json_file(const std::string& file) { return described::Document::from_file(file).tree(); }

bool is_report(const boost::json::value& tree) {
  const auto* object = tree.if_object();
  const auto* schema = object == nullptr ? nullptr : object->if_contains("schema");
  return schema != nullptr && schema->is_string() && schema->get_string() == platform::report_schema;
}

std::vector<Leaf> leaves(const boost::json::value& tree) {
  std::vector<Leaf> out;
  collect(out, tree, "");
  return out;
}

}  // namespace tilevp::command
