// Lists of transactions and timelines while a run goes on, and however it ends; intervals and wrong input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <csignal>
#include <cstdlib>

#include "support/csv_reader.hpp"
#include "support/timeline_reader.hpp"
#include "system/command_runner.hpp"
#include "system/expect_refused.hpp"
#include "system/pipe_reader.hpp"

namespace tilevp::test {
namespace {

using testing::HasSubstr;

std::uint64_t simulated_ps(const std::string& report) {
  return boost::json::parse(read_file(report)).at("time").at("simulated_ps").to_number<std::uint64_t>();
}

// What was read until `signal` ended the run, and after.
std::string interrupted(const char* option, const std::string& name, int signal, int code, const Folder& folder) {
  const auto pipe = make_pipe(folder, name);
  std::string text;
  const auto result = test_tilevp({"run", "test/endless", "-q", "--report", folder / "r.json", option, pipe},
                                  [&](int child, const std::string&) {
                                    PipeReader reader(pipe);
                                    while (reader.text().size() < 400'000 && reader.read_more()) continue;
                                    kill(child, signal);
                                    reader.read_all();
                                    text = reader.text();
                                  });
  EXPECT_EQ(result.exit_code, code) << result.err;
  return text;
}

TEST(RecordStreaming, ASignalLeavesAWholeTimeline) {
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const Folder folder;
    const auto file = TimelineFile::parse(interrupted("--timeline", "t.json", signal, code, folder));
    EXPECT_GT(file.of("core0.pe").size(), 100u);
    const std::uint64_t end = simulated_ps(folder / "r.json");
    for (const auto& slice : file.slices) EXPECT_LE(slice.begin_ps, end);
  }
}

TEST(RecordStreaming, ASignalLeavesAWholeList) {
  const Folder folder;
  const auto list = CsvFile::parse(interrupted("--transactions", "t.csv", SIGINT, 130, folder));
  const std::uint64_t end = simulated_ps(folder / "r.json");
  EXPECT_GT(list.lines.size(), 1000u);
  for (const auto& line : list.lines) EXPECT_EQ(line["status"] == "in_flight", line.number("end_ps") > end);
}

// The array form may end anywhere.
TEST(RecordStreaming, AKilledRunLeavesWhatWasFlushed) {
  const Folder folder;
  const auto file = TimelineFile::parse_cut(interrupted("--timeline", "t.json", SIGKILL, 128 + SIGKILL, folder));
  EXPECT_GT(file.of("core0.pe").size(), 100u);
}

TEST(RecordStreaming, EveryEndClosesTheFiles) {
  const std::pair<const char*, int> ends[] = {
      {"test/good", 0}, {"test/wrong", 1}, {"test/free-size", 3}, {"test/deadlock", 4}, {"test/defect", 5}};
  for (const auto& [program, code] : ends) {
    const Folder folder;
    const auto result = test_tilevp({"run", program, "-q", "--report", folder / "r.json", "--transactions",
                                     folder / "t.csv", "--timeline", folder / "t.json"});
    ASSERT_EQ(result.exit_code, code) << program << result.err;
    const auto list = CsvFile::parse(read_file(folder / "t.csv"));
    const auto file = TimelineFile::parse(read_file(folder / "t.json"));
    if (code == 5) continue;  // without a report
    const std::uint64_t end = simulated_ps(folder / "r.json");
    for (const auto& line : list.lines) EXPECT_LE(line.number("begin_ps"), end) << program;
    for (const auto& slice : file.slices) EXPECT_LE(slice.begin_ps, end) << program;
  }
}

TEST(RecordStreaming, AnErrorResponseIsAStatus) {
  const Folder folder;
  const auto result = test_tilevp({"run", "test/unmapped", "-q", "--transactions", folder / "t.csv"});
  ASSERT_EQ(result.exit_code, 3) << result.err;
  const auto list = CsvFile::parse(read_file(folder / "t.csv"));
  EXPECT_EQ(list.count([](const CsvLine& line) { return line["status"] == "address_error"; }), 1u);
}

TEST(RecordStreaming, FilesThatCannotBeWritten) {
  for (const char* option : {"--transactions", "--timeline"}) {
    expect_refused(test_tilevp({"run", "test/good", option, "/dev/full"}),
                   "/dev/full: cannot write: No space left on device");
    expect_refused(test_tilevp({"run", "test/good", option, "/nowhere/t"}), "/nowhere/t: cannot write: No such file");
    const Folder folder;
    expect_refused(test_tilevp({"run", "test/good", option, folder / "r.json", "--report", folder / "r.json"}),
                   "is the file of --report too");
  }
  expect_refused(test_tilevp({"run", "test/good", "--timeline-cap", "5"}), "--timeline-cap: needs --timeline FILE");
  expect_refused(test_tilevp({"run", "test/good", "--timeline", "/dev/null", "--timeline-cap", "0"}),
                 "--timeline-cap: expected a whole number from 1");
}

TEST(RecordStreaming, AFileThatFillsUpIsRemoved) {
  const Folder folder;
  const auto result =
      on_a_full_disk({"run", "test/endless", "--timeline", folder / "t.json", "--report", folder / "r.json"});
  expect_refused(result, "t.json: cannot write: File too large");
  for (const char* file : {"t.json", "r.json"}) EXPECT_FALSE(exists(folder / file)) << file;
}

// ---- Intervals of the report

boost::json::value report_of(const std::string& period, const Folder& folder) {
  // LeakSanitizer's tracer ends with signal 11 over a report of 65536 rows (gcc 12).
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  const auto result = tilevp({"run", "conv2d", "--shape", "1,144,12,10", "--filter", "40,3,3", "--random", "integers",
                              "-q", "-c", "report.period=" + period, "--report", folder / "r.json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return boost::json::parse(read_file(folder / "r.json"));
}

TEST(Intervals, ColumnsAddUpToTheTotals) {
  const Folder folder;
  for (const auto& [period, period_ps] :
       {std::pair("10us", 10'000'000ULL), std::pair("777ps", 777ULL), std::pair("1s", 1'000'000'000'000ULL)}) {
    const auto report = report_of(period, folder);
    const auto& performance = report.at("performance");
    const auto& intervals = performance.at("intervals");
    const auto used_ps = intervals.at("period_ps").to_number<std::uint64_t>();
    EXPECT_EQ(used_ps % period_ps, 0u);
    const auto simulated = report.at("time").at("simulated_ps").to_number<std::uint64_t>();
    EXPECT_EQ(intervals.at("rows").as_array().size(), (simulated + used_ps - 1) / used_ps);
    std::map<std::string, std::uint64_t> sums;
    const auto& columns = intervals.at("columns").as_array();
    for (const auto& row : intervals.at("rows").as_array()) {
      ASSERT_EQ(row.as_array().size(), columns.size());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto amount = row.as_array()[i].to_number<std::uint64_t>();
        const std::string column(columns[i].as_string());
        sums[column] += amount;
        // A memory's port is occupied for the sum of rounded shares.
        if (column.ends_with("busy_ps")) {
          EXPECT_LE(amount, used_ps + used_ps / 1000 + 1) << column;
        }
      }
    }
    const auto window = report.at("time").at("kernel_ps").to_number<double>();
    for (const auto& unit : performance.at("units").as_array()) {
      const std::string path(unit.at("path").as_string());
      EXPECT_NEAR(static_cast<double>(sums.at(path + ".busy_ps")) / window, unit.at("utilisation").to_number<double>(),
                  1e-12)
          << path;
    }
    for (const auto& memory : performance.at("memories").as_array())
      for (const char* figure : {"busy_ps", "bytes_read", "bytes_written"}) {
        const std::string column = std::string(memory.at("path").as_string()) + "." + figure;
        EXPECT_EQ(sums.at(column), memory.at(figure).to_number<std::uint64_t>()) << column;
      }
    if (used_ps != period_ps) {
      EXPECT_THAT(std::string(report.at("warnings").at(0).as_string()), HasSubstr("report.period gives more than"));
    }
  }
}

TEST(Intervals, WrongPeriods) {
  for (const auto& [period, text] : {std::pair("0us", "report.period: expected a time above 0, found '0us'"),
                                     std::pair("soon", "report.period: expected a time like 20ms")})
    expect_refused(tilevp({"run", "conv2d", "--shape", "1,8,8,8", "--filter", "8,3,3", "-c",
                           "report.period=" + std::string(period)}),
                   text);
}

// ---- Definitions

// Keys under performance but causes, which are part of other names.
void collect_keys(const boost::json::value& tree, std::vector<std::string>& keys) {
  if (tree.is_array())
    for (const auto& item : tree.get_array()) collect_keys(item, keys);
  if (!tree.is_object()) return;
  for (const auto& [key, member] : tree.get_object()) {
    keys.emplace_back(key);
    if (key == "stalled") {
      for (const auto& [cause, amount] : member.as_object())
        keys.push_back("stalled_" + std::string(cause) + (tree.get_object().contains("queue") ? "_ps" : ""));
      continue;
    }
    collect_keys(member, keys);
  }
}

TEST(Statistics, EveryFigureOfTheReportHasOneDefinition) {
  const Folder folder;
  const auto report = report_of("10us", folder);
  std::vector<std::string> keys;
  collect_keys(report.at("performance"), keys);
  EXPECT_GT(keys.size(), 100u);
  const auto list = tilevp({"list", "statistics"});
  ASSERT_EQ(list.exit_code, 0);
  std::map<std::string, int> defined, rows;  // by name; by name and blocks
  for (std::size_t at = 0; at < list.out.size();) {
    const auto end = list.out.find('\n', at);
    const auto line = list.out.substr(at, end - at);
    ++rows[line.substr(0, line.find(") "))];
    ++defined[line.substr(0, line.find(' '))];
    at = end + 1;
  }
  for (const auto& [row, count] : rows) EXPECT_EQ(count, 1) << row;
  // Engines, DMA engines, DMA queues and memories are busy each in their own way.
  EXPECT_EQ(defined.at("busy_ps"), 4);
  EXPECT_EQ(defined.at("simulated_ps"), 1);
  for (const auto& key : keys) {
    const bool cause = key.starts_with("stalled_");
    EXPECT_TRUE(defined.contains(key) ||
                (cause && (defined.contains(key + "_cycles") || defined.contains(key + "_ps"))))
        << key;
  }
}

}  // namespace
}  // namespace tilevp::test
