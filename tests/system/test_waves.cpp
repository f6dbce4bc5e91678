// The report's busy cycles and instruction counts, made again from the waves alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/vcd_reader.hpp"
#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::Not;
using testing::StartsWith;

// Smallest n with floor(n * 10^12 / hz) >= t: the clock edge at or after t. Long doubles hold these products exactly.
std::uint64_t edge(std::uint64_t time_ps, std::uint64_t hz) {
  const auto start = [&](std::uint64_t cycle) {
    return static_cast<std::uint64_t>(static_cast<long double>(cycle) * 1e12L / static_cast<long double>(hz));
  };
  auto n = static_cast<std::uint64_t>(static_cast<long double>(time_ps) * static_cast<long double>(hz) / 1e12L);
  while (start(n) < time_ps) ++n;
  return n;
}

// Cycles with the signal at 1, counted between its changes.
std::uint64_t busy_cycles(const VcdFile& file, const std::string& name, std::uint64_t hz) {
  std::uint64_t total = 0;
  std::optional<std::uint64_t> since;
  for (const auto& change : file.trace(name).changes) {
    const bool busy = change.value.value_or(0) != 0;
    if (busy && !since) since = change.time_ps;
    if (!busy && since) {
      total += edge(change.time_ps, hz) - edge(*since, hz);
      since.reset();
    }
  }
  return total;
}

// The cycles that the waves show, against those of the report, of every unit of the core. How many units that were.
unsigned compare_busy_cycles(const VcdFile& waves, const boost::json::value& report) {
  EXPECT_EQ(waves.end_ps(), report.at("time").at("simulated_ps").to_number<std::uint64_t>());
  std::map<std::string, std::uint64_t> clocks;
  for (const auto& domain : report.at("time").at("domains").as_array())
    clocks[std::string(domain.at("name").as_string())] = domain.at("hz").to_number<std::uint64_t>();
  unsigned compared = 0;
  for (const auto& unit : report.at("performance").at("units").as_array()) {
    const std::string path(unit.at("path").as_string());
    if (!path.starts_with("core0.")) continue;
    const auto hz = clocks.at(std::string(unit.at("clock").as_string()));
    EXPECT_EQ(busy_cycles(waves, path + ".busy", hz), unit.at("busy_cycles").to_number<std::uint64_t>()) << path;
    ++compared;
  }
  return compared;
}

TEST(Waves, BusyCyclesAndInstructionsOfTheReport) {
  const Folder folder;
  const auto result = tilevp({"run", "conv2d", "--shape", "1,32,20,20", "--filter", "32,3,3", "--random", "normal",
                              "-q", "--report", folder / "r.json", "--vcd", folder / "w.vcd"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = described::parse("r.json", read_file(folder / "r.json")).tree;
  const auto waves = VcdFile::read(folder / "w.vcd");
  EXPECT_EQ(compare_busy_cycles(waves, report), 5u);
  EXPECT_GT(waves.busy_ps("core0.pe.busy"), 0u);
  for (const auto& unit : report.at("performance").at("units").as_array()) {
    const std::string path(unit.at("path").as_string());
    if (!path.starts_with("core0.")) continue;
    const auto count = unit.at("instructions").to_number<std::uint64_t>();
    EXPECT_EQ(waves.value_at(path + ".instruction", waves.end_ps()), count == 0 ? 0 : count - 1) << path;
  }
}

TEST(Waves, BusyCyclesOfACube) {
  const Folder folder;
  const auto result = tilevp(
      {"run", "cube/tgemv", "--shape", "300,200", "-q", "--report", folder / "r.json", "--vcd", folder / "w.vcd"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto waves = VcdFile::read(folder / "w.vcd");
  EXPECT_EQ(compare_busy_cycles(waves, described::parse("r.json", read_file(folder / "r.json")).tree), 6u);
  for (const char* unit : {"sequencer", "transfer", "matrix0", "matrix3"})
    EXPECT_GT(waves.busy_ps(std::string("core0.") + unit + ".busy"), 0u) << unit;
}

TEST(Waves, GlobsSelect) {
  const Folder folder;
  ASSERT_EQ(test_tilevp({"run", "test/compute", "-q", "--vcd", folder / "w.vcd", "--trace", "core0.pe.*", "--trace",
                         "!*.opcode"})
                .exit_code,
            0);
  const auto names = VcdFile::read(folder / "w.vcd").names();
  EXPECT_THAT(names, Each(StartsWith("core0.pe.")));
  EXPECT_THAT(names, Contains("core0.pe.busy"));
  EXPECT_THAT(names, Not(Contains("core0.pe.opcode")));
  EXPECT_TRUE(exists(folder / "w.gtkw"));
}

// A window holds what the whole file holds between its ends, and begins with the values of its first instant.
TEST(Waves, AWindowIsAPartOfTheWhole) {
  const Folder folder;
  ASSERT_EQ(test_tilevp({"run", "test/compute", "-q", "--vcd", folder / "all.vcd"}).exit_code, 0);
  const auto all = VcdFile::read(folder / "all.vcd");
  // From the middle of the third matmul to the middle of the sixth.
  const auto& busy = all.trace("core0.pe.instruction").changes;
  ASSERT_GT(busy.size(), 6u);
  const std::uint64_t from = (busy[2].time_ps + busy[3].time_ps) / 2;
  const std::uint64_t to = (busy[5].time_ps + busy[6].time_ps) / 2;
  ASSERT_EQ(test_tilevp({"run", "test/compute", "-q", "--vcd", folder / "w.vcd", "--trace-from",
                         std::to_string(from) + "ps", "--trace-to", std::to_string(to) + "ps"})
                .exit_code,
            0);
  const auto part = VcdFile::read(folder / "w.vcd");
  EXPECT_EQ(part.start_ps(), from);
  EXPECT_EQ(part.end_ps(), to);
  ASSERT_EQ(part.names(), all.names());
  for (const auto& name : all.names()) {
    std::vector<VcdTrace::Change> expected{{from, all.value_at(name, from)}};
    for (const auto& change : all.trace(name).changes)
      if (change.time_ps > from && change.time_ps <= to) expected.push_back(change);
    EXPECT_EQ(part.trace(name).changes, expected) << name;
  }
  EXPECT_EQ(part.trace("core0.pe.instruction").changes.size(), 4u);
}

TEST(Waves, AWindowInCyclesOfAClockAndOneBehindTheEnd) {
  const Folder folder;
  // 2800 cycles of 2.8 GHz are 1 us.
  ASSERT_EQ(
      test_tilevp({"run", "test/compute", "-q", "--vcd", folder / "w.vcd", "--trace-to", "2800cycles@pe"}).exit_code,
      0);
  EXPECT_EQ(VcdFile::read(folder / "w.vcd").end_ps(), 1'000'000u);
  const auto late = test_tilevp(
      {"run", "test/compute", "-q", "--vcd", folder / "l.vcd", "--report", folder / "r.json", "--trace-from", "1s"});
  EXPECT_EQ(late.exit_code, 0);
  EXPECT_THAT(late.err, testing::HasSubstr("before --trace-from 1 s: the waves hold its last values alone"));
  const auto waves = VcdFile::read(folder / "l.vcd");
  EXPECT_EQ(waves.trace("core0.pe.busy").changes.size(), 1u);
  EXPECT_EQ(waves.end_ps(), described::parse("r.json", read_file(folder / "r.json"))
                                .tree.at("time")
                                .at("simulated_ps")
                                .to_number<std::uint64_t>());
}

// Each trace of the view stands in the file, each table it names beside it, each opcode that was seen in its table.
TEST(Waves, TheViewNamesWhatIsThere) {
  const Folder folder;
  ASSERT_EQ(test_tilevp({"run", "test/compute", "-q", "--vcd", folder / "w.vcd"}).exit_code, 0);
  const auto waves = VcdFile::read(folder / "w.vcd");
  std::istringstream view(read_file(folder / "w.gtkw"));
  unsigned traces = 0;
  for (std::string line; std::getline(view, line);) {
    if (line.starts_with("^1 ")) {
      EXPECT_TRUE(exists(folder / line.substr(3))) << line;
    }
    if (!line.starts_with("+{")) continue;
    const auto name = line.substr(line.find("} ") + 2);
    EXPECT_TRUE(waves.has(name.substr(0, name.find('[')))) << line;
    ++traces;
  }
  EXPECT_GT(traces, 4u);
  const auto opcodes = read_file(folder / "w.gtkw.opcode");
  EXPECT_THAT(opcodes, testing::HasSubstr("10 matmul\n"));
  EXPECT_THAT(opcodes, testing::HasSubstr("01 halt\n"));
  EXPECT_EQ(waves.value_at("core0.pe.opcode", waves.end_ps()), 1u);  // halt, isa.hpp
  EXPECT_THAT(read_file(folder / "w.gtkw.waiting"), testing::HasSubstr("6 weight load\n"));
}

TEST(Waves, ProbesAreListedAndDescribed) {
  const auto list = tilevp({"list", "probes", "--platform", "trn2"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.out, testing::HasSubstr("core0.pe.busy  1 bit  an instruction occupies the engine\n"));
  EXPECT_THAT(tilevp({"list", "probes", "-c", "dma.engines=2"}).out, Not(testing::HasSubstr("dma2.busy")));
  const auto probe = tilevp({"describe", "probe", "core0.pe.waiting"});
  EXPECT_THAT(probe.out, StartsWith("core0.pe.waiting: 3 bits, what its stream or its next instruction waits for\n"));
  EXPECT_THAT(probe.out, testing::HasSubstr("\n  2  PSUM bank\n"));
}

TEST(Waves, RecordingChangesNoTime) {
  const Folder folder;
  ASSERT_EQ(test_tilevp({"run", "test/copy", "-q", "--report", folder / "a.json"}).exit_code, 0);
  ASSERT_EQ(test_tilevp({"run", "test/copy", "-q", "--report", folder / "b.json", "--vcd", folder / "w.vcd"}).exit_code,
            0);
  const auto time = [&](const std::string& name) {
    return described::parse(name, read_file(folder / name))
        .tree.at("time")
        .at("simulated_ps")
        .to_number<std::uint64_t>();
  };
  EXPECT_EQ(time("a.json"), time("b.json"));
}

}  // namespace
}  // namespace tilevp::test
