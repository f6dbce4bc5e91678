// `tilevp waves`, against the report and the tests' own reader; and other tools' reading of our files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "support/vcd_reader.hpp"
#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The words of the line that begins with `name`.
std::vector<std::string> line_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    const std::vector<std::string> result{std::istream_iterator<std::string>(words), {}};
    if (!result.empty() && result[0] == name) return result;
  }
  return {};
}

std::string share(double part, double whole) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.2f", 100 * part / whole);
  return text.data();
}

TEST(WavesSummary, AgreesWithTheReport) {
  const Folder folder;
  const auto vcd = folder / "w.vcd";
  ASSERT_EQ(test_tilevp({"run", "test/compute", "-q", "--report", folder / "r.json", "--vcd", vcd}).exit_code, 0);
  const auto summary = tilevp({"waves", vcd, "--summary"});
  ASSERT_EQ(summary.exit_code, 0) << summary.err;
  const auto report = described::parse("r.json", read_file(folder / "r.json")).tree;
  const auto end_ps = report.at("time").at("simulated_ps").to_number<double>();
  for (const auto& unit : report.at("performance").at("units").as_array()) {
    if (unit.at("path") != "core0.pe") continue;
    // Ten matmuls at 2.8 GHz, back to back or not: a pulse is at least one of them.
    const double busy_ps = unit.at("busy_cycles").to_number<double>() / 2.8e9 * 1e12;
    const auto words = line_of(summary.out, "core0.pe.busy");
    ASSERT_EQ(words.size(), 10u);  // name, bits, changes, two times with units, share, %, pulses
    EXPECT_EQ(words[7], share(busy_ps, end_ps));
    EXPECT_EQ(std::stoul(words[2]), 2 * std::stoul(words[9]));  // up and down
  }
  const auto waves = VcdFile::read(vcd);
  for (const auto& name : waves.names()) {
    const auto words = line_of(summary.out, name);
    ASSERT_GE(words.size(), 7u) << name;
    EXPECT_EQ(std::stoul(words[1]), waves.trace(name).bits) << name;
    EXPECT_EQ(std::stoul(words[2]), waves.trace(name).changes.size() - 1) << name;
    EXPECT_EQ(words.back(), waves.trace(name).bits == 1 ? std::to_string(waves.pulses(name)) : "-") << name;
  }
}

TEST(WavesSummary, OfAFileOfAnotherTool) {
  const Folder folder;
  // As Icarus Verilog writes it: 100 ps a tick; a is 1 from 3 to 8 of 0 to 10.
  write_file(
      folder / "t.vcd",
      "$date\n\tnow\n$end\n$version\n\tIcarus Verilog\n$end\n$timescale\n\t100ps\n$end\n$scope module t $end\n"
      "$var wire 1 ! a $end\n$var reg 8 \" b [7:0] $end\n$upscope $end\n$enddefinitions $end\n"
      "$comment Show the parameter values. $end\n#0\n$dumpvars\nb1 \"\n0!\n$end\n#3\n1!\n#8\n0!\nb11111111 \"\n#10\n");
  const auto result = tilevp({"waves", folder / "t.vcd"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("t.vcd: 0 to 1 ns, 2 signals, 3 changes\n"));
  EXPECT_THAT(line_of(result.out, "t.a"), ElementsAre("t.a", "1", "2", "300", "ps", "800", "ps", "50.00", "%", "1"));
  EXPECT_THAT(line_of(result.out, "t.b"), ElementsAre("t.b", "8", "1", "800", "ps", "800", "ps", "-", "-"));
  const auto one = tilevp({"waves", folder / "t.vcd", "--trace", "t", "--trace", "!*.a"});
  EXPECT_THAT(one.out, HasSubstr("1 signal of 2, 1 change\n"));
  EXPECT_TRUE(line_of(one.out, "t.a").empty());
}

TEST(WavesSummary, WrongInput) {
  const Folder folder;
  write_file(folder / "t.vcd", "$var wire 1 ! a $end\n$enddefinitions $end\n#4\n1!\n#3\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"waves"}, "waves: expected one VCD file, found nothing"},
      {{"waves", folder / "none.vcd"}, "none.vcd: cannot read: No such file or directory"},
      {{"waves", folder / ""}, "expected a VCD file, found a directory"},
      {{"waves", TILEVP_BINARY}, ":1: expected a VCD declaration"},
      {{"waves", folder / "t.vcd"}, "t.vcd:5: expected a time not before #4, found '#3'"},
      {{"waves", folder / "t.vcd", "--sumary"}, "--sumary: unknown option of 'tilevp waves'; nearest is '--summary'"}};
  for (const auto& [words, text] : mistakes) {
    const auto result = tilevp(words);
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  write_file(folder / "good.vcd", "$var wire 1 ! busy $end\n$enddefinitions $end\n#4\n1!\n");
  EXPECT_THAT(tilevp({"waves", folder / "good.vcd", "--trace", "bsy"}).err,
              HasSubstr("--trace 'bsy': matches nothing; nearest are busy"));
}

// GTKWave's own converters read our file and write it again; both say the same of every signal.
TEST(WavesSummary, TheSameAfterGtkwavesConverters) {
  const std::string to_fst = "/usr/bin/vcd2fst", from_fst = "/usr/bin/fst2vcd";
  if (access(to_fst.c_str(), X_OK) != 0 || access(from_fst.c_str(), X_OK) != 0) GTEST_SKIP() << "needs GTKWave";
  const Folder folder;
  ASSERT_EQ(test_tilevp({"run", "test/copy", "-q", "--vcd", folder / "w.vcd"}).exit_code, 0);
  ASSERT_EQ(run_command({to_fst, folder / "w.vcd", folder / "w.fst"}).exit_code, 0);
  ASSERT_EQ(run_command({from_fst, folder / "w.fst", "-o", folder / "again.vcd"}).exit_code, 0);
  const auto lines = [&](const std::string& file) {
    auto text = tilevp({"waves", folder / file}).out;
    return text.substr(text.find('\n'));  // behind the line with the file's name
  };
  EXPECT_EQ(lines("again.vcd"), lines("w.vcd"));
  EXPECT_THAT(lines("again.vcd"), HasSubstr("dma0.busy"));
}

}  // namespace
}  // namespace tilevp::test
