#pragma once
// The report's `time` and `performance`, from the counters of the models.
#include <map>
#include <string>
#include <vector>

#include "tilevp/base/statistics.hpp"
#include "tilevp/platform/builder.hpp"
#include "tilevp/platform/report.hpp"

namespace tilevp::platform {

// Time that memories were busy for the host, by path.
using HostBusy = std::map<std::string, std::uint64_t, std::less<>>;

// Fills simulated_ps, domains, units, memories, dma and bound_by. Shares are of report.kernel_ps, which is set before:
// units work in it alone, and what memories did for the host does not count.
void add_performance(Report& report, const StatisticsRegistry& statistics, const std::vector<ClockDomain>& clocks,
                     std::uint64_t simulated_ps, const HostBusy& host_busy = {});

// Fills peak_bytes, by_partition and by_bank of the memories that were added before.
void add_occupancy(Report& report, const std::vector<Occupancy>& occupancy);

// What a figure means: one definition for each (block, name), for blocks of one kind may count under a name what others
// count differently.
struct Figure {
  std::string of;  // kinds of the modules that count it, "pe, vector"; "report" where it is made of what they count
  StatisticDefinition definition;
};

// Every figure of the report, by name.
std::vector<Figure> figures(const StatisticsRegistry& statistics);

}  // namespace tilevp::platform
