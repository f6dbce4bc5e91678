// The CUBE core's programs and its assembler through the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/csv_reader.hpp"
#include "system/command_runner.hpp"
#include "system/expect_refused.hpp"
#include "system/npy_file.hpp"
#include "system/raw_values.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string example = std::string(TILEVP_SOURCE_DIR) + "/docs/examples/gemv.s";

// (1, 2, 3) times ((1, 4), (2, 5), (3, 6)).
std::vector<std::string> example_run(const Folder& folder, const std::string& program) {
  write_file(folder / "a.bin", bytes_of({1, 2, 3}));
  write_file(folder / "b.bin", bytes_of({1, 4, 2, 5, 3, 6}));
  return {"run",
          "cube/raw",
          program,
          "--load",
          "hbm+0x1000=" + (folder / "a.bin"),
          "--load",
          "hbm+0x2000=" + (folder / "b.bin"),
          "--dump",
          "hbm+0x3000:8=" + (folder / "d.bin"),
          "--report",
          folder / "r.json"};
}

// The example's four bundles: each was released by the one that defined its last source, the first by the host.
TEST(Cube, TransactionsLeadFromTheStoreBackToTheHost) {
  const Folder folder;
  auto words = example_run(folder, example);
  words.insert(words.end(), {"--transactions", folder / "t.csv"});
  ASSERT_EQ(tilevp(words).exit_code, 0);
  const auto list = CsvFile::parse(read_file(folder / "t.csv"));
  std::map<std::string, const CsvLine*> by_id;
  for (const CsvLine& line : list.lines) by_id[line["id"]] = &line;
  const auto store = std::ranges::find_if(list.lines, [](const CsvLine& line) {
    return line["name"] == "TSTORE" && line["initiator"] == "core0.transfer";
  });
  ASSERT_NE(store, list.lines.end());
  std::vector<std::string> way;
  for (const CsvLine* line = &*store;; line = by_id.at((*line)["cause"])) {
    way.push_back((*line)["initiator"] + " " + (*line)["name"]);
    if ((*line)["cause"].empty()) break;
  }
  EXPECT_THAT(
      way, ElementsAre("core0.transfer TSTORE", "core0.matrix0 TGEMV", "core0.transfer TLOAD", "host.port ", "host "));
}

TEST(Cube, BusyTimesAndBytesOfTheReportAreThoseOfTheTransactions) {
  const Folder folder;
  const auto result = tilevp({"run", "cube/tgemv", "--shape", "300,200", "-q", "--report", folder / "r.json",
                              "--transactions", folder / "t.csv", "-c", "report.period=1us"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto report = report_of(folder / "r.json");
  const auto list = CsvFile::parse(read_file(folder / "t.csv"));
  const auto& performance = report.at("performance");
  for (const auto& unit : performance.at("units").as_array()) {
    const std::string path(unit.at("path").as_string());
    double busy_ps = 0;
    for (const CsvLine& line : list.lines)
      if (line["initiator"] == path && line["kind"] == "instruction")
        busy_ps += static_cast<double>(line.number("busy_ps"));
    // 1.85 GHz; each line is rounded to whole picoseconds.
    EXPECT_NEAR(busy_ps * 1.85e-3, unit.at("busy_cycles").to_number<double>(), 0.5) << path;
    EXPECT_GT(busy_ps, 0) << path;
  }
  const auto& intervals = performance.at("intervals");
  for (std::size_t column = 0; column < intervals.at("columns").as_array().size(); ++column) {
    std::uint64_t total = 0;
    for (const auto& row : intervals.at("rows").as_array()) total += row.at(column).to_number<std::uint64_t>();
    EXPECT_GT(total, 0u) << intervals.at("columns").at(column);
  }
}

// U#1 of PE0 is B in N8 order: k fastest, four rows of eight columns a cell.
TEST(Cube, TilesAreDumpedInTheProgrammersOrder) {
  const Folder folder;
  auto words = example_run(folder, example);
  words.insert(words.end(), {"--dump", "core0.tiles+0x100000:32=" + (folder / "u1.bin")});
  ASSERT_EQ(tilevp(words).exit_code, 0);
  const auto b = floats(read_file(folder / "u1.bin"));
  EXPECT_THAT(std::vector(b.begin(), b.begin() + 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(std::vector(b.begin() + 4, b.begin() + 7), ElementsAre(4, 5, 6));
}

TEST(Cube, TilesThatAreNotThereAreNoBytesToDump) {
  const Folder folder;
  auto words = example_run(folder, example);
  words.insert(words.end(), {"--dump", "core0.tiles+0x100000:129=" + (folder / "u1.bin")});
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--dump: core0.tiles+0x100000:129: no tile holds all of these bytes now"));
  EXPECT_EQ(report_of(folder / "r.json").at("status").as_string(), "finished");
  words = example_run(folder, example);
  words.insert(words.end(), {"--load", "core0.tiles=" + (folder / "a.bin")});
  EXPECT_THAT(tilevp(words).err, HasSubstr("--load: core0.tiles: core0.tiles can only be read"));
}

TEST(Cube, BreakShowsTheTilesABundleReads) {
  const Folder folder;
  auto words = example_run(folder, example);
  words.insert(words.end(), {"--break", "bundle@2"});
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("--break: stopped before bundle #2: BSTART.TGEMV FP32"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("register 0 (T): FP32 CUBE_M16, 1 x 3, 256 bytes a PE\n    PE0: 1 2 3\n"),
                                HasSubstr("register 16 (U): FP32 CUBE_N8, 3 x 2, 128 bytes a PE\n    PE0: 1 4\n")));
}

TEST(Cube, TheExampleOfTheDocumentation) {
  const Folder folder;
  const auto result = tilevp(example_run(folder, example));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(floats(read_file(folder / "d.bin")), ElementsAre(14, 32));
  const auto report = report_of(folder / "r.json");
  EXPECT_EQ(report.at("result").at("macs"), 6);
  // 16 x 16 x 8 of fp32 is one step of the array.
  EXPECT_EQ(report.at("result").at("issued_macs"), 2048);
  EXPECT_EQ(report.at("result").at("bundles"), 4);
  EXPECT_EQ(report.at("result").at("instructions"), 31);
}

TEST(Cube, RunsWhatAsmMakes) {
  const Folder folder;
  ASSERT_EQ(tilevp({"asm", example, "--machine", "cube", "-o", folder / "p.bin"}).exit_code, 0);
  const auto text = tilevp({"disasm", folder / "p.bin", "--machine", "cube"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("B.IOT T#1, U#1, mask=1000, last, ->M<128B>  "));
  write_file(folder / "q.s", text.out);
  ASSERT_EQ(tilevp({"asm", folder / "q.s", "--machine", "cube", "-o", folder / "q.bin"}).exit_code, 0);
  EXPECT_EQ(read_file(folder / "q.bin"), read_file(folder / "p.bin"));
  ASSERT_EQ(tilevp(example_run(folder, folder / "q.bin")).exit_code, 0);
  EXPECT_THAT(floats(read_file(folder / "d.bin")), ElementsAre(14, 32));
}

TEST(Cube, AsmAndDisasmKnowTheCubesPlatform) {
  const Folder folder;
  for (const auto& words : {std::vector<std::string>{"asm", example, "-o", folder / "p.bin"}, {"disasm", example}}) {
    auto command = words;
    command.insert(command.end(), {"--machine", "cube", "-c", "cube.isa_revision=r1"});
    const auto result = tilevp(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST(Cube, GprsComeFromTheCommand) {
  const Folder folder;
  std::string text = read_file(example);
  text.erase(0, text.find("\n\n"));  // all that sets GPRs
  write_file(folder / "p.s", text);
  auto words = example_run(folder, folder / "p.s");
  words.insert(words.end(), {"--gpr", "a0=0x1000,a1=8192,a2=0x3000,a3=8"});
  const auto result = tilevp(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(floats(read_file(folder / "d.bin")), ElementsAre(14, 32));
}

TEST(Cube, MistakesInTextHaveTheirPlace) {
  const Folder folder;
  write_file(folder / "p.s", "BSTART.TGEMV FP16\nB.IOT T#1, U#17, mask=1111\n");
  for (const auto& words : {std::vector<std::string>{"run", "cube/raw", folder / "p.s"},
                            {"asm", folder / "p.s", "--machine", "cube", "-o", folder / "p.bin"}})
    expect_refused(tilevp(words), "p.s:2:12: expected ");
  EXPECT_FALSE(exists(folder / "p.bin"));
}

TEST(Cube, WrongProgramsFaultWithTheirWord) {
  const Folder folder;
  const auto run = [&](const std::string& text) {
    write_file(folder / "p.s", text);
    return tilevp({"run", "cube/raw", folder / "p.s", "-q"});
  };
  const std::string product = "BSTART.TGEMV FP16\nB.FPATR None, None\nB.IOT T#1, U#1, mask=1111, last, ->M<128B>\n";
  auto result = run(product + "BSTOP\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("BSTOP: A (T#1) names no tile"), HasSubstr("TileLegality, step 9")));
  result = run(".word 0x79031181\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, AllOf(HasSubstr("word 0x79031181"), HasSubstr("DataType 15 is reserved")));
  result = run("BSTART.TGEMV FP16\nB.IOT T#1, U#1, mask=1111, last, ->M<128B>\nBSTOP\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("[BundleControl, step 2]"));
  result = run(product);  // runs off its end
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("wants BSTOP, or the next BSTART"));
}

// Four instructions of four bytes, in the last 64 bytes of 4 GiB: BSTOP is at offset 12, 0xffffffcc.
TEST(Cube, FaultsLeadToTheirLine) {
  const Folder folder;
  write_file(folder / "p.s",
             "BSTART.TGEMV FP16\nB.FPATR None, None\nB.IOT T#1, U#1, mask=1111, last, ->M<128B>\nBSTOP\n");
  EXPECT_THAT(tilevp({"run", "cube/raw", folder / "p.s", "-q"}).err, HasSubstr("at 0xffffffcc BSTOP"));
  EXPECT_THAT(tilevp({"describe", "program", "cube/raw", folder / "p.s"}).out,
              testing::ContainsRegex("BSTART.TGEMV FP16 +// 0xffffffc0\n(.*\n)*BSTOP +// 0xffffffcc\n"));
  EXPECT_THAT(tilevp({"disasm", "--machine", "cube", folder / "p.s"}).out,
              testing::ContainsRegex("BSTART.TGEMV FP16 +// 0x0\n(.*\n)*BSTOP +// 0xc\n"));
}

TEST(Cube, RulesAreThoseOfThePlatform) {
  for (const char* command : {"list", "describe"}) {
    EXPECT_THAT(tilevp({command, "rules", "--platform", "pto-cube"}).out,
                AllOf(HasSubstr("cube.9.source_missing"), HasSubstr("protocol."), testing::Not(HasSubstr("psum"))));
    EXPECT_THAT(tilevp({command, "rules", "--platform", "trn1"}).out,
                AllOf(HasSubstr("psum"), HasSubstr("protocol."), testing::Not(HasSubstr("cube."))));
    EXPECT_THAT(tilevp({command, "rules"}).out, AllOf(HasSubstr("psum"), HasSubstr("cube.")));
  }
}

TEST(Cube, ProgramsReadAndWriteFiles) {
  const Folder folder;
  write_npy(folder / "a.npy", {{1, 3}, {1, 2, 3}});
  write_npy(folder / "b.npy", {{3, 2}, {1, 4, 2, 5, 3, 6}});
  const auto result = tilevp({"run", "cube/tgemv", "--input", folder / "a.npy", "--weights", folder / "b.npy",
                              "--output", folder / "d.npy", "--check=exact", "-q"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_npy(folder / "d.npy").values, (std::vector<float>{14, 32}));
}

// K = 203 and N = 147: odd last tiles on all four PEs, at any quantum and order of construction the same times.
TEST(Cube, OddSizesAreExactAndDeterministic) {
  const Folder folder;
  std::vector<std::string> words{"run", "tgemv", "--shape", "203,147", "--random", "normal", "--check=exact"};
  std::optional<boost::json::value> first;
  for (const auto& more : {std::vector<std::string>{}, {"--quantum", "1us"}, {"--construction-seed", "3"}}) {
    auto run = words;
    run.insert(run.end(), more.begin(), more.end());
    run.insert(run.end(), {"--report", folder / "r.json", "-q"});
    const auto result = tilevp(run);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto report = report_of(folder / "r.json");
    EXPECT_EQ(report.at("verification").at("mismatches"), 0);
    EXPECT_EQ(report.at("result").at("macs"), 203 * 147);
    if (!first) first = report.at("result");
    EXPECT_EQ(report.at("result"), *first);
  }
}

TEST(Cube, WrongOptionsAreRefused) {
  const Folder folder;
  const auto refused = [](std::vector<std::string> words, const std::string& text) {
    words.insert(words.begin(), "run");
    expect_refused(tilevp(words), text);
  };
  refused({"cube/tgemv"}, "expected either --input and --weights, or --shape");
  refused({"cube/tgemv", "--shape", "3"}, "--shape: expected 2 ");
  refused({"cube/tgemv", "--shape", "3,3", "--platform", "trn1"}, "cube/tgemv runs on a cube machine");
  refused({"cube/tgemv", "--shape", "3,3", "-c", "cube=null"},
          "-c: cube/tgemv runs on a cube machine; 'pto-cube' as -c changes it names no cube");
  refused({"cube/tgemv", "--shape", "3,3", "--max-time", "9cycles@pe"}, "unknown clock domain 'pe'; there are cube");
  refused({"neuron/matmul", "--m", "3", "--k", "3", "--n", "3", "--platform", "pto-cube"}, "--platform: ");
  refused({"cube/tgemv", "--shape", "3,3", "--dtype", "fp64"}, "--dtype: expected one of FP32");
  refused({"cube/tgemv", "--shape", "1048576,1048576"}, "B: takes 2199023255552 bytes of memory");
  refused({"cube/raw", example, "--gpr", "t0=1"}, "--gpr: expected a GPR");
  refused({"cube/raw", folder / "none.s"}, "none.s: cannot read");
  refused({"raw", example}, "raw");
  expect_refused(tilevp({"asm", example, "--machine", "gpu", "-o", folder / "o"}), "--machine");
  expect_refused(tilevp({"disasm", example, "--machine", "cube", "--engine", "pe"}), "--engine: only records");
}

}  // namespace
}  // namespace tilevp::test
