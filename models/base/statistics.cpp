#include "tilevp/base/statistics.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp {

void StatisticsRegistry::add(std::string path, const StatisticDefinition& definition, const Counter& counter) {
  entries_.push_back({std::move(path), &definition, &counter});
}

std::vector<StatisticsRegistry::Entry> StatisticsRegistry::all() const {
  std::vector<Entry> entries = entries_;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.path, a.definition->name) < std::tie(b.path, b.definition->name);
  });
  return entries;
}

std::uint64_t StatisticsRegistry::value(std::string_view path, std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.path == path && entry.definition->name == name;
  });
  if (found == entries_.end()) throw Defect("no statistic '" + std::string(name) + "' at '" + std::string(path) + "'");
  return found->counter->value();
}

}  // namespace tilevp
