#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tilevp/platform/performance.hpp"

namespace tilevp::platform {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr StatisticDefinition busy_cycles{"busy_cycles", "cycles", "."};
constexpr StatisticDefinition busy_ps{"busy_ps", "ps", "."};
constexpr StatisticDefinition instructions{"instructions", "1", "."};
constexpr StatisticDefinition stalled_bank{"stalled_psum_bank_cycles", "cycles", "."};
constexpr StatisticDefinition stalled_port{"stalled_port_cycles", "cycles", "."};
constexpr StatisticDefinition stalled_bank_ps{"stalled_psum_bank_ps", "ps", "."};
constexpr StatisticDefinition bytes_read{"bytes_read", "bytes", "."};
constexpr StatisticDefinition bytes_written{"bytes_written", "bytes", "."};
constexpr StatisticDefinition descriptors{"descriptors", "1", "."};
constexpr StatisticDefinition packets{"packets", "1", "."};
constexpr StatisticDefinition matmuls{"matmuls", "1", "."};

constexpr StatisticDefinition macs{"macs", "1", "."};
constexpr StatisticDefinition row_padding_macs{"row_padding_macs", "1", "."};
constexpr StatisticDefinition step_padding_macs{"step_padding_macs", "1", "."};
constexpr StatisticDefinition waiting_macs{"waiting_macs", "1", "."};

// A machine of 10 us: a PE busy for 4 us, a memory for 6 us, two DMA queues of which one moved nothing.
class Performance : public testing::Test {
 protected:
  void SetUp() override {
    add("core0.pe", busy_cycles, 11'200);
    add("core0.pe", busy_ps, 4'000'000);
    add("core0.pe", instructions, 17);
    add("core0.pe", stalled_bank, 12);
    add("core0.pe", stalled_bank_ps, 4285);
    add("core0.pe", stalled_port, 0);
    add("core0.pe", matmuls, 16);
    add("hbm", bytes_read, 100);
    add("hbm", bytes_written, 50);
    add("hbm", busy_ps, 6'000'000);
    add("core0.dma0.queue1", descriptors, 3);
    add("core0.dma0.queue1", busy_ps, 5'000'000);
    add("core0.dma0.queue2", descriptors, 0);
    report_ = report_with(0, {});
  }
  Report report_with(std::uint64_t kernel_ps, const HostBusy& host_busy) const {
    Report report;
    report.kernel_ps = kernel_ps;
    add_performance(report, statistics_, {ClockDomain("pe", 2'800'000'000)}, 10'000'000, host_busy);
    return report;
  }
  void add(const std::string& path, const StatisticDefinition& definition, std::uint64_t value) {
    counters_.push_back(std::make_unique<Counter>());
    *counters_.back() += value;
    statistics_.add(path, definition, *counters_.back());
  }
  std::vector<std::unique_ptr<Counter>> counters_;
  StatisticsRegistry statistics_;
  Report report_;
};

TEST_F(Performance, Units) {
  ASSERT_EQ(report_.units.size(), 1u);
  const auto& unit = report_.units[0];
  EXPECT_EQ(unit.path, "core0.pe");
  EXPECT_EQ(unit.kind, "pe");
  EXPECT_EQ(unit.clock, "pe");
  EXPECT_EQ(unit.busy_cycles, 11'200u);
  EXPECT_EQ(unit.instructions, 17u);
  EXPECT_EQ(unit.utilisation, 0.4);
  EXPECT_THAT(unit.stalled, ElementsAre(Pair("psum_bank", 12)));
}

TEST_F(Performance, MemoriesAndQueues) {
  ASSERT_EQ(report_.memories.size(), 1u);
  EXPECT_EQ(report_.memories[0].bytes_read, 100u);
  EXPECT_EQ(report_.memories[0].bytes_written, 50u);
  ASSERT_EQ(report_.dma.size(), 1u) << "a queue without work is left out";
  EXPECT_EQ(report_.dma[0].queue, "core0.dma0.queue1");
}

TEST_F(Performance, WhatTheArraysOfACoreDid) {
  EXPECT_TRUE(report_.matrix.empty()) << "a machine without matrix units";
  add("core1", macs, 100);
  add("core1", row_padding_macs, 1500);
  add("core1", step_padding_macs, 400);
  add("core1", waiting_macs, 2000);
  const Report report = report_with(0, {});
  ASSERT_EQ(report.matrix.size(), 1u);
  EXPECT_EQ(report.matrix[0].path, "core1");
  EXPECT_EQ(report.matrix[0].useful_share, 0.025);
  EXPECT_EQ(report.matrix[0].row_padding_share, 0.375);
  EXPECT_EQ(report.matrix[0].step_padding_share, 0.1);
  EXPECT_EQ(report.matrix[0].waiting_share, 0.5);
}

TEST_F(Performance, BoundByTheBusiest) {
  EXPECT_EQ(report_.bound_by, "hbm");
  EXPECT_EQ(report_.busiest_share, 0.6);
}

// 6 us of 10 are busy for the memory, 4 of them for the host.
TEST_F(Performance, WhatAMemoryDidForTheHostDoesNotCount) {
  const auto report = report_with(0, {{"hbm", 4'000'000}});
  EXPECT_EQ(report.busiest, "core0.pe");
  EXPECT_EQ(report.busiest_share, 0.4);
  EXPECT_EQ(report.bound_by, "latency") << "nothing was busy for half of the time";
}

// A kernel of 5 us within the 10: the PE was busy for 4 of them.
TEST_F(Performance, SharesAreOfTheKernelsTime) {
  const auto report = report_with(5'000'000, {{"hbm", 4'000'000}});
  EXPECT_EQ(report.units[0].utilisation, 0.8);
  EXPECT_EQ(report.bound_by, "core0.pe");
}

// Engines busy for 7.5 and 5 us of 10: 6.25 us in the mean, longer than the memory; a third, idle, makes it less.
TEST_F(Performance, UnitsOfAKindCountByTheirMean) {
  add("dma0", packets, 1);
  add("dma0", busy_ps, 7'500'000);
  add("dma1", packets, 1);
  add("dma1", busy_ps, 5'000'000);
  EXPECT_EQ(report_with(0, {}).bound_by, "dma");
  EXPECT_EQ(report_with(0, {}).busiest_share, 0.625);
  add("dma2", packets, 0);
  add("dma2", busy_ps, 0);
  EXPECT_EQ(report_with(0, {}).bound_by, "hbm");
}

TEST_F(Performance, TimeInEveryDomain) {
  EXPECT_EQ(report_.simulated_ps, 10'000'000u);
  ASSERT_EQ(report_.domains.size(), 1u);
  EXPECT_EQ(report_.domains[0].cycles, 28'000u);  // 10 us at 2.8 GHz
  EXPECT_EQ(report_.domains[0].hz, 2.8e9);
}

TEST_F(Performance, EveryFigureHasADefinition) {
  const auto all = figures(statistics_);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(all, [&](const auto& figure) { return figure.definition.name == name; });
  };
  for (const auto* name : {"busy_cycles", "stalled_port_cycles", "utilisation", "bound_by", "simulated_ps", "wall_s"})
    EXPECT_TRUE(has(name)) << name;
}

// One name, two meanings: each block's own words, and blocks of one meaning share a row.
TEST_F(Performance, AFigureIsDefinedForTheBlocksThatCountIt) {
  static constexpr StatisticDefinition queue_busy{"busy_ps", "ps", "Of this queue."};
  add("dma0.queue3", queue_busy, 1);
  std::map<std::string, std::string> rows;
  for (const auto& figure : figures(statistics_))
    if (figure.definition.name == "busy_ps") rows[figure.of] = figure.definition.text;
  EXPECT_EQ(rows.at("queue"), "Of this queue.");
  EXPECT_EQ(rows.size(), 2u) << "the fixture's modules share one definition of busy_ps";
}

}  // namespace
}  // namespace tilevp::platform
