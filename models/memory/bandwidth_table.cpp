#include "tilevp/memory/bandwidth_table.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

// ASCII only: what a name is must not depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

std::string port_key(std::int64_t core, std::string_view memory, std::string_view port) {
  return std::to_string(core).append(".").append(memory).append(".").append(port);
}

// "a, b or none" of the names of a list.
template <class List>
std::string names_of(const List& list) {
  std::string names;
  for (const auto& item : list) names += (names.empty() ? "" : ", ") + item.name;
  return names.empty() ? "none" : names;
}

template <class List>
const auto& find_by_name(const List& list, std::string_view name, std::string_view what, const std::string& place) {
  const auto found = std::ranges::find(list, name, [](const auto& item) -> std::string_view { return item.name; });
  if (found == list.end())
    throw UserError(place, "no " + std::string(what) + " " + std::string(name) + "; there is " + names_of(list));
  return *found;
}

std::string physical_name(std::int64_t core, const MemoryDescription& memory, const PortDescription& port) {
  return port.physical.empty() ? port_key(core, memory.name, port.name) : "=" + port.physical;
}

}  // namespace

BandwidthKey parse_bandwidth_key(std::string_view key, std::string_view place) {
  const auto malformed = [&] {
    return UserError(place, "expected <core id> or <core id>.<memory>.<port>, found \"" + std::string(key) + "\"");
  };
  const std::size_t first = key.find('.');
  const std::string_view digits = key.substr(0, first);
  BandwidthKey parsed;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.core);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit) || error != std::errc{} ||
      end != digits.data() + digits.size())
    throw malformed();
  if (first == std::string_view::npos) return parsed;
  const std::string_view rest = key.substr(first + 1);
  const std::size_t second = rest.find('.');
  if (second == std::string_view::npos) throw malformed();
  parsed.memory = rest.substr(0, second);
  parsed.port = rest.substr(second + 1);
  if (!is_word(parsed.memory) || !is_word(parsed.port)) throw malformed();
  return parsed;
}

BandwidthTable::BandwidthTable(const Entries& entries, const std::vector<CoreDescription>& cores,
                               std::string_view place) {
  std::map<std::int64_t, std::string> port_entry_of;  // a port entry of each core that has one
  for (const auto& [text, model] : entries) {
    const std::string where = std::string(place) + "[\"" + text + "\"]";
    const BandwidthKey key = parse_bandwidth_key(text, where);
    const auto core = std::ranges::find(cores, key.core, &CoreDescription::id);
    if (core == cores.end()) throw UserError(where, "there is no core " + std::to_string(key.core));
    std::ranges::move(validate(model, where), std::back_inserter(warnings_));
    if (key.whole_core()) {
      if (!cores_.try_emplace(key.core, model, where).second)
        throw UserError(where, "core " + std::to_string(key.core) + " has an entry already");
    } else {
      add_port_entry(key, model, *core, where);
      port_entry_of.try_emplace(key.core, where);
    }
  }
  for (const auto& [id, where] : port_entry_of)
    if (cores_.contains(id))
      throw UserError(where, "core " + std::to_string(id) + " has an entry for the whole core, so its ports take none");
  for (const CoreDescription& core : cores)
    if (core.models_ports && !cores_.contains(core.id)) fill_ports(core);
}

void BandwidthTable::add_port_entry(const BandwidthKey& key, const BandwidthModel& model, const CoreDescription& core,
                                    const std::string& place) {
  const std::string owner = "core " + std::to_string(key.core);
  if (!core.models_ports) throw UserError(place, owner + " does not model ports; give it one entry for the whole core");
  const auto& memory = find_by_name(core.top_memories, key.memory, owner + " memory", place);
  const auto& port = find_by_name(memory.ports, key.port, owner + " " + key.memory + " port", place);
  const std::string physical = physical_name(key.core, memory, port);
  const auto [known, is_new] = physical_.try_emplace(physical, model);
  if (is_new)
    first_place_.emplace(physical, place);
  else if (!(known->second == model))
    throw UserError(place, "differs from " + first_place_.at(physical) + ", which names the same physical port");
}

void BandwidthTable::fill_ports(const CoreDescription& core) {
  for (const MemoryDescription& memory : core.top_memories)
    for (const PortDescription& port : memory.ports) {
      const std::string key = port_key(core.id, memory.name, port.name);
      const auto entry = physical_.find(physical_name(core.id, memory, port));
      if (entry == physical_.end())
        ports_.try_emplace(key, flat_model(port.width_bits_per_cycle), key + ".width");
      else
        ports_.try_emplace(key, entry->second, first_place_.at(entry->first));
    }
}

const Bandwidth* BandwidthTable::core(std::int64_t id) const {
  const auto found = cores_.find(id);
  return found == cores_.end() ? nullptr : &found->second;
}

const Bandwidth* BandwidthTable::port(std::int64_t core, std::string_view memory, std::string_view port) const {
  if (cores_.contains(core)) return nullptr;
  const std::string key = port_key(core, memory, port);
  const auto found = ports_.find(key);
  if (found == ports_.end()) throw Defect("bandwidth table: no port " + key);
  return &found->second;
}

}  // namespace tilevp::memory
