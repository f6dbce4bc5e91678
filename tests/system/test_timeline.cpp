// The timeline: its slices against the report, arrows, counters, the cap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "support/timeline_reader.hpp"
#include "system/command_runner.hpp"
#include "system/report_values.hpp"

namespace tilevp::test {
namespace {

using boost::json::value;
using testing::HasSubstr;
const std::vector<std::string> conv{"run",       "conv2d",  "--shape",  "1,144,12,10", "--filter", "40,3,3",
                                    "--padding", "1,1,1,1", "--random", "integers",    "-q"};

std::vector<std::string> with(std::vector<std::string> words, std::vector<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Timeline : public testing::Test {
 protected:
  void SetUp() override {
    const auto result = tilevp(with(conv, {"--timeline", folder / "t.json", "--report", folder / "r.json"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    report = boost::json::parse(read_file(folder / "r.json"));
    file = TimelineFile::parse(read_file(folder / "t.json"));
    for (const auto& domain : report.at("time").at("domains").as_array())
      hz[text(domain.at("name"))] = number(domain.at("hz"));
  }

  const Folder folder;
  value report;
  TimelineFile file;
  std::map<std::string, std::uint64_t> hz;
};

TEST_F(Timeline, SlicesOfOneTrackDoNotOverlap) {
  std::map<unsigned, std::vector<std::pair<std::uint64_t, std::uint64_t>>> threads;
  for (const auto& slice : file.slices) threads[slice.thread].emplace_back(slice.begin_ps, slice.end_ps);
  EXPECT_GT(threads.size(), 40u);
  for (auto& [thread, slices] : threads) {
    std::ranges::sort(slices);
    for (std::size_t i = 1; i < slices.size(); ++i)
      ASSERT_LE(slices[i - 1].second, slices[i].first) << "thread " << thread;
  }
}

TEST_F(Timeline, BusyTimesAndCountsAreThoseOfTheReport) {
  const auto& performance = report.at("performance");
  for (const auto& unit : performance.at("units").as_array()) {
    const std::string path = text(unit.at("path"));
    const std::uint64_t clock = hz.at(text(unit.at("clock")));
    const auto slices = file.of(path);
    std::uint64_t cycles = 0, busy_ps = 0;
    for (const auto* slice : slices) {
      cycles += edge(slice->end_ps, clock) - edge(slice->begin_ps, clock);
      busy_ps += slice->number("busy_ps");
      const std::uint64_t length = slice->end_ps - slice->begin_ps;
      EXPECT_LE(std::max(length, slice->number("busy_ps")) - std::min(length, slice->number("busy_ps")), 1u);
    }
    const bool dma = text(unit.at("kind")) == "dma";
    EXPECT_EQ(dma ? edge(busy_ps, clock) : cycles, number(unit.at("busy_cycles"))) << path;
    EXPECT_EQ(slices.size() + file.of(path + " sequencer").size(), number(unit.at("instructions"))) << path;
  }
  for (const auto& queue : performance.at("dma").as_array())
    EXPECT_EQ(file.of(text(queue.at("queue"))).size(), number(queue.at("descriptors")));
  std::uint64_t hbm_ps = 0;
  for (const auto* slice : file.of("hbm")) hbm_ps += slice->number("busy_ps");
  EXPECT_EQ(hbm_ps, number(performance.at("memories").at(2).at("busy_ps")));
}

TEST_F(Timeline, ArrowsLeadFromSliceToSliceAlongTheWork) {
  EXPECT_EQ(file.loose_ends, 0u);
  std::map<std::string, std::size_t> ways;
  const auto kind = [](const TimelineSlice& slice) {
    return slice.process == "dma" ? slice.process : slice.track.substr(slice.track.find('.') + 1);
  };
  for (const auto& [number, arrow] : file.arrows) {
    const auto* const from = file.at(arrow.from_thread, arrow.leaves_ps);
    const auto* const to = file.at(arrow.to_thread, arrow.arrives_ps);
    ASSERT_TRUE(from != nullptr && to != nullptr) << "arrow " << number;
    EXPECT_EQ(to->begin_ps, arrow.arrives_ps);
    EXPECT_LE(from->end_ps, to->begin_ps);
    ++ways[kind(*from) + " -> " + kind(*to)];
  }
  EXPECT_GT(ways["dma -> pe"], 0u);
  EXPECT_GT(ways["pe -> vector"], 0u);
  EXPECT_GT(ways["vector -> dma"], 0u) << testing::PrintToString(ways);
}

TEST_F(Timeline, CountersRiseAndFallToZero) {
  const auto& in_flight = file.counters.at("DMA bytes in flight");
  EXPECT_TRUE(std::ranges::all_of(in_flight, [](const auto& point) { return point.second >= 0; }));
  EXPECT_EQ(in_flight.back().second, 0);
  std::size_t queues = 0;
  for (const auto& [name, points] : file.counters) {
    EXPECT_TRUE(std::ranges::is_sorted(points)) << name;
    if (!name.ends_with(" depth")) continue;
    ++queues;
    EXPECT_EQ(points.back().second, 0) << name;
  }
  EXPECT_EQ(queues, report.at("performance").at("dma").as_array().size());
  const auto& banks = file.counters.at("core0.psum open_banks");
  EXPECT_LE(std::ranges::max(banks, {}, [](const auto& point) { return point.second; }).second, 8);
  EXPECT_EQ(banks.back().second, 0);
  // Means over 1 us.
  double bytes = 0;
  for (const auto& [time, rate] : file.counters.at("hbm bytes/ns")) bytes += rate * 1000;
  const auto& hbm = report.at("performance").at("memories").at(2);
  EXPECT_NEAR(bytes, static_cast<double>(number(hbm.at("bytes_read")) + number(hbm.at("bytes_written"))), 0.5);
}

TEST_F(Timeline, CompressedItIsTheSame) {
  const auto result = tilevp(with(conv, {"--timeline", folder / "t.json.gz"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto plain = run_command({"/bin/gzip", "-dc", folder / "t.json.gz"});
  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_TRUE(plain.out == read_file(folder / "t.json"));
}

TEST_F(Timeline, TheCapIsMarkedAndReported) {
  const auto result = tilevp({"run", "conv2d", "--shape", "1,144,12,10", "--filter", "40,3,3", "--timeline-cap", "500",
                              "--timeline", folder / "short.json", "--report", folder / "short.r.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto cut = TimelineFile::parse(read_file(folder / "short.json"));
  EXPECT_TRUE(cut.truncated);
  EXPECT_FALSE(file.truncated);
  EXPECT_LE(cut.events, 500u);
  EXPECT_GT(cut.events, 490u);
  EXPECT_EQ(cut.loose_ends, 0u);
  const std::string warning = "is truncated at 500 events (--timeline-cap)";
  EXPECT_THAT(result.err, HasSubstr(warning));
  EXPECT_THAT(text(boost::json::parse(read_file(folder / "short.r.json")).at("warnings").at(0)), HasSubstr(warning));
}

}  // namespace
}  // namespace tilevp::test
