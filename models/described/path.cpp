#include "tilevp/described/path.hpp"

#include <algorithm>
#include <charconv>

namespace tilevp::described {

namespace {

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '/' || c == '+';
}

// Takes `["quoted key"]` or `[12]` off the front of `rest`.
Step take_bracket(std::string_view& rest, const std::string& where) {
  if (rest.starts_with("[\"")) {
    std::string key;
    std::size_t i = 2;
    for (; i < rest.size() && rest[i] != '"'; ++i) {
      if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
      key += rest[i];
    }
    if (!rest.substr(i).starts_with("\"]")) throw UserError(where, "a '[\"' without its '\"]'");
    rest.remove_prefix(i + 2);
    return key;
  }
  const auto close = rest.find(']');
  if (close == std::string_view::npos) throw UserError(where, "a '[' without its ']'");
  const auto digits = rest.substr(1, close - 1);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw UserError(where, "expected an index in '[]', found '" + std::string(digits) + "'");
  rest.remove_prefix(close + 1);
  return index;
}

}  // namespace

std::string path_to_key(const std::string& path, std::string_view key) {
  if (!key.empty() && std::ranges::all_of(key, plain)) {
    std::string result = path;
    if (!result.empty()) result += '.';
    return result.append(key);
  }
  std::string result = path + "[\"";
  for (const char c : key) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"]";
}

std::string path_to_index(const std::string& path, std::size_t index) {
  return path + '[' + std::to_string(index) + ']';
}

std::vector<Step> parse_path(std::string_view path, const std::string& where) {
  std::vector<Step> steps;
  std::string_view rest = path;
  while (!rest.empty()) {
    if (rest.front() == '[') {
      steps.push_back(take_bracket(rest, where));
      continue;
    }
    if (!steps.empty()) {
      if (rest.front() != '.') throw UserError(where, "expected '.' or '[' before '" + std::string(rest) + "'");
      rest.remove_prefix(1);
    }
    const std::string key(rest.substr(0, std::min(rest.find('.'), rest.find('['))));
    if (key.empty()) throw UserError(where, "an empty key in the path");
    steps.emplace_back(key);
    rest.remove_prefix(key.size());
  }
  if (steps.empty()) throw UserError(where, "an empty path");
  return steps;
}

bool path_within(std::string_view path, std::string_view root) {
  if (!path.starts_with(root)) return false;
  return path.size() == root.size() || path[root.size()] == '.' || path[root.size()] == '[';
}

}  // namespace tilevp::described
