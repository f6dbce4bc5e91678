// What a user gets wrong: exit code 2, one line that says where, what was expected and what was found, and nothing
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "system/command_runner.hpp"

namespace tilevp::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The words of a command line, the parts its message must have.
struct Mistake {
  std::vector<std::string> words;
  std::vector<std::string> texts;
};

void expect_refused(const Mistake& mistake) {
  std::string line;
  for (const auto& word : mistake.words) line += " " + word;
  const auto result = tilevp(mistake.words);
  EXPECT_EQ(result.exit_code, 2) << line << "\n" << result.err;
  EXPECT_THAT(result.err, StartsWith("tilevp: error: ")) << line;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << line << "\n" << result.err;
  for (const auto& text : mistake.texts) EXPECT_THAT(result.err, HasSubstr(text)) << line;
  EXPECT_EQ(result.out, "") << line;
}

std::vector<std::string> conv(const std::vector<std::string>& more) {
  std::vector<std::string> words{"run", "conv2d", "--shape", "1,16,8,8", "--filter", "16,3,3"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(WrongInput, Commands) {
  expect_refused({{}, {"expected a command"}});
  expect_refused({{"rnu"}, {"rnu: unknown command", "nearest is 'run'"}});
  expect_refused({{"run"}, {"expected a program first", "neuron/conv2d"}});
  expect_refused({{"run", "conv3d"}, {"conv3d: unknown program", "conv2d"}});
  expect_refused({{"list"}, {"expected one of programs, platforms, models, variants, probes, statistics, rules"}});
  expect_refused({{"run", "transformer"}, {"transformer: unknown program; there are cube/raw, cube/tgemv"}});
  expect_refused({{"list"}, {"found nothing"}});
  expect_refused(
      {{"describe", "platform"}, {"expected a platform: pto-cube, trn1, trn2, trn3 or a file, found nothing"}});
  expect_refused({{"list", "things"}, {"found 'things'"}});
  expect_refused({{"describe", "probe", "core0.pe.bsy"}, {"unknown probe", "nearest is 'core0.pe.busy'"}});
  expect_refused({{"compare", "a.npy"}, {"expected two files, found 1"}});
}

TEST(WrongInput, Options) {
  expect_refused({conv({"--platfrom", "trn1"}), {"--platfrom: unknown option", "nearest is '--platform'"}});
  expect_refused({conv({"--seed"}), {"--seed: expected a value"}});
  expect_refused({conv({"--seed", "x"}), {"--seed: expected a whole number", "'x'"}});
  expect_refused({conv({"--check=roughly"}), {"--check: expected exact, 'ulp N' or 'tolerance R'", "'roughly'"}});
  expect_refused({conv({"--max-time", "10"}), {"--max-time: expected a time like 20ms"}});
  expect_refused({conv({"--max-time", "10cycles@pee"}), {"unknown clock domain 'pee'", "nearest is 'pe'"}});
  expect_refused({conv({"--arithmetic", "maybe"}), {"expected one of on, off, found 'maybe'"}});
  expect_refused({conv({"--arithmetic", "off", "--check"}), {"nothing is computed with --arithmetic off"}});
  expect_refused({conv({"--arithmetic", "off", "--output", "y.npy"}), {"--output: nothing is computed", "write"}});
  expect_refused({conv({"--check", "exact"}), {"--check: its value stands behind '='", "--check=exact"}});
  expect_refused({{"run", "bench", "--check"}, {"--check: dma/bench", "nothing to check"}});
  expect_refused({conv({"--trace", "*"}), {"--trace: needs --vcd"}});
}

TEST(WrongInput, TraceGlobsThatMatchNothingLeaveNoFile) {
  const Folder folder;
  expect_refused({conv({"--vcd", folder / "w.vcd", "--trace", "core0.peee.*"}),
                  {"--trace 'core0.peee.*': matches nothing", "core0.pe."}});
  expect_refused({conv({"--vcd", folder / "w.vcd", "--trace", "dma0", "--trace", "!dma0.*"}),
                  {"--trace: the patterns leave nothing to record"}});
  EXPECT_FALSE(exists(folder / "w.vcd"));
}

TEST(WrongInput, WindowsOfWavesLeaveNoFile) {
  const Folder folder;
  const auto waves = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--vcd", folder / "w.vcd"});
    return conv(more);
  };
  expect_refused({waves({"--trace-from", "2us", "--trace-to", "1999ns"}),
                  {"--trace-to: expected a time at or after --trace-from 2us, found 1999ns"}});
  expect_refused({waves({"--trace-from", "2"}), {"--trace-from: expected a time like 20ms", "found '2'"}});
  expect_refused({waves({"--trace-to", "7cycles@pea"}), {"--trace-to: unknown clock domain 'pea'", "nearest is 'pe'"}});
  expect_refused({conv({"--trace-to", "2us"}), {"--trace-to: needs --vcd FILE"}});
  expect_refused({conv({"--trace-from", "2us"}), {"--trace-from: needs --vcd FILE"}});
  EXPECT_FALSE(exists(folder / "w.vcd"));
  EXPECT_FALSE(exists(folder / "w.gtkw"));
}

TEST(WrongInput, Descriptions) {
  expect_refused({conv({"--platform", "trn4"}), {"unknown platform 'trn4'", "nearest is 'trn1'"}});
  expect_refused({conv({"-c", "core.pee.clock_hz=1"}), {"-c core.pee", "unknown key", "nearest is 'core.pe'"}});
  expect_refused(
      {conv({"-c", "dma.bytes_per_ns=-17"}), {"-c dma.bytes_per_ns: expected a positive number, found -17"}});
  expect_refused(
      {conv({"-c", "hbm.bandwidth.ceiling_bits_per_cycle=-1"}), {"hbm.bandwidth.ceiling_bits_per_cycle", "found -1"}});
  expect_refused(
      {conv({"-c", "map.core0_base=4096"}), {"-c map.core0_base", "core0 at 0x1000..", "overlaps hbm at 0x0.."}});
  expect_refused({conv({"-c", "dma.engines"}), {"-c dma.engines", "="}});
  expect_refused(
      {conv({"-c", "dma.coding_style=tl"}), {"-c dma.coding_style: expected one of lt, at", "found \"tl\""}});
  expect_refused({conv({"-c", "hbm.coding_style=2"}), {"-c hbm.coding_style: expected one of lt, at", "found 2"}});
  expect_refused({conv({"-c", "hbm.request_queue=0"}), {"-c hbm.request_queue: expected 1 to 65536, found 0"}});
}

TEST(WrongInput, DescriptionFilesNameTheLine) {
  const Folder folder;
  write_file(folder / "p.json", "{\n  \"core\": {\n    \"sbuf_partition_byte\": 7\n  }\n}\n");
  expect_refused({conv({"--platform", folder / "p.json"}),
                  {"p.json:3", "sbuf_partition_byte", "nearest is 'core.sbuf_partition_bytes'"}});
  write_file(folder / "q.json", "{\n  \"dma\": {,}\n}\n");
  expect_refused({{"check", folder / "q.json"}, {"q.json:2:"}});
}

TEST(WrongInput, Tensors) {
  const Folder folder;
  const auto files = [&](const std::string& input) {
    return std::vector<std::string>{"run",       "conv2d",         "--input",  input,
                                    "--weights", folder / "w.npy", "--output", folder / "y.npy"};
  };
  ASSERT_EQ(tilevp({"run", "conv2d", "--shape", "1,16,8,8", "--filter", "16,3,3", "--output", folder / "w.npy", "-q"})
                .exit_code,
            0);
  expect_refused({files(folder / "none.npy"), {"none.npy: cannot read", "No such file"}});
  write_file(folder / "bad.npy", "not a tensor at all, whatever its name says");
  expect_refused({files(folder / "bad.npy"), {"bad.npy"}});
  // A file of which the end is missing.
  write_file(folder / "short.npy", read_file(folder / "w.npy").substr(0, 200));
  expect_refused({files(folder / "short.npy"), {"short.npy", "header says shape", "file has"}});
  EXPECT_FALSE(exists(folder / "y.npy"));
}

TEST(WrongInput, ShapesAndLayouts) {
  expect_refused({{"run", "conv2d", "--shape", "1,16,8", "--filter", "16,3,3"},
                  {"--shape: expected 4 integers N,C,H,W, found 1,16,8"}});
  // A 9 x 9 filter on an 8 x 8 image without padding has no output.
  expect_refused({{"run", "conv2d", "--shape", "1,16,8,8", "--filter", "16,9,9"}, {"9", "8"}});
  expect_refused({conv({"--stride", "2,2", "--image-layout", "nchw"}), {"unsupported perm with strides"}});
  expect_refused({conv({"--image-layout", "hwcn"}), {"--image-layout hwcn", "chwn"}});
}

TEST(WrongInput, TooLittleSbuf) {
  // 64 bytes a partition beside the 16 KiB that are reserved; a row of filters takes 3 taps x 16 outputs x 2 bytes.
  expect_refused(
      {conv({"-c", "core.sbuf_partition_bytes=16448"}), {"SBUF", "needs 96 bytes a partition", "64 of 64 free"}});
}

// 20 GB of image and 40 GB of result: refused before a value is drawn.
TEST(WrongInput, TensorsLargerThanTheMachine) {
  expect_refused({{"run", "conv2d", "--shape", "1,1,100000,100000", "--filter", "1,1,1"}, {"HBM: ", "needs ", "free"}});
  expect_refused({{"run", "matmul", "--m", "1000000", "--k", "1000000", "--n", "1"},
                  {"HBM: 'lhs_t' needs 2000000000000 bytes", "free"}});
}

TEST(WrongInput, OutputsThatCannotBeWritten) {
  expect_refused({conv({"-q", "--report", "/no/such/folder/r.json"}), {"/no/such/folder/r.json: cannot write"}});
  expect_refused({conv({"-q", "--vcd", "/no/such/folder/w.vcd"}), {"/no/such/folder/w.vcd"}});
  expect_refused({conv({"-q", "--report", "/tmp"}), {"/tmp: cannot write: Is a directory"}});
  for (const char* option : {"--output", "--report", "--vcd"})
    expect_refused({conv({"-q", option, ""}), {option, "expected a file's name, found nothing"}});
}

TEST(WrongInput, OneNameForTwoFiles) {
  const Folder folder;
  const auto same = folder / "same";
  expect_refused({conv({"-q", "--output", same, "--report", same}), {"--report", "same' is the file of --output too"}});
  expect_refused({conv({"-q", "--report", same, "--vcd", folder / "./same"}), {"is the file of --report too"}});
  // The view of x.vcd is x.gtkw.
  expect_refused({conv({"-q", "--vcd", folder / "w.gtkw"}), {"GTKWave view", "is the file of --vcd too"}});
  EXPECT_FALSE(exists(same));
  EXPECT_FALSE(exists(folder / "w.gtkw"));
  // What is read is not written over: the description is there before and after.
  write_file(folder / "p.json", "{}");
  expect_refused({conv({"-q", "--platform", folder / "p.json", "--vcd", folder / "p.json"}), {"of --platform too"}});
  EXPECT_EQ(read_file(folder / "p.json"), "{}");
  // Nor through another name of it.
  std::filesystem::create_hard_link(folder / "p.json", folder / "link.json");
  for (const char* option : {"--vcd", "--report"})
    expect_refused(
        {conv({"-q", "--platform", folder / "p.json", option, folder / "link.json"}), {"of --platform too"}});
  EXPECT_EQ(read_file(folder / "p.json"), "{}");
  // Beside w.gtkw stand tables of names, w.gtkw.opcode among them.
  expect_refused({conv({"-q", "--vcd", folder / "w.vcd", "--report", folder / "w.gtkw.opcode"}),
                  {"--report: ", "names that begin with", "w.gtkw.' are kept for the tables of --vcd's GTKWave view"}});
  EXPECT_FALSE(exists(folder / "w.gtkw"));
  // Devices may be shared, and no view is written beside them.
  EXPECT_EQ(tilevp(conv({"-q", "--report", "/dev/null", "--vcd", "/dev/null"})).exit_code, 0);
  EXPECT_FALSE(exists("/dev/null.gtkw"));
}

TEST(WrongInput, MessagesAreOnePrintableLine) {
  const Folder folder;
  write_file(folder / "e.json", "{\"\\u001b[31mred\\u0007\": 1}");
  const auto result = tilevp({"check", folder / "e.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(std::ranges::count_if(result.err, [](unsigned char c) { return c < ' ' || c == 0x7f; }), 1) << result.err;
}

TEST(WrongInput, BytesThatAreNoTextAreEscaped) {
  const Folder folder;
  expect_refused({{"check", folder / "a\xff.npy"}, {"a\\xff.npy: cannot read"}});
  expect_refused({conv({"-c", "name=a\xff"}), {"-c name: expected UTF-8, found 'a\\xff'"}});
  write_file(folder / "zero.json", "{\"a\\u0000b\": 1}");
  expect_refused({{"check", folder / "zero.json"}, {"zero.json:1:", "a text holds the character U+0000"}});
  write_file(folder / "value.json", "{\n\"name\": \"a\\u0000b\"}");
  expect_refused({{"check", folder / "value.json"}, {"value.json:2:", "a text holds the character U+0000"}});
  const std::string dictionary = std::string("{'a\0b': 1}", 10);
  std::string npy("\x93NUMPY\x01\x00", 8);
  npy += {static_cast<char>(dictionary.size()), '\0'};
  write_file(folder / "zero.npy", npy + dictionary);
  expect_refused({{"check", folder / "zero.npy"}, {"zero.npy: bad .npy header: unknown key 'a\\x00b'"}});
  write_file(folder / "zero.vcd", std::string("a\0b", 3));
  expect_refused({{"waves", folder / "zero.vcd"}, {"zero.vcd:1: expected ", "found 'a\\x00b'"}});
}

// A name that is not UTF-8 is a file's name nevertheless; the report that names it is JSON all the same.
TEST(WrongInput, AFileNameThatIsNoTextLeavesAReportThatIsOne) {
  const Folder folder;
  EXPECT_EQ(tilevp(conv({"-q", "--report", folder / "r.json", "--vcd", folder / "w\xff.vcd"})).exit_code, 0);
  EXPECT_EQ(tilevp({"check", folder / "r.json"}).exit_code, 0);
  EXPECT_THAT(read_file(folder / "r.json"), HasSubstr("w\\\\xff.vcd"));
}

TEST(WrongInput, EmptyNamesSayWhereTheyStand) {
  expect_refused({{"run", "conv2d", "--input", "", "--weights", "w.npy"}, {"--input: expected a file's name"}});
  expect_refused({{"check", ""}, {"tilevp check: expected a name, found an empty word"}});
  expect_refused({{"compare", "a", ""}, {"tilevp compare: expected a name"}});
  expect_refused({{"waves", ""}, {"tilevp waves: expected a name"}});
  expect_refused({{"disasm", ""}, {"tilevp disasm: expected a name"}});
  expect_refused({{"run", ""}, {"'': unknown program"}});
  expect_refused({{""}, {"'': unknown command"}});
}

// Values of the right type that no machine has: the key path, and numbers that fit the line.
TEST(WrongInput, FiguresBeyondMeasureNameTheirKey) {
  expect_refused({conv({"-c", "dma.run_floor_ns=1e300"}), {"-c dma.run_floor_ns: expected 0 to 2147483", "1e+300"}});
  expect_refused({conv({"-c", "dma.packet_floor_ns=1e300"}), {"-c dma.packet_floor_ns: ", "found 1e+300"}});
  expect_refused({conv({"-c", "dma.bytes_per_ns=1e-300"}),
                  {"-c dma.bytes_per_ns: packet_bytes of 4096 take 4.096e+303 ns at 1e-300 bytes/ns"}});
  expect_refused({conv({"-c", "dma.packet_bytes=1e9"}), {"dma.bytes_per_ns: packet_bytes of 1000000000 take"}});
  expect_refused({conv({"-c", "core.sbuf_partition_bytes=1"}),
                  {"core.sbuf_reserved_bytes: expected less than sbuf_partition_bytes (1), found 16384"}});
  expect_refused({conv({"-c", "hbm.bandwidth.ceiling_bits_per_cycle=1e-9"}), {"hbm.bandwidth: moving", "1e-09"}});
}

TEST(WrongInput, ComparedFiles) {
  const Folder folder;
  expect_refused({{"compare", folder / "none.npy", folder / "b.json"}, {"none.npy: cannot read: No such file"}});
  write_file(folder / "a.json", "{}");
  expect_refused({{"compare", folder / "a.json", folder / "a.json"}, {"a.json: expected a report"}});
  write_file(folder / "a.npy", "");
  write_file(folder / "b.npy", "");
  expect_refused({{"compare", folder / "a.json", folder / "b.npy"}, {"one is a .npy file, the other is not"}});
  expect_refused({{"compare", folder / "a.npy", folder / "b.npy", "--ulp", "-1"}, {"error: --ulp: expected a whole"}});
}

}  // namespace
}  // namespace tilevp::test
