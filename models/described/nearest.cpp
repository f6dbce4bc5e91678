#include "tilevp/described/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace tilevp::described {

namespace {

// A suggestion farther off than this, or found by fewer letters, is a guess.
constexpr std::size_t edits_nearby = 3;
constexpr std::size_t letters_of_a_part = 3;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
  return result;
}

}  // namespace

// Optimal string alignment: three rows of the table are alive at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::size_t glob_distance(std::string_view pattern, std::string_view text) {
  std::vector<std::size_t> above(text.size() + 1);
  std::vector<std::size_t> row(text.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char p : pattern) {
    above.swap(row);
    row[0] = above[0] + (p == '*' ? 0 : 1);
    for (std::size_t j = 1; j <= text.size(); ++j) {
      if (p == '*') {
        row[j] = std::min(above[j], row[j - 1]);
      } else {
        const bool same = p == '?' || p == text[j - 1];
        row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      }
    }
  }
  return row[text.size()];
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::string wanted = lower(name);
  const auto best = std::ranges::min_element(
      candidates, {}, [&](const std::string& candidate) { return edit_distance(wanted, lower(candidate)); });
  return best == candidates.end() ? std::string() : *best;
}

std::vector<std::string> nearest_to_glob(std::string_view pattern, std::span<const std::string> candidates,
                                         std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, place in candidates
  for (std::size_t i = 0; i < candidates.size(); ++i) ranked.emplace_back(glob_distance(pattern, candidates[i]), i);
  std::ranges::sort(ranked);
  std::vector<std::string> result;
  for (const auto& [distance, i] : ranked) {
    if (result.size() == count) break;
    result.push_back(candidates[i]);
  }
  return result;
}

std::string nearest_hint(std::string_view name, std::span<const std::string> candidates, std::string_view prefix) {
  if (candidates.empty()) return "; nothing is known here";
  const std::string wanted = lower(name);
  std::string best = nearest(name, candidates);
  const std::size_t edits = edit_distance(wanted, lower(best));
  const std::size_t limit = std::max(edits_nearby, wanted.size() / 3);
  if (edits > limit || (edits > 0 && edits >= wanted.size())) {
    const auto holds = [&](const std::string& candidate) { return lower(candidate).find(wanted) != std::string::npos; };
    const auto whole = wanted.size() < letters_of_a_part ? candidates.end() : std::ranges::find_if(candidates, holds);
    if (whole == candidates.end()) return "";
    best = *whole;
  }
  return "; nearest is '" + std::string(prefix) + best + "'";
}

std::string join(std::span<const std::string> names) {
  std::string result;
  for (const auto& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

}  // namespace tilevp::described
