// `--plugin`: what plug-ins bring, and what happens where they are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string plugin(const std::string& name) { return std::string(TILEVP_PLUGINS) + "/" + name + ".so"; }

// The words of `tilevp run PROGRAM` with a plug-in.
std::vector<std::string> run_with(const std::string& name, const std::string& program,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"run", program, "--plugin", plugin(name), "-q"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// With the memory of the documentation's example in the place of HBM.
std::vector<std::string> scale(const std::vector<std::string>& more = {}) {
  auto words = run_with("example", "scale", {"-c", "hbm.model=example/latency_memory"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// One line that begins as errors do.
void expect_error(const CommandResult& result, int exit_code, const testing::Matcher<const std::string&>& text) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_THAT(result.err, AllOf(StartsWith("tilevp: error: "), EndsWith("\n"), text));
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

boost::json::value report_of(std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.end(), {"--report", folder / "r.json"});
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return described::parse("r.json", read_file(folder / "r.json")).tree;
}

std::uint64_t number(const boost::json::value& tree, const char* pointer) {
  return tree.at_pointer(pointer).to_number<std::uint64_t>();
}

// ---- The example of the documentation.

TEST(PluginExample, IsListedAndDescribed) {
  const auto programs = tilevp({"list", "programs", "--plugin", plugin("example")});
  EXPECT_EQ(programs.exit_code, 0) << programs.err;
  EXPECT_THAT(programs.out, AllOf(HasSubstr("neuron/conv2d"), HasSubstr("example/scale  doubles a tile")));
  EXPECT_THAT(tilevp({"list", "models", "--plugin=" + plugin("example")}).out,
              AllOf(HasSubstr("tilevp/memory"), HasSubstr("example/latency_memory  a fixed latency")));
  EXPECT_THAT(tilevp({"describe", "program", "scale", "--plugin", plugin("example")}).out,
              HasSubstr("128 x 32 numbers"));
  EXPECT_THAT(tilevp({"describe", "options", "--plugin", plugin("example")}).out,
              AllOf(HasSubstr("| `hbm.options.latency_ns` | number | `20` |"),
                    HasSubstr("| `hbm.options.bytes_per_ns` | number | `64` |")));
  EXPECT_THAT(tilevp({"run", "scale", "--plugin", plugin("example"), "--help"}).out, HasSubstr("--columns"));
}

// 16384 bytes: 200 ns and 1000 ns are what the host's accesses cost on trn1; its link of 16 bytes/ns (1024 ns) is
// faster than this memory.
TEST(PluginExample, TimesAreThoseByHand) {
  const auto report = report_of(scale({"-c", "hbm.options.bytes_per_ns=8", "-c", "hbm.options.latency_ns=30"}));
  EXPECT_EQ(number(report, "/result/write_ps"), 200'000u + 2'048'000u + 30'000u);
  EXPECT_EQ(number(report, "/result/read_ps"), 1'000'000u + 2'048'000u + 30'000u);
  // The kernel moves the tile in and out through a port of 125 ps a byte.
  EXPECT_GE(number(report, "/time/kernel_ps"), 2 * 16'384u * 125u);
  EXPECT_EQ(number(report, "/verification/compared"), 128u * 32u);
  EXPECT_EQ(number(report, "/verification/mismatches"), 0u);
  const auto slower = report_of(scale({"-c", "hbm.options.bytes_per_ns=8", "-c", "hbm.options.latency_ns=60"}));
  EXPECT_EQ(number(slower, "/result/read_ps"), number(report, "/result/read_ps") + 30'000u);
}

TEST(PluginExample, TheReportHasItsBytesAndItsBusyTime) {
  const auto report = report_of(scale({"-c", "hbm.options.bytes_per_ns=8"}));
  for (const auto& memory : report.at("performance").at("memories").as_array()) {
    if (memory.at("path").as_string() != "hbm") continue;
    const auto read = number(memory, "/bytes_read"), written = number(memory, "/bytes_written");
    EXPECT_GT(read, 2 * 16'384u);     // the kernel's input and the host's output, and what the engines fetch
    EXPECT_GT(written, 2 * 16'384u);  // and what they are given
    EXPECT_EQ(number(memory, "/busy_ps"), 125 * (read + written));
    return;
  }
  FAIL() << "the report has no hbm";
}

TEST(PluginExample, ItsProgramRunsOnTheBuiltInMemory) {
  const auto report = report_of(run_with("example", "scale"));
  EXPECT_EQ(number(report, "/verification/mismatches"), 0u);
  EXPECT_EQ(number(report, "/result/write_ps"), 200'000u + 1'024'000u);  // the host's link is slower than HBM
}

TEST(PluginExample, BuiltInProgramsRunOnItsMemory) {
  const Folder folder;
  const std::vector<std::string> conv{"run",      "conv2d",   "--shape", "1,16,8,8", "--filter", "8,3,3",
                                      "--random", "integers", "--check", "-q",       "--output", folder / "a.npy"};
  auto words = conv;
  words.back() = folder / "b.npy";
  words.insert(words.end(), {"--plugin", plugin("example"), "-c", "hbm.model=example/latency_memory"});
  ASSERT_EQ(tilevp(conv).exit_code, 0);
  const auto result = tilevp(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(folder / "a.npy"), read_file(folder / "b.npy"));
}

TEST(PluginExample, FilesGoInAndOutOfItsMemory) {
  const Folder folder;
  write_file(folder / "in", "0123456789abcdef");
  const auto result =
      tilevp(scale({"--load", "0x1fffff8=" + (folder / "in"), "--dump", "0x1fffff8:16=" + (folder / "out")}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(folder / "out"), "0123456789abcdef");
  expect_error(tilevp(run_with("misbehaving", "plugin/touch",
                               {"-c", "hbm.model=plugin/extension", "--dump", "0x0:16=" + (folder / "none")})),
               2, HasSubstr("--dump: 0x0:16: the memory model there has no debug access"));
  EXPECT_FALSE(exists(folder / "none"));
}

// ---- Memories of others under approximately timed engines.

// A convolution on the model, engines and memory in the styles that are named.
std::vector<std::string> conv_on(const std::string& file, const std::string& model, const std::string& engines,
                                 const std::string& memory) {
  return {"run",      "conv2d",
          "--shape",  "1,16,8,8",
          "--filter", "8,3,3",
          "-q",       "--check",
          "-c",       "hbm.model=" + model,
          "--plugin", plugin(file),
          "-c",       "hbm.size_bytes=16777216",
          "-c",       "dma.coding_style=" + engines,
          "-c",       "hbm.coding_style=" + memory};
}

// Engines lt or at; a memory that is asked as such, or through b_transport.
TEST(PluginCodingStyles, GiveTheSameBytes) {
  for (const auto& [file, model] :
       {std::pair("example", "example/latency_memory"), std::pair("misbehaving", "plugin/nonblocking")}) {
    std::string expected;
    for (const auto& [engines, memory] : {std::pair("lt", "lt"), std::pair("at", "lt"), std::pair("at", "at")}) {
      const Folder folder;
      auto words = conv_on(file, model, engines, memory);
      words.insert(words.end(), {"--output", folder / "y.npy"});
      const auto result = tilevp(words);
      ASSERT_EQ(result.exit_code, 0) << model << engines << memory << result.err;
      if (expected.empty()) expected = read_file(folder / "y.npy");
      EXPECT_TRUE(read_file(folder / "y.npy") == expected) << model << engines << memory;
    }
  }
}

// Several accesses are inside b_transport at once, as many as there would be of loosely timed engines.
TEST(PluginCodingStyles, ABlockingMemoryIsNoSlowerForThem) {
  const auto kernel_ps = [](const char* engines) {
    return number(report_of(conv_on("example", "example/latency_memory", engines, "lt")), "/time/kernel_ps");
  };
  EXPECT_LE(kernel_ps("at"), kernel_ps("lt") * 101 / 100);
}

TEST(PluginCodingStyles, WhatThrowsInTheMiddleOfTheTrafficIsNamed) {
  // An exception that unwinds SystemC's own kernel leaves lists of waiting threads behind.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  auto words = conv_on("misbehaving", "plugin/late", "at", "lt");
  words.insert(words.end(), {"-c", "hbm.options.access=150"});
  expect_error(tilevp(words), 5,
               HasSubstr("error: plug-in " + plugin("misbehaving") + ": memory model 'plugin/late': no such bank"));
  words = conv_on("misbehaving", "plugin/late", "at", "at");
  words.insert(words.end(), {"-c", "hbm.options.access=150"});
  expect_error(tilevp(words), 5, AllOf(HasSubstr(plugin("misbehaving")), HasSubstr("no such bank")));
}

// ---- Options of a model are keys like all others.

TEST(PluginOptions, UnknownKeysAreErrorsWithTheNearest) {
  expect_error(tilevp(scale({"-c", "hbm.options.latncy_ns=3"})), 2,
               HasSubstr("-c hbm.options.latncy_ns: unknown key; nearest is 'hbm.options.latency_ns'"));
}

TEST(PluginOptions, ValuesAreChecked) {
  expect_error(tilevp(scale({"-c", "hbm.options.latency_ns=-1"})), 2,
               HasSubstr("-c hbm.options.latency_ns: expected 0 to 1e9, found -1"));
  expect_error(tilevp(scale({"-c", "hbm.options.latency_ns=fast"})), 2,
               HasSubstr("-c hbm.options.latency_ns: expected a number, found \"fast\""));
  expect_error(tilevp(scale({"-c", "hbm.options=3"})), 2, HasSubstr("expected an object, found 3"));
}

TEST(PluginOptions, ErrorsInAFileNameItsLine) {
  const Folder folder;
  const std::string file = folder / "mine.json";
  write_file(file,
             "{\n  \"hbm\": {\n    \"model\": \"example/latency_memory\",\n    \"options\": {\n"
             "      \"bytes_per_ns\": 0\n    }\n  }\n}\n");
  expect_error(tilevp({"check", file, "--plugin", plugin("example")}), 2,
               HasSubstr("mine.json:5: hbm.options.bytes_per_ns: expected at least 0.001, found 0"));
  expect_error(tilevp({"check", file}), 2,
               AllOf(HasSubstr("mine.json:3: hbm.model: unknown memory model 'example/latency_memory'"),
                     HasSubstr("others come with --plugin")));
}

TEST(PluginOptions, DumpsHoldThem) {
  const Folder folder;
  const auto dump = tilevp({"describe", "platform", "trn1", "--plugin", plugin("example"), "-c",
                            "hbm.model=example/latency_memory", "-c", "hbm.options.latency_ns=30", "--format", "json"});
  ASSERT_EQ(dump.exit_code, 0) << dump.err;
  const auto tree = described::parse("dump", dump.out).tree;
  EXPECT_EQ(tree.at_pointer("/hbm/options/latency_ns").to_number<double>(), 30);
  EXPECT_EQ(tree.at_pointer("/hbm/options/bytes_per_ns").to_number<double>(), 64);
  write_file(folder / "mine.json", dump.out);
  EXPECT_EQ(tilevp({"check", folder / "mine.json", "--plugin", plugin("example")}).exit_code, 0);
}

TEST(PluginOptions, TheBuiltInMemoryHasNone) {
  expect_error(tilevp({"run", "conv2d", "-c", "hbm.options.latency_ns=3"}), 2,
               HasSubstr("-c hbm.options.latency_ns: unknown key; tilevp/memory has no options"));
}

TEST(PluginOptions, ModelsThatAreNotThereHaveANearest) {
  expect_error(tilevp(run_with("example", "scale", {"-c", "hbm.model=example/latncy_memory"})), 2,
               HasSubstr("-c hbm.model: unknown memory model 'example/latncy_memory'; nearest is "
                         "'example/latency_memory'"));
}

// ---- Files that are no plug-in, or another version's.

TEST(PluginFiles, MissingOrNoPlugin) {
  const Folder folder;
  write_file(folder / "text.so", "not a library\n");
  const auto list = [](const std::string& file) { return tilevp({"list", "programs", "--plugin", file}); };
  expect_error(list(folder / "none.so"), 2, HasSubstr("none.so: there is no such plug-in"));
  expect_error(list(folder / "."), 2, HasSubstr("is no file, expected a plug-in"));
  expect_error(list(folder / "text.so"), 2,
               AllOf(HasSubstr("text.so: cannot be loaded as a plug-in: "), Not(HasSubstr("Bad file descriptor"))));
  expect_error(list(plugin("no_symbol")), 2, HasSubstr("is no plug-in: it does not export tilevp_plugin"));
  expect_error(list(plugin("no_magic")), 2, HasSubstr("is no plug-in: its tilevp_plugin begins with 0x1234"));
  expect_error(list(plugin("undefined_symbol")), 2,
               AllOf(HasSubstr("cannot be loaded as a plug-in: "), HasSubstr("tilevp_function_of_another_version")));
  expect_error(list(TILEVP_BINARY), 2, HasSubstr("it does not export tilevp_plugin"));
  expect_error(tilevp({"list", "programs", "--plugin"}), 2, HasSubstr("--plugin"));
}

TEST(PluginFiles, OfAnotherVersionAreRefusedWithBoth) {
  expect_error(tilevp({"list", "programs", "--plugin", plugin("other_abi")}), 2,
               AllOf(HasSubstr("was built for tilevp 9.8.7 (plug-in ABI 4711, gcc 99, Boost 9_99, SystemC 9.9.9)"),
                     HasSubstr("this is tilevp 0.1.0 (plug-in ABI 2, ")));
  expect_error(tilevp({"list", "programs", "--plugin", plugin("other_build")}), 2,
               AllOf(HasSubstr("was built for tilevp 0.1.0 (plug-in ABI 2, gcc 99, "), HasSubstr("this is")));
}

TEST(PluginFiles, NamesThatAreTakenAreRefused) {
  expect_error(tilevp({"list", "programs", "--plugin", plugin("example"), "--plugin", plugin("example")}), 2,
               HasSubstr("example.so: brings the program 'example/scale', which is there already"));
}

TEST(PluginFiles, AreNeverWrittenTo) {
  const Folder folder;
  const std::string copy = folder / "copy.so";
  std::filesystem::copy_file(plugin("example"), copy);
  expect_error(tilevp({"run", "scale", "--plugin", copy, "--report", copy}), 2, HasSubstr("--plugin"));
}

// ---- What leaves a plug-in by an exception.

TEST(PluginFailures, OfAddNameThePlugin) {
  expect_error(tilevp({"list", "programs", "--plugin", plugin("add_throws")}), 5,
               HasSubstr("error: plug-in " + plugin("add_throws") + ": no licence"));
}

TEST(PluginFailures, OfProgramsNameThem) {
  const std::string who = "error: plug-in " + plugin("misbehaving") + ": ";
  expect_error(tilevp(run_with("misbehaving", "plugin/logic-error")), 5,
               HasSubstr(who + "program 'plugin/logic-error': a slip"));
  expect_error(tilevp(run_with("misbehaving", "plugin/number")), 5,
               HasSubstr(who + "program 'plugin/number': an exception of a type that is no std::exception"));
  expect_error(tilevp({"describe", "program", "plugin/touch", "--plugin", plugin("misbehaving")}), 5,
               HasSubstr(who + "program 'plugin/touch': cannot describe"));
}

TEST(PluginFailures, OfMemoriesNameThem) {
  const std::string who = "error: plug-in " + plugin("misbehaving") + ": ";
  expect_error(tilevp(run_with("misbehaving", "plugin/touch", {"-c", "hbm.model=plugin/throwing"})), 5,
               HasSubstr(who + "memory model 'plugin/throwing': no such bank"));
  expect_error(tilevp(run_with("misbehaving", "plugin/touch", {"-c", "hbm.model=plugin/unbuildable"})), 5,
               HasSubstr(who + "memory model 'plugin/unbuildable': too large for me"));
}

// ---- Types agree on both sides of the border.

TEST(PluginTypes, ErrorsKeepTheirMeaning) {
  expect_error(tilevp(run_with("misbehaving", "plugin/user-error")), 2, HasSubstr("error: --x: expected 1, found 2"));
  expect_error(tilevp(run_with("misbehaving", "plugin/fault")), 3,
               AllOf(HasSubstr("fault at "), HasSubstr("9 exceeds 8 [plugin.rule]")));
}

TEST(PluginTypes, ExtensionsAreSeen) {
  const auto result = tilevp(run_with("misbehaving", "plugin/touch", {"-c", "hbm.model=plugin/extension"}));
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace tilevp::test
