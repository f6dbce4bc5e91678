#include <gtest/gtest.h>

#include "sample.hpp"
#include "tilevp/described/describe.hpp"
#include "tilevp/described/document.hpp"

namespace tilevp::described {
namespace {

using sample::Kind;
using sample::Machine;

template <class T>
T read_text(std::string_view text) {
  T result{};
  read(result, parse("", text).tree, "");
  check_all(result, "");
  return result;
}

std::string error_of(std::string_view text) {
  try {
    read_text<Machine>(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Reader, ReadsEveryKindOfMember) {
  const auto machine = read_text<Machine>(R"({"title": "t", "dram": {"kind": "lpddr", "latency_ns": -5,
    "size_bytes": 18446744073709551615, "shared": false, "share": 0.25, "burst_bytes": 64,
    "ports": [{"name": "only", "rate_bytes_per_ns": 1e2, "lanes": 255}]}, "clocks_hz": {"pe": 1.4e9, "dma engine": 1}})");
  EXPECT_EQ(machine.title, "t");
  EXPECT_EQ(machine.dram.kind, Kind::lpddr);
  EXPECT_EQ(machine.dram.latency_ns, -5);
  EXPECT_EQ(machine.dram.size_bytes, 18446744073709551615U);
  EXPECT_FALSE(machine.dram.shared);
  EXPECT_EQ(machine.dram.share, 0.25F);
  EXPECT_EQ(machine.dram.burst_bytes, 64);
  ASSERT_EQ(machine.dram.ports.size(), 1U);
  EXPECT_EQ(machine.dram.ports[0].name, "only");
  EXPECT_EQ(machine.dram.ports[0].rate_bytes_per_ns, 100);
  EXPECT_EQ(machine.dram.ports[0].lanes, 255);
  EXPECT_EQ(machine.clocks_hz.at("pe"), 1.4e9);
  EXPECT_EQ(machine.clocks_hz.at("dma engine"), 1);
  EXPECT_FALSE(machine.debug);
}

TEST(Reader, MissingKeysKeepTheDefaults) {
  const auto machine = read_text<Machine>(R"({"dram": {"latency_ns": 1e2}, "debug": {"name": "jtag"}})");
  EXPECT_EQ(machine.title, "none");
  EXPECT_EQ(machine.dram.latency_ns, 100);
  EXPECT_EQ(machine.dram.ports.size(), 2U);
  EXPECT_EQ(machine.debug.value().rate_bytes_per_ns, 8);
}

TEST(Reader, NullEmptiesAnOptional) {
  auto machine = read_text<Machine>(R"({"dram": {"burst_bytes": 64}})");
  read(machine, parse("", R"({"dram": {"burst_bytes": null}})").tree, "");
  EXPECT_FALSE(machine.dram.burst_bytes);
}

TEST(Reader, NamesUnknownKeysWithTheNearest) {
  EXPECT_EQ(error_of(R"({"dram": {"latncy_ns": 1}})"), "dram.latncy_ns: unknown key; nearest is 'dram.latency_ns'");
  EXPECT_EQ(error_of(R"({"Titel": ""})"), "Titel: unknown key; nearest is 'title'");
  EXPECT_EQ(error_of(R"({"dram": {"ports": [{}, {"lane s": 1}]}})"),
            "dram.ports[1][\"lane s\"]: unknown key; nearest is 'dram.ports[1].lanes'");
}

TEST(Reader, NamesTypesThatDoNotFit) {
  EXPECT_EQ(error_of("3"), "expected an object, found 3");
  EXPECT_EQ(error_of(R"({"dram": []})"), "dram: expected an object, found a list of 0");
  EXPECT_EQ(error_of(R"({"dram": {"ports": [{}, {"name": 3}]}})"), "dram.ports[1].name: expected a string, found 3");
  EXPECT_EQ(error_of(R"({"dram": {"ports": {}}})"), "dram.ports: expected a list, found an object");
  EXPECT_EQ(error_of(R"({"dram": {"shared": 1}})"), "dram.shared: expected true or false, found 1");
  EXPECT_EQ(error_of(R"({"dram": {"kind": "hmb"}})"), "dram.kind: expected one of sram, hbm, lpddr, found \"hmb\"");
  EXPECT_EQ(error_of(R"({"dram": {"kind": 1}})"), "dram.kind: expected one of sram, hbm, lpddr, found 1");
  EXPECT_EQ(error_of(R"({"clocks_hz": [1]})"), "clocks_hz: expected an object, found a list of 1");
  EXPECT_EQ(error_of(R"({"clocks_hz": {"pe": "fast"}})"), "clocks_hz.pe: expected a number, found \"fast\"");
  EXPECT_EQ(error_of(R"({"title": null})"), "title: expected a string, found null");
}

TEST(Reader, ChecksTheRangeOfNumbers) {
  EXPECT_EQ(error_of(R"({"dram": {"ports": [{"lanes": 256}]}})"),
            "dram.ports[0].lanes: expected an integer from 0 to 255, found 256");
  EXPECT_EQ(error_of(R"({"dram": {"ports": [{"lanes": -1}]}})"),
            "dram.ports[0].lanes: expected an integer from 0 to 255, found -1");
  EXPECT_EQ(error_of(R"({"dram": {"latency_ns": 1.5}})"),
            "dram.latency_ns: expected an integer from -9223372036854775808 to 9223372036854775807, found 1.5");
  EXPECT_EQ(error_of(R"({"dram": {"latency_ns": 18446744073709551615}})"),
            "dram.latency_ns: expected an integer from -9223372036854775808 to 9223372036854775807, found "
            "18446744073709551615");
  EXPECT_EQ(error_of(R"({"dram": {"size_bytes": 18446744073709551616}})"),
            "dram.size_bytes: expected an integer from 0 to 18446744073709551615, found 18446744073709551616");
  EXPECT_EQ(error_of(R"({"dram": {"share": 1e39}})"), "dram.share: expected a finite number, found one out of range");
}

TEST(Reader, RefusesInfinityInATreeMadeElsewhere) {
  double out = 0;
  EXPECT_THROW(read(out, boost::json::value(std::numeric_limits<double>::infinity()), "x"), KeyError);
}

TEST(Reader, RunsTheChecksOfStructs) {
  EXPECT_EQ(error_of(R"({"dram": {"ports": [{}, {"rate_bytes_per_ns": -3}]}})"),
            "dram.ports[1].rate_bytes_per_ns: expected a positive number, found -3.000000");
  EXPECT_EQ(error_of(R"({"debug": {"rate_bytes_per_ns": 0}})"),
            "debug.rate_bytes_per_ns: expected a positive number, found 0.000000");
}

TEST(Writer, DumpsMembersInTheirOrder) {
  Machine machine;
  machine.clocks_hz["pe"] = 1.4e9;
  EXPECT_EQ(compact(to_json(machine)),
            R"({"title":"none","dram":{"kind":"hbm","latency_ns":100,"size_bytes":1048576,"shared":true,"share":0.5,)"
            R"("burst_bytes":null,"ports":[{"name":"read","rate_bytes_per_ns":8,"lanes":1},)"
            R"({"name":"write","rate_bytes_per_ns":8,"lanes":1}]},"clocks_hz":{"pe":1400000000},"debug":null})");
}

TEST(Writer, WhatItWritesIsReadBack) {
  Machine machine;
  machine.dram.kind = Kind::sram;
  machine.dram.burst_bytes = 7;
  machine.dram.ports.pop_back();
  machine.dram.ports[0].rate_bytes_per_ns = 0.1 + 0.2;
  machine.clocks_hz["odd \"name\""] = 1.0 / 3;
  const auto again = read_text<Machine>(pretty_struct(machine));
  EXPECT_EQ(again.dram.kind, Kind::sram);
  EXPECT_EQ(again.dram.burst_bytes, 7);
  ASSERT_EQ(again.dram.ports.size(), 1U);
  EXPECT_EQ(again.dram.ports[0].rate_bytes_per_ns, 0.30000000000000004);
  EXPECT_EQ(again.clocks_hz, machine.clocks_hz);
}

struct WithTree {
  std::string model = "a";
  boost::json::object options{};
};
BOOST_DESCRIBE_STRUCT(WithTree, (), (model, options))

TEST(Reader, ATreeIsKeptAsItIs) {
  const std::string text = R"({"model":"b","options":{"deep":{"list":[1,"x"]},"rate":0.1}})";
  EXPECT_EQ(compact(to_json(read_text<WithTree>(text))), text);
  EXPECT_THROW(read_text<WithTree>(R"({"options": [1]})"), KeyError);
  EXPECT_EQ(describe_fields<WithTree>()[1].type, "object");
  EXPECT_EQ(describe_fields<WithTree>()[1].default_value, "{}");
}

TEST(Document, LaterChecksNameThePlaceToo) {
  const auto error_at = [](Document& document, const std::string& path) -> std::string {
    try {
      document.read<WithTree>();
      document.check([&] { throw KeyError(path, "is wrong"); });
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  auto document = Document::from_text("d.json", "{\n\"options\": {\n\"rate\": 1}}");
  EXPECT_EQ(error_at(document, "options.rate"), "d.json:3: options.rate: is wrong");
  document.override_with("options.rate=2");
  EXPECT_EQ(error_at(document, "options.rate"), "-c options.rate: is wrong");
  EXPECT_EQ(error_at(document, "model"), "d.json: model: is wrong");
}

TEST(Describe, ListsPathTypeAndDefault) {
  const auto fields = describe_fields<Machine>();
  std::vector<std::string> lines;
  for (const auto& field : fields) lines.push_back(field.path + " | " + field.type + " | " + field.default_value);
  const std::vector<std::string> expected{
      "title | string | \"none\"",
      "dram.kind | one of sram, hbm, lpddr | \"hbm\"",
      "dram.latency_ns | integer | 100",
      "dram.size_bytes | integer from 0 | 1048576",
      "dram.shared | true or false | true",
      "dram.share | number | 0.5",
      "dram.burst_bytes | optional integer -2147483648..2147483647 | null",
      "dram.ports | list of object | [{\"name\":\"read\",\"rate_bytes_per_ns\":8,\"lanes\":1},"
      "{\"name\":\"write\",\"rate_bytes_per_ns\":8,\"lanes\":1}]",
      "dram.ports[].name | string | \"\"",
      "dram.ports[].rate_bytes_per_ns | number | 8",
      "dram.ports[].lanes | integer 0..255 | 1",
      "clocks_hz | map of name to number | {}",
      "debug | optional object | null",
      "debug.name | string | \"\"",
      "debug.rate_bytes_per_ns | number | 8",
      "debug.lanes | integer 0..255 | 1"};
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace tilevp::described
