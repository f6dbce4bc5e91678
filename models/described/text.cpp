#include "tilevp/described/text.hpp"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/printable.hpp"

namespace tilevp::described {

namespace json = boost::json;

namespace {

constexpr std::size_t line_width = 100;
constexpr std::size_t longest_found = 60;
constexpr double longest_integer = 1e15;

bool scalar(const json::value& value) { return !value.is_structured(); }

void append_scalar(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      out += std::to_string(value.get_int64());
      break;
    case json::kind::uint64:
      out += std::to_string(value.get_uint64());
      break;
    case json::kind::double_:
      out += number_text(value.get_double());
      break;
    default:
      // Names of files need not be UTF-8, JSON must.
      out += json::serialize(json::string(valid_utf8(value.get_string())));
  }
}

void append_compact(std::string& out, const json::value& value, const char* separator) {
  const char* before = "";
  if (value.is_object()) {
    out += '{';
    for (const auto& [key, member] : value.get_object()) {
      out += before + json::serialize(key) + ':';
      append_compact(out, member, separator);
      before = separator;
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const auto& element : value.get_array()) {
      out += before;
      append_compact(out, element, separator);
      before = separator;
    }
    out += ']';
  } else {
    append_scalar(out, value);
  }
}

void append_pretty(std::string& out, const json::value& value, std::size_t indent);

void append_list(std::string& out, const json::array& list, std::size_t indent) {
  if (std::ranges::all_of(list, scalar)) {
    std::string line;
    append_compact(line, json::value(list), ", ");
    if (indent + line.size() <= line_width) {
      out += line;
      return;
    }
  }
  const char* before = "[\n";
  for (const auto& element : list) {
    out += before + std::string(indent + 2, ' ');
    append_pretty(out, element, indent + 2);
    before = ",\n";
  }
  out += '\n' + std::string(indent, ' ') + ']';
}

void append_pretty(std::string& out, const json::value& value, std::size_t indent) {
  if (value.is_array()) {
    append_list(out, value.get_array(), indent);
  } else if (value.is_object() && !value.get_object().empty()) {
    const char* before = "{\n";
    for (const auto& [key, member] : value.get_object()) {
      out += before + std::string(indent + 2, ' ') + json::serialize(key) + ": ";
      append_pretty(out, member, indent + 2);
      before = ",\n";
    }
    out += '\n' + std::string(indent, ' ') + '}';
  } else {
    append_compact(out, value, ",");
  }
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) throw Defect("a number that is not finite was to be written as JSON");
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";
  // 1400000000 rather than 1.4e+09.
  if (std::abs(value) < longest_integer && std::trunc(value) == value)
    return std::to_string(static_cast<long long>(value));
  std::array<char, 32> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), result.ptr};
}

std::string pretty(const json::value& value) {
  std::string out;
  append_pretty(out, value, 0);
  return out + '\n';
}

std::string compact(const json::value& value) {
  std::string out;
  append_compact(out, value, ",");
  return out;
}

std::string found(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list of " + std::to_string(value.get_array().size());
  std::string text = compact(value);
  if (text.size() > longest_found) text = text.substr(0, longest_found) + "...";
  return text;
}

}  // namespace tilevp::described
