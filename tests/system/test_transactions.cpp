// The list of transactions: every count, byte and time of the report made again from it alone, and the chain of causes.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>

#include "support/csv_reader.hpp"
#include "system/command_runner.hpp"
#include "system/report_values.hpp"
#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::test {
namespace {

using boost::json::value;
struct Listed {
  value report;
  CsvFile list;
};

Listed run_listed(std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"-q", "--report", folder / "r.json", "--transactions", folder / "t.csv"});
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return {boost::json::parse(read_file(folder / "r.json")), CsvFile::parse(read_file(folder / "t.csv"))};
}

// What the list says of one module.
class Recount {
 public:
  explicit Recount(const Listed& run) : list_(run.list) {
    for (const auto& domain : run.report.at("time").at("domains").as_array())
      hz_[text(domain.at("name"))] = number(domain.at("hz"));
  }

  void core_unit(const value& unit) const {
    const std::string path = text(unit.at("path"));
    const std::uint64_t hz = hz_.at(text(unit.at("clock")));
    std::uint64_t busy = 0, instructions = 0, busy_ps = 0;
    std::map<std::string, std::uint64_t> stalled;
    for (const CsvLine& line : list_.lines) {
      if (line["initiator"] != path) continue;
      const std::uint64_t begin = line.number("begin_ps"), end = line.number("end_ps");
      const std::uint64_t cycles = edge(end, hz) - edge(begin, hz);
      if (line["kind"] == "instruction") {
        ++instructions;
        busy += cycles;
        busy_ps += end - begin;
        EXPECT_EQ(line.number("busy_ps"), end - begin);
      }
      if (line["kind"] == "stall" && cycles > 0) stalled[line["name"]] += cycles;
    }
    EXPECT_EQ(busy, number(unit.at("busy_cycles"))) << path;
    EXPECT_EQ(instructions, number(unit.at("instructions"))) << path;
    expect_stalls(stalled, unit, path);
    expect_utilisation(busy_ps, unit, path);
  }

  void dma_unit(const value& unit) const {
    const std::string path = text(unit.at("path"));
    const std::uint64_t hz = hz_.at("dma");
    const auto packets = [&](const CsvLine& line) { return line["target"] == path && line["kind"] == "packet"; };
    const std::uint64_t busy_ps = list_.sum("busy_ps", packets);
    EXPECT_EQ(edge(busy_ps, hz), number(unit.at("busy_cycles"))) << path;
    EXPECT_EQ(list_.count(packets), number(unit.at("instructions"))) << path;
    std::map<std::string, std::uint64_t> stalled;
    for (const CsvLine& line : list_.lines)
      if (line["kind"] == "stall" && line["initiator"] == path)
        stalled[line["name"]] += line.number("end_ps") - line.number("begin_ps");
    for (auto& [cause, ps] : stalled) ps = edge(ps, hz);
    expect_stalls(stalled, unit, path);
    expect_utilisation(busy_ps, unit, path);
  }

  void memory(const value& memory) const {
    const std::string path = text(memory.at("path"));
    const auto kind = [&](const char* end) {
      return [&, end](const CsvLine& line) { return line["target"] == path && line["kind"].ends_with(end); };
    };
    const auto any = [&](const CsvLine& line) { return line["target"] == path && line["status"] == "ok"; };
    EXPECT_EQ(list_.sum("bytes", kind("read")), number(memory.at("bytes_read"))) << path;
    EXPECT_EQ(list_.sum("bytes", kind("write")), number(memory.at("bytes_written"))) << path;
    EXPECT_EQ(list_.sum("busy_ps", any), number(memory.at("busy_ps"))) << path;
    EXPECT_EQ(list_.sum("wasted_bytes", any), number(memory.at("wasted_bytes"))) << path;
  }

  void queue(const value& queue) const {
    const std::string path = text(queue.at("queue"));
    std::map<std::string, bool> of_this_queue;  // ids of its descriptors
    for (const CsvLine& line : list_.lines)
      if (line["kind"] == "descriptor" && line["initiator"] == path) of_this_queue[line["id"]] = true;
    const auto packets = [&](const CsvLine& line) { return line["kind"] == "packet" && line["initiator"] == path; };
    const auto accesses = [&](const CsvLine& line) {
      return (line["kind"] == "read" || line["kind"] == "write") && of_this_queue.contains(line["cause"]);
    };
    EXPECT_EQ(of_this_queue.size(), number(queue.at("descriptors"))) << path;
    EXPECT_EQ(list_.sum("runs", packets), number(queue.at("runs"))) << path;
    EXPECT_EQ(list_.sum("bytes", packets), number(queue.at("bytes"))) << path;
    EXPECT_EQ(list_.sum("busy_ps", packets), number(queue.at("busy_ps"))) << path;
    EXPECT_EQ(list_.sum("bursts", accesses), number(queue.at("bursts"))) << path;
    EXPECT_EQ(list_.sum("wasted_bytes", accesses), number(queue.at("wasted_bytes"))) << path;
  }

  std::uint64_t window_ps = 0;  // kernel_ps, or simulated_ps where that is 0

 private:
  static void expect_stalls(const std::map<std::string, std::uint64_t>& mine, const value& unit,
                            const std::string& path) {
    std::map<std::string, std::uint64_t> theirs;
    for (const auto& [cause, cycles] : unit.at("stalled").as_object()) theirs[std::string(cause)] = number(cycles);
    EXPECT_EQ(mine, theirs) << path;
  }
  void expect_utilisation(std::uint64_t busy_ps, const value& unit, const std::string& path) const {
    EXPECT_DOUBLE_EQ(static_cast<double>(busy_ps) / static_cast<double>(window_ps),
                     unit.at("utilisation").to_number<double>())
        << path;
  }

  const CsvFile& list_;
  std::map<std::string, std::uint64_t> hz_;
};

std::string hex_of(const std::string& what) { return what.substr(0, what.find(' ')); }

// Of each kernel, from the call that starts the first engine to the end of the last acknowledged interrupt.
std::uint64_t kernel_ps(const CsvFile& list) {
  namespace registers = neuroncore::registers;
  const std::uint64_t control = 0x1000'0000'0000 + registers::control_window;  // as in every shipped description
  std::uint64_t total = 0;
  constexpr std::uint64_t none = UINT64_MAX;
  std::uint64_t begin = none, end = none;
  for (const CsvLine& line : list.lines) {
    if (line["kind"] != "host_write") continue;
    const std::uint64_t address = std::stoull(hex_of(line["what"]), nullptr, 16);
    for (unsigned e = 0; e < neuroncore::engines; ++e) {
      if (address != control + registers::sequencer(e) + registers::start) continue;
      if (end != none) total += end - begin;
      if (end != none || begin == none) begin = line.number("requested_ps");
      end = none;
    }
    if (address == control + registers::interrupt) end = line.number("end_ps");
  }
  return end == none ? total : total + end - begin;
}

std::uint64_t last_end_ps(const CsvFile& list) {
  std::uint64_t end = 0;
  for (const CsvLine& line : list.lines)
    if (line["initiator"] == "host") end = std::max(end, line.number("end_ps"));
  return end;
}

class ReportFromTheList : public testing::TestWithParam<std::tuple<std::vector<std::string>, std::string>> {};

TEST_P(ReportFromTheList, EveryFigure) {
  auto words = std::get<0>(GetParam());
  words.insert(words.end(), {"--platform", std::get<1>(GetParam())});
  const Listed run = run_listed(words);
  const value& time = run.report.at("time");
  EXPECT_EQ(last_end_ps(run.list), number(time.at("simulated_ps")));
  if (number(time.at("kernel_ps")) != 0) {
    EXPECT_EQ(kernel_ps(run.list), number(time.at("kernel_ps")));
  }
  Recount recount(run);
  recount.window_ps = number(time.at(number(time.at("kernel_ps")) == 0 ? "simulated_ps" : "kernel_ps"));
  const value& performance = run.report.at("performance");
  for (const auto& unit : performance.at("units").as_array())
    text(unit.at("kind")) == "dma" ? recount.dma_unit(unit) : recount.core_unit(unit);
  for (const auto& memory : performance.at("memories").as_array()) recount.memory(memory);
  for (const auto& queue : performance.at("dma").as_array()) recount.queue(queue);
  EXPECT_GE(performance.at("units").as_array().size(), 6u);
  EXPECT_EQ(performance.at("memories").as_array().size(), 3u);
  EXPECT_FALSE(performance.at("dma").as_array().empty());
}

const std::vector<std::vector<std::string>> programs{
    {"conv2d", "--shape", "1,144,12,10", "--filter", "40,3,3", "--padding", "1,1,1,1", "--random", "integers"},
    {"matmul", "--m", "200", "--k", "300", "--n", "600"},
    {"dma/bench", "--engines", "3", "--direction", "load"}};

INSTANTIATE_TEST_SUITE_P(Programs, ReportFromTheList,
                         testing::Combine(testing::ValuesIn(programs), testing::Values("trn1", "trn2")));

const std::vector<std::vector<std::string>> approximately_timed{
    {"conv2d", "--shape", "1,144,12,10", "--filter", "40,3,3", "--padding", "1,1,1,1", "--random", "integers", "-c",
     "dma.coding_style=at", "-c", "hbm.coding_style=at"},
    {"dma/bench", "--engines", "3", "--direction", "load", "-c", "dma.coding_style=at", "-c", "hbm.coding_style=at",
     "-c", "hbm.latency_ns=300"}};

INSTANTIATE_TEST_SUITE_P(ApproximatelyTimed, ReportFromTheList,
                         testing::Combine(testing::ValuesIn(approximately_timed), testing::Values("trn1", "trn2")));

// ---- Causes

class Causes : public testing::Test {
 protected:
  void SetUp() override {
    list = run_listed(programs[0]).list;
    for (const CsvLine& line : list.lines) {
      if (line["id"].empty()) continue;
      EXPECT_TRUE(by_id.emplace(line["id"], &line).second) << "two lines of " << line["id"];
    }
  }
  const CsvLine& cause_of(const CsvLine& line) const { return *by_id.at(line["cause"]); }
  const CsvLine& parent_of(const CsvLine& line) const { return *by_id.at(line["parent"]); }

  CsvFile list;
  std::map<std::string, const CsvLine*> by_id;
};

TEST_F(Causes, AreInTheListAndComeFirst) {
  for (const CsvLine& line : list.lines)
    for (const char* column : {"parent", "cause"}) {
      if (line[column].empty()) continue;
      ASSERT_TRUE(by_id.contains(line[column])) << line["id"] << " " << column << " " << line[column];
      EXPECT_LE(by_id[line[column]]->number("requested_ps"), line.number("begin_ps")) << line["id"];
    }
}

// Backwards from a store: its semaphore's waiter, accesses, descriptor, trigger, fetch, doorbell.
TEST_F(Causes, LeadFromTheStoreBackToTheHost) {
  std::size_t stores = 0;
  for (const CsvLine& store : list.lines) {
    if (store["kind"] != "write" || store["target"] != "hbm" || !store["initiator"].starts_with("dma")) continue;
    ++stores;
    const CsvLine& descriptor = cause_of(store);
    ASSERT_EQ(descriptor["kind"], "descriptor");
    ASSERT_EQ(parent_of(descriptor)["kind"], "read");
    const CsvLine& trigger = cause_of(descriptor);
    ASSERT_EQ(trigger["name"], "dma_trigger");
    EXPECT_EQ(cause_of(trigger)["kind"], "instruction");  // what computed the tile
    EXPECT_GE(trigger.number("begin_ps"), cause_of(trigger).number("complete_ps"));
    const CsvLine& fetch = parent_of(trigger);
    ASSERT_EQ(fetch["kind"], "read");
    const CsvLine& start = cause_of(fetch);
    EXPECT_EQ(start["target"], "core0.control");
    EXPECT_EQ(cause_of(start)["kind"], "host_write");
  }
  EXPECT_GT(stores, 0u);
}

TEST_F(Causes, TileAccessesAreThoseOfTheirInstructions) {
  std::map<std::string, std::vector<std::string>> targets;
  for (const CsvLine& line : list.lines)
    if (line["kind"].starts_with("tile_")) {
      targets[line["parent"]].push_back(line["kind"] + " " + line["target"]);
      EXPECT_EQ(line.number("begin_ps"), parent_of(line).number("complete_ps"));
      EXPECT_TRUE(line["id"].starts_with(line["parent"] + "."));
    }
  std::size_t matmuls = 0;
  for (const CsvLine& line : list.lines) {
    if (line["name"] != "matmul") continue;
    ++matmuls;
    const auto& of_this = targets.at(line["id"]);
    EXPECT_EQ(std::ranges::count(of_this, "tile_write core0.psum"), 1);
    EXPECT_GE(std::ranges::count(of_this, "tile_read core0.sbuf"), 1);
  }
  EXPECT_GT(matmuls, 0u);
}

TEST_F(Causes, LinesAreOrderedByTheirEnds) {
  std::uint64_t last = 0;
  for (const CsvLine& line : list.lines) {
    if (line["kind"] == "stall") continue;  // some become known later
    EXPECT_GE(line.number("end_ps"), last) << line["id"];
    last = line.number("end_ps");
  }
}

}  // namespace
}  // namespace tilevp::test
