#include "tilevp/platform/performance.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

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

UnitReport unit_report(const Module& module, const std::vector<ClockDomain>& clocks, std::uint64_t window_ps) {
  const auto kind = kind_of(module.path);
  auto clock = std::ranges::find(clocks, kind, &ClockDomain::name);
  if (clock == clocks.end() && clocks.size() == 1) clock = clocks.begin();  // the machine has one clock
  UnitReport unit;
  if (kind == "dma" && clock != clocks.end()) {
    unit = dma_engine_report(module, *clock);
  } else {
    unit = {.path = module.path,
            .kind = kind,
            .clock = clock == clocks.end() ? "" : clock->name(),
            .busy_cycles = module.value("busy_cycles"),
            .stalled = module.stalled("_cycles"),
            .instructions = module.value("instructions")};
  }
  unit.utilisation = share(module.value("busy_ps"), window_ps);
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
          .by_partition = {},
          .by_bank = {}};
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

MatrixReport matrix_report(const Module& module) {
  MatrixReport matrix{.path = module.path,
                      .macs = module.value("macs"),
                      .row_padding_macs = module.value("row_padding_macs"),
                      .step_padding_macs = module.value("step_padding_macs"),
                      .waiting_macs = module.value("waiting_macs")};
  const std::uint64_t all = matrix.macs + matrix.row_padding_macs + matrix.step_padding_macs + matrix.waiting_macs;
  matrix.useful_share = share(matrix.macs, all);
  matrix.row_padding_share = share(matrix.row_padding_macs, all);
  matrix.step_padding_share = share(matrix.step_padding_macs, all);
  matrix.waiting_share = share(matrix.waiting_macs, all);
  return matrix;
}

bool is_queue(const Module& module) { return module.has("descriptors"); }
bool is_unit(const Module& module) { return !is_queue(module) && (module.has("busy_cycles") || module.has("packets")); }

// Busy time under the name it is shown by; units of one kind share one, by their kind.
struct Busy {
  std::string name;
  std::uint64_t busy_ps = 0;
  std::uint64_t units = 0;
};

std::vector<Busy> busy_times(const std::vector<Module>& all, const HostBusy& host_busy) {
  std::map<std::string, Busy> kinds;
  std::vector<Busy> result;
  for (const auto& module : all) {
    if (is_queue(module)) continue;
    const std::uint64_t busy_ps = module.value("busy_ps");
    if (is_unit(module)) {
      auto& kind = kinds[kind_of(module.path)];
      kind.name = kind.units == 0 ? module.path : kind_of(module.path);
      kind.busy_ps += busy_ps;
      ++kind.units;
    } else {
      const auto host = host_busy.find(module.path);
      result.push_back({module.path, busy_ps - (host == host_busy.end() ? 0 : std::min(host->second, busy_ps)), 1});
    }
  }
  for (const auto& [name, kind] : kinds) result.push_back(kind);
  return result;
}

// What was busy for less of the time than this did not bound it: the work waited for one thing after the other.
constexpr double bounding_share = 0.5;

void add_bound(Report& report, const std::vector<Module>& all, const HostBusy& host_busy, std::uint64_t window_ps) {
  for (const auto& busy : busy_times(all, host_busy)) {
    const double busy_share = share(busy.busy_ps, window_ps) / static_cast<double>(busy.units);
    if (busy_share <= report.busiest_share) continue;
    report.busiest = busy.name;
    report.busiest_share = busy_share;
  }
  report.bound_by = report.busiest.empty() || report.busiest_share >= bounding_share ? report.busiest : "latency";
}

constexpr std::array made_figures{
    StatisticDefinition{"simulated_ps", "ps",
                        "Simulated time from the start to the end of the run, the host's accesses included."},
    StatisticDefinition{
        "kernel_ps", "ps",
        "Of simulated_ps, the device's own work: from the first start of an engine to the last interrupt "
        "taken, summed over kernels; 0 where the program does not measure it."},
    StatisticDefinition{"cycles", "cycles", "Whole cycles of a clock domain that began within simulated_ps."},
    StatisticDefinition{"utilisation", "1",
                        "busy_ps of a unit over kernel_ps; over simulated_ps where kernel_ps is 0."},
    StatisticDefinition{
        "bound_by", "",
        "The unit or memory with the largest busy share of kernel_ps (of simulated_ps where that is 0). "
        "Several units of a kind count by their mean, named by the kind; a memory without the time it "
        "served the host. 'latency' where the largest share is below one half: nothing was busy for "
        "half of the kernel."},
    // The report's own.
    StatisticDefinition{"units", "", "A row for each engine of a core and each DMA engine."},
    StatisticDefinition{"memories", "", "A row for each memory."},
    StatisticDefinition{"dma", "", "A row for each DMA queue that ran a descriptor."},
    StatisticDefinition{"matrix", "", "A row for each core with matrix units: what their arrays did while busy."},
    StatisticDefinition{
        "useful_share", "1",
        "macs over what the arrays could have done while bundles occupied them. Times the utilisation of "
        "the units it is the share of their peak that results needed."},
    StatisticDefinition{"row_padding_share", "1", "As useful_share, of row_padding_macs."},
    StatisticDefinition{"step_padding_share", "1", "As useful_share, of step_padding_macs."},
    StatisticDefinition{"waiting_share", "1", "As useful_share, of waiting_macs."},
    StatisticDefinition{"path", "", "Name of the module: `core0.pe`."},
    StatisticDefinition{"kind", "", "Name of the unit without its place and number: `pe`, `dma`."},
    StatisticDefinition{"clock", "", "The clock domain its cycles are of."},
    StatisticDefinition{"queue", "", "Name of the DMA queue: `dma3.queue5`."},
    StatisticDefinition{"port", "", "The port of the memory that the figures are of."},
    StatisticDefinition{"stalled", "cycles",
                        "By cause, those that are not zero: as `stalled_CAUSE_cycles`; of a DMA engine "
                        "`stalled_CAUSE_ps` in cycles of its clock. In `dma` in ps."},
    StatisticDefinition{"peak_bytes", "bytes",
                        "Bytes that held data: those that were written at least once; 0 where not counted."},
    StatisticDefinition{"by_partition", "bytes", "peak_bytes of each partition; empty where there are none."},
    StatisticDefinition{"by_bank", "bytes", "peak_bytes of each bank of PSUM, all partitions together."},
    StatisticDefinition{"intervals", "",
                        "What units and memories did in each period (report.period); null where none was asked for."},
    StatisticDefinition{"period_ps", "ps", "Length of a period of the intervals. Row i begins at i x period_ps."},
    StatisticDefinition{
        "columns", "",
        "What the numbers of a row are: `PATH.FIGURE`. busy_ps over period_ps is the utilisation in the "
        "period; bytes count in the period in which their transaction ends."},
    StatisticDefinition{"rows", "",
                        "A row for each period, a number for each column. A column added up is the figure of the whole "
                        "run."},
    StatisticDefinition{"streams", "", "Empty in this version."},
    StatisticDefinition{"layouts", "", "Empty in this version."},
    StatisticDefinition{"critical_path", "", "Empty in this version."},
    StatisticDefinition{"max_ulp", "steps", "Largest distance of a result from its reference, in steps of its type."},
    StatisticDefinition{"max_abs_error", "", "Largest absolute difference between finite results and references."},
    StatisticDefinition{"mismatches", "1", "Results beyond the bound that --check asked for."},
    StatisticDefinition{"wall_s", "s",
                        "Host time of the run, building the platform included. Differs from run to run."},
    StatisticDefinition{"machine_s", "s",
                        "Host time from the host agent's first write to its last access. Differs from run to run."},
    StatisticDefinition{"cpu_s", "s", "Processor time of the process, user and system. Differs from run to run."},
    StatisticDefinition{"peak_rss_bytes", "bytes", "Largest resident size of the process. Differs from run to run."},
    StatisticDefinition{"reference_s", "s", "Host time of the plain computation that results were checked with."},
    StatisticDefinition{"ratio", "1", "wall_s over reference_s; 0 where no reference was computed."},
};

}  // namespace

void add_performance(Report& report, const StatisticsRegistry& statistics, const std::vector<ClockDomain>& clocks,
                     std::uint64_t simulated_ps, const HostBusy& host_busy) {
  report.simulated_ps = simulated_ps;
  const std::uint64_t window_ps = report.kernel_ps == 0 ? simulated_ps : report.kernel_ps;
  for (const auto& clock : clocks)
    report.domains.push_back({clock.name(),
                              static_cast<double>(clock.numerator_hz()) / static_cast<double>(clock.denominator()),
                              clock.cycles_until(simulated_ps)});
  const auto all = modules(statistics);
  for (const auto& module : all) {
    if (is_queue(module)) {
      if (module.value("descriptors") > 0) report.dma.push_back(dma_report(module));
    } else if (is_unit(module)) {
      report.units.push_back(unit_report(module, clocks, window_ps));
    } else if (module.has("bytes_read") && module.has("bytes_written")) {
      report.memories.push_back(memory_report(module));
    } else if (module.has("row_padding_macs")) {
      report.matrix.push_back(matrix_report(module));
    }
  }
  add_bound(report, all, host_busy, window_ps);
}

void add_occupancy(Report& report, const std::vector<Occupancy>& occupancy) {
  for (const Occupancy& one : occupancy) {
    const auto row = std::ranges::find(report.memories, one.path, &MemoryReport::path);
    if (row == report.memories.end()) continue;
    row->peak_bytes = std::accumulate(one.by_partition.begin(), one.by_partition.end(), std::uint64_t{0});
    row->by_partition = one.by_partition;
    row->by_bank = one.by_bank;
  }
}

std::vector<Figure> figures(const StatisticsRegistry& statistics) {
  std::map<std::pair<std::string_view, std::string_view>, std::set<std::string>> counted;  // (name, text) to kinds
  std::vector<Figure> result;
  for (const auto& figure : made_figures) result.push_back({"report", figure});
  for (const auto& entry : statistics.all()) {
    auto& kinds = counted[{entry.definition->name, entry.definition->text}];
    if (kinds.empty()) result.push_back({"", *entry.definition});
    kinds.insert(kind_of(entry.path));
  }
  for (auto& figure : result)
    for (const auto& kind : counted[{figure.definition.name, figure.definition.text}])
      figure.of += (figure.of.empty() ? "" : ", ") + kind;
  std::ranges::sort(result, {}, [](const Figure& figure) { return std::tie(figure.definition.name, figure.of); });
  return result;
}

}  // namespace tilevp::platform
