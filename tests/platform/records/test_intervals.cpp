// Sums by period, by hand.
#include "tilevp/platform/records/intervals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilevp::platform {
namespace {

using testing::ElementsAre;

Record busy(std::uint64_t begin_ps, std::uint64_t length_ps) {
  Record record;
  record.is.initiator = "core0.pe";
  record.is.kind = "instruction";
  record.is.begin_ps = begin_ps;
  record.is.end_ps = begin_ps + length_ps;
  record.is.busy_ps = length_ps;
  return record;
}

Record read(std::uint64_t end_ps, std::uint64_t bytes) {
  Record record;
  record.is.target = "hbm";
  record.is.kind = "read";
  record.is.begin_ps = record.is.end_ps = end_ps;
  record.is.bytes = bytes;
  return record;
}

TEST(Intervals, TimeIsSplitBytesAreNot) {
  Intervals intervals(10);
  intervals.record(busy(8, 14));
  intervals.record(busy(29, 1));
  intervals.record(read(9, 100));
  intervals.record(read(10, 7));
  intervals.record(read(30, 1));  // ends with the run
  intervals.close(30);
  EXPECT_EQ(intervals.rows(), 3u);
  EXPECT_THAT(intervals.column("core0.pe", "busy_ps"), ElementsAre(2, 10, 3));
  EXPECT_THAT(intervals.column("hbm", "bytes_read"), ElementsAre(100, 7, 1));
  EXPECT_THAT(intervals.column("hbm", "bytes_written"), ElementsAre(0, 0, 0));
}

TEST(Intervals, ALongRunDoublesThePeriod) {
  Intervals intervals(1);
  intervals.record(busy(0, 3));
  const std::uint64_t late = 3 * Intervals::most_rows;
  intervals.record(busy(late, 5));
  intervals.close(late + 5);
  EXPECT_EQ(intervals.period_ps(), 4u);
  EXPECT_EQ(intervals.rows(), 3 * Intervals::most_rows / 4 + 2);
  const auto column = intervals.column("core0.pe", "busy_ps");
  EXPECT_EQ(column.front(), 3u);
  EXPECT_EQ(column[column.size() - 2], 4u);
  EXPECT_EQ(column.back(), 1u);
}

TEST(Intervals, WhatFailedOrWasCutOffDoesNotCount) {
  Intervals intervals(10);
  Record failed = read(5, 64);
  failed.is.status = "address_error";
  intervals.record(failed);
  Record cut = busy(5, 20);
  cut.is.status = "in_flight";
  intervals.record(cut);
  intervals.close(10);
  EXPECT_THAT(intervals.column("hbm", "bytes_read"), ElementsAre(0));
  EXPECT_THAT(intervals.column("core0.pe", "busy_ps"), ElementsAre(0));
}

}  // namespace
}  // namespace tilevp::platform
