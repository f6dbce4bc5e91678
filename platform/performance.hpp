#pragma once
// The report's `time` and `performance`, from the counters of the models.
#include <vector>

#include "tilevp/base/statistics.hpp"
#include "tilevp/platform/builder.hpp"
#include "tilevp/platform/report.hpp"

namespace tilevp::platform {

// Fills simulated_ps, domains, units, memories, dma and bound_by.
void add_performance(Report& report, const StatisticsRegistry& statistics, const std::vector<ClockDomain>& clocks,
                     std::uint64_t simulated_ps);

// What each figure of the report means: those the models count and those made of them, by name.
std::vector<StatisticDefinition> figures(const StatisticsRegistry& statistics);

}  // namespace tilevp::platform
