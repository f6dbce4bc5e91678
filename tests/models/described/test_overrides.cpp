#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sample.hpp"
#include "tilevp/described/document.hpp"

namespace tilevp::described {
namespace {

using sample::Machine;

Machine read_with(std::string_view text, const std::vector<std::string>& overrides) {
  auto document = Document::from_text("m.json", text);
  for (const auto& assignment : overrides) document.override_with(assignment);
  return document.read<Machine>();
}

std::string error_of(std::string_view text, const std::vector<std::string>& overrides) {
  try {
    read_with(text, overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Overrides, SetWhatTheFileAndTheDefaultsHold) {
  const auto machine = read_with(R"({"dram": {"latency_ns": 5}})",
                                 {"dram.latency_ns=7", "dram.ports[1].lanes=3", "dram.kind=sram", "clocks_hz.pe=1.4e9",
                                  "clocks_hz[\"a=b\"]=2", "debug.name=jtag", "title=true story"});
  EXPECT_EQ(machine.dram.latency_ns, 7);
  EXPECT_EQ(machine.dram.ports[1].lanes, 3);
  EXPECT_EQ(machine.dram.ports[1].name, "write");
  EXPECT_EQ(machine.dram.kind, sample::Kind::sram);
  EXPECT_EQ(machine.clocks_hz.at("pe"), 1.4e9);
  EXPECT_EQ(machine.clocks_hz.at("a=b"), 2);
  EXPECT_EQ(machine.debug.value().name, "jtag");
  EXPECT_EQ(machine.title, "true story");
}

TEST(Overrides, TheLastOneWins) {
  EXPECT_EQ(read_with("{}", {"dram.latency_ns=1", "dram.latency_ns=2"}).dram.latency_ns, 2);
  EXPECT_EQ(read_with("{}", {"dram.ports=[{\"name\":\"x\"}]", "dram.ports[0].lanes=9"}).dram.ports[0].lanes, 9);
}

TEST(Overrides, ASwitchIsOnOrOff) {
  EXPECT_TRUE(read_with("{}", {"dram.shared=on"}).dram.shared);
  EXPECT_FALSE(read_with(R"({"dram": {"shared": true}})", {"dram.shared=off"}).dram.shared);
}

TEST(Overrides, AreNamedAsThePlaceOfAnError) {
  EXPECT_EQ(error_of("{}", {"dram.latncy_ns=1"}), "-c dram.latncy_ns: unknown key; nearest is 'dram.latency_ns'");
  EXPECT_EQ(error_of("{}", {"drma.latency_ns=1"}), "-c drma.latency_ns: unknown key; nearest is 'dram'");
  EXPECT_EQ(error_of("{}", {"dram.shared=maybe"}), "-c dram.shared: expected true or false, found \"maybe\"");
  EXPECT_EQ(error_of("{}", {"dram.share=1e400"}), "-c dram.share: expected a number, found \"1e400\"");
  EXPECT_EQ(error_of("{}", {"dram.ports[0].rate_bytes_per_ns=-3"}),
            "-c dram.ports[0].rate_bytes_per_ns: expected a positive number, found -3.000000");
  EXPECT_EQ(error_of("{}", {"debug={\"nam\":1}"}), "-c debug: debug.nam: unknown key; nearest is 'debug.name'");
}

TEST(Overrides, LeaveTheFileTheFilesErrors) {
  EXPECT_EQ(error_of("{\n\"dram\": {\n\"shared\": 1}}", {"dram.latency_ns=1"}),
            "m.json:3: dram.shared: expected true or false, found 1");
  EXPECT_EQ(error_of("{\"dram\": {\"ports\": [\n{\n\"rate_bytes_per_ns\": 0}]}}", {"dram.latency_ns=1"}),
            "m.json:3: dram.ports[0].rate_bytes_per_ns: expected a positive number, found 0.000000");
  EXPECT_EQ(error_of("{\"dram\":\n [1, 2]}", {}), "m.json:1: dram: expected an object, found a list of 2");
  EXPECT_EQ(error_of("[]", {}), "m.json: expected an object, found a list of 0");
}

TEST(Overrides, MayMendWhatAloneFailsACheck) {
  EXPECT_EQ(error_of(R"({"debug": {"rate_bytes_per_ns": 0}})", {"debug.rate_bytes_per_ns=1"}), "no error");
}

TEST(Overrides, RefusePathsThatLeadNowhere) {
  EXPECT_EQ(error_of("{}", {"dram.ports[5].lanes=1"}), "-c dram.ports[5].lanes: the list 'dram.ports' has 2 elements");
  EXPECT_EQ(error_of("{}", {"dram[0]=1"}), "-c dram[0]: 'dram' is no list but an object");
  EXPECT_EQ(error_of("{}", {"title.x=1"}), "-c title.x: 'title' is no object but \"none\"");
}

TEST(Overrides, RefuseMalformedText) {
  EXPECT_EQ(error_of("{}", {"dram"}), "-c dram: expected PATH=VALUE");
  EXPECT_EQ(error_of("{}", {"=1"}), "-c =1: an empty path");
  EXPECT_EQ(error_of("{}", {"dram..x=1"}), "-c dram..x=1: an empty key in the path");
  EXPECT_EQ(error_of("{}", {"dram.=1"}), "-c dram.=1: an empty key in the path");
  EXPECT_EQ(error_of("{}", {"a[x]=1"}), "-c a[x]=1: expected an index in '[]', found 'x'");
  EXPECT_EQ(error_of("{}", {"a[-1]=1"}), "-c a[-1]=1: expected an index in '[]', found '-1'");
  EXPECT_EQ(error_of("{}", {"a[1=1"}), "-c a[1=1: a '[' without its ']'");
  EXPECT_EQ(error_of("{}", {"a[0]b=1"}), "-c a[0]b=1: expected '.' or '[' before 'b'");
  EXPECT_EQ(error_of("{}", {"a[\"b]=1"}), "-c a[\"b]=1: expected PATH=VALUE");
}

TEST(Document, ReadsAFileAndNamesIt) {
  const auto file = std::filesystem::path(testing::TempDir()) / "tilevp_document.json";
  std::ofstream(file) << "{ // why\n \"title\": 4 }";
  auto document = Document::from_file(file);
  try {
    document.read<Machine>();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), file.string() + ":2: title: expected a string, found 4");
  }
  std::filesystem::remove(file);
  EXPECT_THAT([&] { Document::from_file(file); },
              testing::ThrowsMessage<UserError>(file.string() + ": cannot read: No such file or directory"));
  EXPECT_THAT([&] { Document::from_file(testing::TempDir()); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("is a directory")));
}

TEST(Document, WithoutAFileIsTheDefaults) { EXPECT_EQ(Document().read<Machine>().dram.latency_ns, 100); }

}  // namespace
}  // namespace tilevp::described
