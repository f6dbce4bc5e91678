#include "tilevp/memory/bandwidth_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/memory/named_models.hpp"

namespace tilevp::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BandwidthModel burst_model(std::int64_t bytes) {
  BandwidthModel model = flat_model(100);
  model.burst_bytes = bytes;
  return model;
}

// Two cores share one HBM port under two names; core 2 models no ports.
std::vector<CoreDescription> cores() {
  return {{0, true, {{"hbm-3e", {{"rw_port_1", 512, "hbm"}, {"r_port_2", 256, ""}}}}},
          {1, true, {{"hbm_alias", {{"rw", 512, "hbm"}}}, {"l2", {{"w", 64, ""}}}}},
          {2, false, {}}};
}

std::string error_of(const BandwidthTable::Entries& entries) {
  try {
    BandwidthTable table(entries, cores());
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(BandwidthTable, PortsWithoutEntryAreFlatAtTheirWidth) {
  const BandwidthTable table({}, cores());
  EXPECT_EQ(table.core(0), nullptr);
  EXPECT_EQ(table.port(0, "hbm-3e", "r_port_2")->model(), flat_model(256));
  EXPECT_EQ(table.port(1, "l2", "w")->rate(1, Direction::write), 64);
}

TEST(BandwidthTable, AnEntryHoldsForEveryNameOfItsPort) {
  const BandwidthTable table({{"1.hbm_alias.rw", burst_model(32)}}, cores());
  EXPECT_EQ(table.port(1, "hbm_alias", "rw")->model(), burst_model(32));
  EXPECT_EQ(table.port(0, "hbm-3e", "rw_port_1")->model(), burst_model(32));
  EXPECT_EQ(table.port(0, "hbm-3e", "r_port_2")->model(), flat_model(256));
}

TEST(BandwidthTable, ACoreEntryReplacesItsPorts) {
  const BandwidthTable table({{"0", burst_model(64)}, {"2", burst_model(16)}}, cores());
  ASSERT_NE(table.core(0), nullptr);
  EXPECT_EQ(table.core(0)->model(), burst_model(64));
  EXPECT_EQ(table.port(0, "hbm-3e", "rw_port_1"), nullptr);
  EXPECT_EQ(table.core(2)->model(), burst_model(16));
  EXPECT_EQ(table.core(1), nullptr);
  EXPECT_EQ(table.port(1, "hbm_alias", "rw")->model(), flat_model(512));
}

TEST(BandwidthTable, EqualEntriesForOnePortAreFine) {
  EXPECT_EQ(error_of({{"0.hbm-3e.rw_port_1", burst_model(32)}, {"1.hbm_alias.rw", burst_model(32)}}), "none");
}

TEST(BandwidthTable, CollectsWarnings) {
  BandwidthModel model = burst_model(32);
  model.strided.read = {{32, 101}};
  const BandwidthTable table({{"0", model}}, cores());
  EXPECT_THAT(table.warnings(),
              ElementsAre("bandwidth[\"0\"].strided.read[0].bits_per_cycle: 101 exceeds contiguous_bits_per_cycle 100 "
                          "and is capped"));
  EXPECT_THAT(BandwidthTable({}, cores()).warnings(), IsEmpty());
}

TEST(BandwidthTableRules, EachBrokenOnce) {
  const BandwidthModel ok = burst_model(32);
  EXPECT_EQ(error_of({{"7", ok}}), "bandwidth[\"7\"]: there is no core 7");
  EXPECT_EQ(error_of({{"0", burst_model(0)}}),
            "bandwidth[\"0\"].burst_bytes: expected a positive whole number, found 0");
  EXPECT_EQ(error_of({{"0", ok}, {"0.hbm-3e.r_port_2", ok}}),
            "bandwidth[\"0.hbm-3e.r_port_2\"]: core 0 has an entry for the whole core, so its ports take none");
  EXPECT_EQ(error_of({{"0", ok}, {"00", ok}}), "bandwidth[\"00\"]: core 0 has an entry already");
  EXPECT_EQ(error_of({{"0.sram.rw", ok}}), "bandwidth[\"0.sram.rw\"]: no core 0 memory sram; there is hbm-3e");
  EXPECT_EQ(error_of({{"0.hbm-3e.w", ok}}),
            "bandwidth[\"0.hbm-3e.w\"]: no core 0 hbm-3e port w; there is rw_port_1, r_port_2");
  EXPECT_EQ(error_of({{"2.l1.rw", ok}}),
            "bandwidth[\"2.l1.rw\"]: core 2 does not model ports; give it one entry for the whole core");
  EXPECT_EQ(error_of({{"0.hbm-3e.rw_port_1", ok}, {"1.hbm_alias.rw", burst_model(64)}}),
            "bandwidth[\"1.hbm_alias.rw\"]: differs from bandwidth[\"0.hbm-3e.rw_port_1\"], which names the same "
            "physical port");
}

TEST(BandwidthTableRules, KeysOfTheWrongForm) {
  for (const std::string key : {"", "x", "-1", "0.", "0.hbm", "0.hbm.", "0..rw", "0.hbm.rw.x", "0.hb m.rw", ".hbm.rw",
                                "+0", "0x1", "99999999999999999999", "0.hbm\xc3\xa9.rw"})
    EXPECT_EQ(error_of({{key, burst_model(32)}}),
              "bandwidth[\"" + key + "\"]: expected <core id> or <core id>.<memory>.<port>, found \"" + key + "\"");
  const BandwidthKey key = parse_bandwidth_key("12.hbm-3e.rw_port_1", "k");
  EXPECT_EQ(key.core, 12);
  EXPECT_EQ(key.memory, "hbm-3e");
  EXPECT_EQ(key.port, "rw_port_1");
  EXPECT_TRUE(parse_bandwidth_key("3", "k").whole_core());
}

TEST(BandwidthTableRules, AskingForNoPortIsADefect) {
  EXPECT_THROW(BandwidthTable({}, cores()).port(0, "hbm-3e", "nope"), Defect);
}

// ---- named models

TEST(NamedModels, BurstMemories) {
  for (const auto& [name, bytes] : {std::pair{"ddr4", 64}, {"ddr5", 64}, {"lpddr5", 32}, {"hbm2e", 32}, {"hbm3", 32}}) {
    BandwidthModel expected = flat_model(128);
    expected.burst_bytes = bytes;
    EXPECT_EQ(named_model(name, 128), expected) << name;
  }
}

TEST(NamedModels, StrixAtItsOwnRateIsTheMeasuredTable) {
  const BandwidthModel model = named_model("npu_ddr", 148.3);
  EXPECT_DOUBLE_EQ(model.ceiling_bits_per_cycle, 296.6);
  EXPECT_EQ(model.burst_bytes, std::nullopt);
  ASSERT_EQ(model.strided.read.size(), 5u);
  EXPECT_NEAR(model.strided.read[2].bits_per_cycle, 53.5, 1e-12);
  EXPECT_NEAR(model.strided.write[0].bits_per_cycle, 17.1, 1e-12);
}

TEST(NamedModels, WormholeShares) {
  const Bandwidth bandwidth(named_model("accel_dram", 178.4));
  EXPECT_NEAR(bandwidth.efficiency(512, Direction::read), 0.942, 1e-9);
  EXPECT_NEAR(bandwidth.efficiency(64, Direction::write), 0.044, 1e-9);
  EXPECT_NEAR(bandwidth.efficiency(2048, Direction::write), 1.0, 1e-9);
}

TEST(NamedModels, EveryOneIsValidAndCited) {
  for (const NamedModel& named : named_models()) {
    EXPECT_THAT(validate(named_model(named.name, 100), named.name), IsEmpty());
    EXPECT_FALSE(named.source.empty()) << named.name;
    EXPECT_TRUE(named.confidence == "high" || named.confidence == "medium" || named.confidence == "low") << named.name;
  }
}

TEST(NamedModels, UnknownNameListsTheKnown) {
  try {
    named_model("ddr3", 1, "dram.bandwidth");
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "dram.bandwidth: expected one of ddr4, ddr5, ddr_random, lpddr5, lpddr5_random, hbm2e, "
                 "hbm2e_random, hbm3, hbm3_random, npu_ddr, accel_dram, found \"ddr3\"");
  }
}

}  // namespace
}  // namespace tilevp::memory
