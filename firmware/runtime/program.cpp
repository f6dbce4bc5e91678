#include "tilevp/runtime/program.hpp"

#include <charconv>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"

namespace tilevp::runtime {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_last_part(std::string_view full, std::string_view part) {
  return full.size() > part.size() && full.ends_with(part) && full[full.size() - part.size() - 1] == '/';
}

}  // namespace

std::string OptionValues::text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "" : found->second;
}

std::vector<std::int64_t> OptionValues::integers(std::string_view name, std::size_t count) const {
  const std::string given = text(name);
  std::vector<std::int64_t> values;
  for (std::size_t at = 0; at <= given.size();) {
    const std::size_t comma = std::min(given.find(',', at), given.size());
    const auto value = whole(std::string_view(given).substr(at, comma - at));
    if (!value) break;
    values.push_back(*value);
    at = comma + 1;
    if (comma == given.size() && values.size() == count) return values;
  }
  std::string like;
  if (const auto known = placeholders_.find(name); known != placeholders_.end()) like = " " + known->second;
  if (like.empty())
    for (std::size_t i = 0; i < count; ++i) like += i == 0 ? " like 1" : ",1";
  throw UserError("--" + std::string(name),
                  "expected " + std::to_string(count) + " integers" + like + ", found " + given);
}

std::int64_t OptionValues::integer(std::string_view name, std::int64_t low, std::int64_t high) const {
  const auto value = whole(text(name));
  if (!value || *value < low || *value > high)
    throw UserError("--" + std::string(name), "expected a whole number from " + std::to_string(low) + " to " +
                                                  std::to_string(high) + ", found " + text(name));
  return *value;
}

void ProgramRegistry::add(std::string name, Factory factory) {
  if (!factories_.emplace(name, std::move(factory)).second) throw Defect("program '" + name + "' is registered twice");
}

std::unique_ptr<Program> ProgramRegistry::make(std::string_view name) const {
  if (const auto found = factories_.find(name); found != factories_.end()) return found->second();
  std::vector<std::string> matches;
  for (const auto& [full, factory] : factories_)
    if (is_last_part(full, name)) matches.push_back(full);
  if (matches.size() == 1) return factories_.find(matches.front())->second();
  if (!matches.empty())
    throw UserError(name, "names " + std::to_string(matches.size()) + " programs: " + described::join(matches));
  // A misspelt last part is nearer to a last part than to a full name.
  std::vector<std::string> candidates = names();
  for (const auto& [full, factory] : factories_) candidates.push_back(full.substr(full.rfind('/') + 1));
  const auto hint = described::nearest_hint(name, candidates);
  throw UserError(name.empty() ? "''" : name,
                  "unknown program" + (hint.empty() ? "; there are " + described::join(names()) : hint));
}

std::vector<std::string> ProgramRegistry::names() const {
  std::vector<std::string> list;
  for (const auto& [name, factory] : factories_) list.push_back(name);
  return list;
}

}  // namespace tilevp::runtime
