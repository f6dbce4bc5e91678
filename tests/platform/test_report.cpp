#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/platform/report.hpp"
#include "tilevp/platform/schema.hpp"

namespace tilevp::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> keys(const boost::json::value& tree) {
  std::vector<std::string> names;
  for (const auto& [key, member] : tree.as_object()) names.emplace_back(key);
  return names;
}

Report filled() {
  Report report;
  report.program = "neuron/conv2d";
  report.program_options = {{"shape", "1,2,3,4"}};
  report.domains = {{"pe", 2.8e9, 5}};
  report.units = {{.path = "core0.pe",
                   .kind = "pe",
                   .clock = "pe",
                   .busy_cycles = 3,
                   .stalled = {{"semaphore", 2}},
                   .instructions = 1,
                   .utilisation = 0.25}};
  report.memories = {{.path = "hbm", .port = "port", .bytes_read = 9}};
  report.dma = {{.queue = "dma0.q1", .descriptors = 1, .runs = 2, .bursts = 3, .bytes = 4}};
  report.matrix = {{.path = "core0", .macs = 3}};
  report.waiting = {{"core0.pe", "semaphore 3", 7, "1", "2"}};
  report.fault = FaultReport{"pe.moving", "core0.pe", 12, "moving free size 640 exceeds 512"};
  report.stopped = BreakReport{"vector", 3, "halt", 9};
  report.verification = runtime::Verification{.kind = "exact",
                                              .compared = 10,
                                              .mismatches = 1,
                                              .max_abs_error = std::numeric_limits<double>::infinity(),
                                              .max_ulp = 4,
                                              .first_index = {1, 2},
                                              .first_got = std::nan(""),
                                              .first_expected = 1.5};
  report.result = {{"macs", 42}};
  report.warnings = {"a warning"};
  report.files = {{"report", "r.json"}};
  return report;
}

TEST(Report, KeysAndTheirOrder) {
  const auto tree = to_json(filled());
  EXPECT_THAT(keys(tree),
              ElementsAre("schema", "tool", "program", "platform", "status", "seed", "time", "host", "verification",
                          "performance", "fault", "break", "waiting", "result", "warnings", "files"));
  EXPECT_THAT(keys(tree.at("program")), ElementsAre("name", "options", "variant"));
  EXPECT_THAT(keys(tree.at("platform")), ElementsAre("name", "description_sha256", "overrides"));
  EXPECT_THAT(keys(tree.at("host")),
              ElementsAre("wall_s", "machine_s", "cpu_s", "peak_rss_bytes", "threads", "reference_s", "ratio"));
  EXPECT_THAT(keys(tree.at("performance")), ElementsAre("bound_by", "units", "memories", "dma", "matrix", "streams",
                                                        "intervals", "layouts", "critical_path"));
  EXPECT_THAT(keys(tree.at("performance").at("units").at(0)),
              ElementsAre("path", "kind", "clock", "busy_cycles", "stalled", "instructions", "utilisation"));
  EXPECT_THAT(keys(tree.at("performance").at("memories").at(0)),
              ElementsAre("path", "port", "bytes_read", "bytes_written", "wasted_bytes", "busy_ps", "peak_bytes",
                          "by_partition", "by_bank"));
  EXPECT_THAT(keys(tree.at("performance").at("dma").at(0)),
              ElementsAre("queue", "descriptors", "runs", "bursts", "bytes", "wasted_bytes", "busy_ps", "stalled"));
  EXPECT_THAT(keys(tree.at("performance").at("matrix").at(0)),
              ElementsAre("path", "macs", "row_padding_macs", "step_padding_macs", "waiting_macs", "useful_share",
                          "row_padding_share", "step_padding_share", "waiting_share"));
  EXPECT_THAT(keys(tree.at("waiting").at(0)), ElementsAre("who", "what", "since_ps", "has", "wants"));
  EXPECT_THAT(keys(tree.at("break")), ElementsAre("unit", "number", "instruction", "time_ps"));
  EXPECT_EQ(tree.at("schema"), "tilevp-report/1");
}

TEST(Report, ValuesJsonCannotHoldAreText) {
  const auto verification = to_json(filled()).at("verification");
  EXPECT_EQ(verification.at("max_abs_error"), "inf");
  EXPECT_EQ(verification.at("first").at("got"), "nan");
  EXPECT_EQ(verification.at("first").at("expected"), 1.5);
}

TEST(Report, FullAndEmptyReportsFitTheSchema) {
  EXPECT_NO_THROW(check_report(to_json(filled()), "full"));
  const auto empty = to_json(Report{});
  EXPECT_NO_THROW(check_report(empty, "empty"));
  EXPECT_TRUE(empty.at("fault").is_null());
  EXPECT_TRUE(empty.at("break").is_null());
  EXPECT_TRUE(empty.at("verification").is_null());
  EXPECT_TRUE(empty.at("performance").at("bound_by").is_null());
}

TEST(Report, AWrongReportIsRefused) {
  auto tree = to_json(filled());
  tree.as_object()["status"] = "ready";
  EXPECT_THROW(check_report(tree, "r.json"), UserError);
  tree = to_json(filled());
  tree.at("time").as_object()["simulated_ps"] = 1.5;
  EXPECT_THROW(check_report(tree, "r.json"), UserError);
  tree = to_json(filled());
  tree.as_object().erase("host");
  EXPECT_THROW(check_report(tree, "r.json"), UserError);
}

TEST(Report, IsWrittenWhole) {
  const auto file =
      (std::filesystem::temp_directory_path() / ("tilevp-report-" + std::to_string(getpid()) + ".json")).string();
  write_report(file, filled());
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_EQ(text.str(), described::pretty(to_json(filled())));
  EXPECT_THROW(write_report("/no/such/folder/r.json", filled()), UserError);
}

}  // namespace
}  // namespace tilevp::platform
