#include "tilevp/platform/waves/selector.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"

namespace tilevp::platform {

namespace {

constexpr std::size_t names_suggested = 3;

std::string_view without_mark(std::string_view pattern) {
  return pattern.starts_with('!') ? pattern.substr(1) : pattern;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (glob_match(pattern, name)) return true;
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos && matches(pattern, name.substr(0, dot));
}

[[noreturn]] void refuse(const std::string& pattern, std::span<const std::string> names) {
  const auto near = described::nearest_to_glob(without_mark(pattern), names, names_suggested);
  throw UserError("--trace '" + pattern + "'", near.empty() ? "matches nothing; there are no probes"
                                                            : "matches nothing; nearest are " + described::join(near));
}

}  // namespace

// On a mismatch the last `*` takes one character more.
bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Selector::Selector(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {
  for (const auto& pattern : patterns_)
    if (without_mark(pattern).empty()) throw UserError("--trace '" + pattern + "'", "expected a pattern");
}

std::vector<bool> Selector::select(std::span<const std::string> names) const {
  std::vector<bool> selected(names.size(), patterns_.empty() || patterns_.front().starts_with('!'));
  for (const auto& pattern : patterns_) {
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!matches(without_mark(pattern), names[i])) continue;
      selected[i] = !pattern.starts_with('!');
      any = true;
    }
    if (!any) refuse(pattern, names);
  }
  return selected;
}

}  // namespace tilevp::platform
