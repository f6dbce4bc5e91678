#include "tilevp/platform/performance.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tilevp::platform {
namespace {

using Values = std::map<std::string, std::uint64_t, std::less<>>;

// The counters of one module, by name.
struct Module {
  std::string path;
  Values values;

  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  std::uint64_t value(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
  }
  // "stalled_psum_bank_cycles" -> "psum_bank", those that are not zero.
  std::map<std::string, std::uint64_t> stalled(std::string_view unit) const {
    constexpr std::string_view prefix = "stalled_";
    std::map<std::string, std::uint64_t> causes;
    for (const auto& [name, count] : values)
      if (count > 0 && name.starts_with(prefix) && name.ends_with(unit))
        causes[name.substr(prefix.size(), name.size() - prefix.size() - unit.size())] = count;
    return causes;
  }
};

// By path.
std::vector<Module> modules(const StatisticsRegistry& statistics) {
  std::vector<Module> result;
  for (const auto& entry : statistics.all()) {
    if (result.empty() || result.back().path != entry.path) result.push_back({entry.path, {}});
    result.back().values[std::string(entry.definition->name)] = entry.counter->value();
  }
  return result;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// "core0.dma3" is of the kind "dma".
std::string kind_of(const std::string& path) {
  const auto name = last_part(path);
  return name.substr(0, name.find_last_not_of("0123456789_") + 1);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A DMA engine counts time; its cycles are those of its clock, its instructions the packets.
UnitReport dma_engine_report(const Module& module, const ClockDomain& clock) {
  UnitReport unit{.path = module.path, .kind = "dma", .clock = clock.name()};
  unit.busy_cycles = clock.cycles_until(module.value("busy_ps"));
  unit.instructions = module.value("packets");
  for (const auto& [cause, time_ps] : module.stalled("_ps")) unit.stalled[cause] = clock.cycles_until(time_ps);
  return unit;
}

UnitReport unit_report(const Module& module, const std::vector<ClockDomain>& clocks, std::uint64_t simulated_ps) {
  const auto kind = kind_of(module.path);
  const auto clock = std::ranges::find(clocks, kind, &ClockDomain::name);
  UnitReport unit;
  if (kind == "dma" && clock != clocks.end()) {
    unit = dma_engine_report(module, *clock);
  } else {
    unit = {.path = module.path,
            .kind = kind,
            .clock = clock == clocks.end() ? "" : kind,
            .busy_cycles = module.value("busy_cycles"),
            .stalled = module.stalled("_cycles"),
            .instructions = module.value("instructions")};
  }
  unit.utilisation = share(module.value("busy_ps"), simulated_ps);
  return unit;
}

MemoryReport memory_report(const Module& module) {
  return {.path = module.path,
          .port = "port",
          .bytes_read = module.value("bytes_read"),
          .bytes_written = module.value("bytes_written"),
          .wasted_bytes = module.value("wasted_bytes"),
          .busy_ps = module.value("busy_ps"),
          .peak_bytes = module.value("peak_bytes"),
          .by_partition = {}};
}

DmaReport dma_report(const Module& module) {
  return {.queue = module.path,
          .descriptors = module.value("descriptors"),
          .runs = module.value("runs"),
          .bursts = module.value("bursts"),
          .bytes = module.value("bytes"),
          .wasted_bytes = module.value("wasted_bytes"),
          .busy_ps = module.value("busy_ps"),
          .stalled = module.stalled("_ps")};
}

// What was busy longest; of equals the first by path.
std::string busiest(const std::vector<Module>& all) {
  const Module* first = nullptr;
  for (const auto& module : all)
    if (module.value("busy_ps") > (first == nullptr ? 0 : first->value("busy_ps"))) first = &module;
  return first == nullptr ? "" : first->path;
}

constexpr std::array made_figures{
    StatisticDefinition{"simulated_ps", "ps", "Simulated time from the start to the end of the run."},
    StatisticDefinition{"cycles", "cycles", "Whole cycles of a clock domain that began within simulated_ps."},
    StatisticDefinition{"utilisation", "1", "busy_ps of a unit over simulated_ps."},
    StatisticDefinition{"bound_by", "", "Path of the unit, memory or DMA queue with the largest busy_ps."},
    StatisticDefinition{"max_ulp", "steps", "Largest distance of a result from its reference, in steps of its type."},
    StatisticDefinition{"max_abs_error", "", "Largest absolute difference between finite results and references."},
    StatisticDefinition{"mismatches", "1", "Results beyond the bound that --check asked for."},
    StatisticDefinition{"wall_s", "s",
                        "Host time of the run, building the platform included. Differs from run to run."},
    StatisticDefinition{"machine_s", "s",
                        "Host time from the host agent's first access to its last. Differs from run to run."},
    StatisticDefinition{"cpu_s", "s", "Processor time of the process, user and system. Differs from run to run."},
    StatisticDefinition{"peak_rss_bytes", "bytes", "Largest resident size of the process. Differs from run to run."},
    StatisticDefinition{"reference_s", "s", "Host time of the plain computation that results were checked with."},
    StatisticDefinition{"ratio", "1", "wall_s over reference_s; 0 where no reference was computed."},
};

}  // namespace

void add_performance(Report& report, const StatisticsRegistry& statistics, const std::vector<ClockDomain>& clocks,
                     std::uint64_t simulated_ps) {
  report.simulated_ps = simulated_ps;
  for (const auto& clock : clocks)
    report.domains.push_back({clock.name(),
                              static_cast<double>(clock.numerator_hz()) / static_cast<double>(clock.denominator()),
                              clock.cycles_until(simulated_ps)});
  const auto all = modules(statistics);
  for (const auto& module : all) {
    if (module.has("descriptors")) {
      if (module.value("descriptors") > 0) report.dma.push_back(dma_report(module));
    } else if (module.has("busy_cycles") || module.has("packets")) {
      report.units.push_back(unit_report(module, clocks, simulated_ps));
    } else if (module.has("bytes_read") && module.has("bytes_written")) {
      report.memories.push_back(memory_report(module));
    }
  }
  report.bound_by = busiest(all);
}

std::vector<StatisticDefinition> figures(const StatisticsRegistry& statistics) {
  // Kinds of modules may count under one name what differs in the details: each text is a figure of its own.
  std::map<std::pair<std::string_view, std::string_view>, StatisticDefinition> distinct;
  const auto add = [&](const StatisticDefinition& definition) {
    distinct.emplace(std::pair(definition.name, definition.text), definition);
  };
  for (const auto& entry : statistics.all()) add(*entry.definition);
  for (const auto& figure : made_figures) add(figure);
  std::vector<StatisticDefinition> result;
  for (const auto& [key, definition] : distinct) result.push_back(definition);
  return result;
}

}  // namespace tilevp::platform
