#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/vcd_reader.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/platform/waves/gtkw.hpp"
#include "tilevp/platform/waves/natural_order.hpp"
#include "tilevp/platform/waves/vcd_writer.hpp"

namespace tilevp::platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string head =
    "[*] TileVP\n[dumpfile] \"run.vcd\"\n[savefile] \"run.gtkw\"\n"
    "[size] 1280 720\n[pos] -1 -1\n[sst_expanded] 0\n[signals_width] 260\n";

std::string view(const std::vector<VcdSignal>& signals, GtkwContents contents = GtkwContents::every_signal) {
  return gtkw_view("/some/where/run.vcd", signals, contents);
}

// The traces of a view as GTKWave looks them up, without alias and range.
std::vector<std::string> traces(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("+{")) {
      line = line.substr(line.find("} ") + 2);
      result.push_back(line.substr(0, line.find('[')));
    }
  return result;
}

TEST(Natural, NumbersCompareAsNumbers) {
  EXPECT_TRUE(natural_less("dma2.busy", "dma10.busy"));
  EXPECT_FALSE(natural_less("dma10.busy", "dma2.busy"));
  EXPECT_TRUE(natural_less("dma2.queue9.depth", "dma2.queue11.depth"));
  EXPECT_TRUE(natural_less("dma2", "dma2.busy"));
  EXPECT_TRUE(natural_less("a99999999999999999999998", "a99999999999999999999999"));
  EXPECT_TRUE(natural_less("a", "b1"));
  EXPECT_TRUE(natural_less("a0", "a1"));
  EXPECT_FALSE(natural_less("a07", "a7"));
  EXPECT_FALSE(natural_less("a7", "a07"));
  EXPECT_FALSE(natural_less("same", "same"));
}

TEST(Gtkw, FilesAreNamedWithoutTheirFolder) {
  EXPECT_EQ(view({}), head + "[timestart] 0\n");
  EXPECT_EQ(gtkw_file_of("/some/where/run.vcd"), "/some/where/run.gtkw");
}

TEST(Gtkw, SectionsInTheRadixOfTheKind) {
  EXPECT_EQ(view({{"core0.pe.opcode", 8, SignalKind::code},
                  {"core0.pe.waiting", 3, SignalKind::count},
                  {"core0.pe.busy", 1, SignalKind::flag},
                  {"alone", 2, SignalKind::flag}}),
            head +
                "[timestart] 0\n"
                "@800200\n-engines\n"
                "@28\n+{core0 pe busy} core0.pe.busy\n@24\n+{core0 pe waiting} core0.pe.waiting[2:0]\n"
                "@1000200\n-engines\n"
                "@c00200\n-instructions\n@22\n+{core0 pe opcode} core0.pe.opcode[7:0]\n@1401200\n-instructions\n"
                "@c00200\n-alone\n@28\n+{alone} alone[1:0]\n@1401200\n-alone\n");
}

// Values 1 and 10 of 4 bits are one hexadecimal digit, of 8 bits two.
TEST(Gtkw, CodesAreShownByTheirNames) {
  const std::vector<ValueName> states{{1, "run"}, {10, "weight load"}};
  const std::vector<ValueName> others{{1, "run"}, {10, "walk"}};
  const std::vector<VcdSignal> signals{
      {.name = "core0.pe.opcode", .bits = 8, .kind = SignalKind::code, .names = states},
      {.name = "core0.pe.waiting", .bits = 4, .kind = SignalKind::code, .names = states},
      {.name = "core0.sync.waiting", .bits = 4, .kind = SignalKind::code, .names = states},
      {.name = "core1.pe.waiting", .bits = 4, .kind = SignalKind::code, .names = others}};
  const auto tables = gtkw_tables("/some/where/run.vcd", signals);
  ASSERT_EQ(tables.size(), 3u);
  EXPECT_EQ(tables[0].file, "/some/where/run.gtkw.opcode");
  EXPECT_EQ(tables[0].text, "01 run\n0a weight load\n");
  EXPECT_EQ(tables[1].file, "/some/where/run.gtkw.waiting");
  EXPECT_EQ(tables[1].text, "1 run\na weight load\n");
  EXPECT_EQ(tables[2].file, "/some/where/run.gtkw.waiting2");
  EXPECT_EQ(tables[2].text, "1 run\na walk\n");
  const auto text = view(signals);
  EXPECT_THAT(text, HasSubstr("@2022\n^1 run.gtkw.opcode\n+{core0 pe opcode} core0.pe.opcode[7:0]\n"));
  EXPECT_THAT(text, HasSubstr("@2022\n^1 run.gtkw.waiting\n+{core0 sync waiting} core0.sync.waiting[3:0]\n"));
  EXPECT_THAT(text, HasSubstr("@2022\n^1 run.gtkw.waiting2\n+{core1 pe waiting} core1.pe.waiting[3:0]\n"));
}

TEST(Gtkw, WhatNoSectionKnowsIsGroupedByModule) {
  const auto text = view({{"aie0.tile10.core.busy", 1, SignalKind::flag},
                          {"aie0.tile2.lock3", 6, SignalKind::count},
                          {"aie0.tile2.core.pc_address", 16, SignalKind::code},
                          {"cube0.busy", 1, SignalKind::flag}});
  EXPECT_THAT(text, testing::EndsWith(
                        "@c00200\n-aie0.tile2\n@22\n+{aie0 tile2 core pc_address} aie0.tile2.core.pc_address[15:0]\n"
                        "@24\n+{aie0 tile2 lock3} aie0.tile2.lock3[5:0]\n@1401200\n-aie0.tile2\n"
                        "@c00200\n-aie0.tile10\n@28\n+{aie0 tile10 core busy} aie0.tile10.core.busy\n@1401200\n"
                        "-aie0.tile10\n@c00200\n-cube0\n@28\n+{cube0 busy} cube0.busy\n@1401200\n-cube0\n"));
}

TEST(Gtkw, WhatTheEnginesDoComesFirstInTheOrderOfNumbers) {
  std::vector<VcdSignal> signals;
  for (const auto* name :
       {"core0.gpsimd.busy", "core0.pe.busy", "core0.pe.waiting", "core0.psum.bank0.busy",
        "core0.psum.bank0.open_group", "core0.scalar.busy", "core0.semaphore.10", "core0.semaphore.9",
        "core0.sync.waiting", "core0.vector.busy", "core0.vector.waiting", "core1.pe.busy", "dma1.busy", "dma10.busy",
        "dma10.queue0.depth", "dma2.busy", "dma2.queue11.depth", "dma2.queue3.depth", "hbm.busy"})
    signals.push_back({name, 1, SignalKind::flag});
  EXPECT_THAT(
      traces(view(signals)),
      ElementsAre("core0.pe.busy", "core0.pe.waiting", "core0.vector.busy", "core0.vector.waiting", "core0.scalar.busy",
                  "core0.gpsimd.busy", "core0.sync.waiting", "core1.pe.busy", "dma1.busy", "dma2.busy", "dma10.busy",
                  "hbm.busy", "core0.psum.bank0.busy", "dma2.queue3.depth", "dma2.queue11.depth", "dma10.queue0.depth",
                  "core0.semaphore.9", "core0.semaphore.10", "core0.psum.bank0.open_group"));
}

// 200 pixels show 2^-zoom; 4.5 times that are seen. A span of 60 * 2^20 and a margin of a fortieth of it at both ends
// are 63 * 2^20 = 4.5 * 14 * 2^20, and log2(14) = 3.807355.
TEST(Gtkw, TheActivityFillsTheWindow) {
  constexpr std::uint64_t unit = 1 << 20;
  std::vector<VcdSignal> signals{
      {"core0.pe.busy", 1, SignalKind::flag, VcdChanges{110 * unit, 160 * unit}},
      {"core0.sync.busy", 1, SignalKind::flag, VcdChanges{100 * unit, 102 * unit}},
      {"core0.pe.waiting", 3, SignalKind::count, VcdChanges{1, 900 * unit}},
      {"hbm.busy", 1, SignalKind::flag, VcdChanges{2, 1000 * unit}},
  };
  // 98.5 * 2^20 and 100 * 2^20
  EXPECT_THAT(view(signals), HasSubstr("\n[timestart] 103284736\n*-23.807355 104857600\n"));
  // Without an engine's busy, whatever changed.
  signals.erase(signals.begin(), signals.begin() + 3);
  signals[0].changes = VcdChanges{0, 60 * unit};
  EXPECT_THAT(view(signals), HasSubstr("\n[timestart] 0\n*-23.807355 0\n"));
  // One change only: 1 ps to show, log2(1 / 4.5) = -2.169925.
  signals[0].changes = VcdChanges{7, 7};
  EXPECT_THAT(view(signals), HasSubstr("\n[timestart] 7\n*2.169925 7\n"));
}

class GtkwFile : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove(file_);
    std::filesystem::remove(gtkw_file_of(file_));
  }
  std::string written() const {
    std::ifstream stream(gtkw_file_of(file_));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const std::string file_ = testing::TempDir() + "tilevp_gtkw_" + std::to_string(getpid()) + ".vcd";
};

TEST_F(GtkwFile, EveryNameStandsInTheVcd) {
  VcdWriter vcd(file_);
  const auto full = vcd.declare("core0.psum.bank[7].full", 1, SignalKind::flag, 0);
  const auto bytes = vcd.declare("core0.psum.bank[7].bytes", 20, SignalKind::count, 0);
  const auto opcode = vcd.declare("core0.pe.opcode", 8, SignalKind::code, 0);
  vcd.declare("core0.pe.busy", 1, SignalKind::flag, 0);
  write_gtkw(file_, vcd.signals(), GtkwContents::every_signal);
  EXPECT_EQ(traces(written()).size(), 4U);
  for (const auto id : {full, bytes, opcode}) vcd.record(id, 5, 1);
  vcd.close(9);
  const auto waves = test::VcdFile::read(file_);
  for (const auto& name : traces(written())) EXPECT_TRUE(waves.has(name)) << name;
  write_gtkw(file_, vcd.signals(), GtkwContents::changed_signals);
  EXPECT_EQ(traces(written()).size(), 3U);
  for (const auto& name : traces(written())) EXPECT_TRUE(waves.has(name)) << name;
}

TEST_F(GtkwFile, LeavesOutWhatNeverChangedInTheFile) {
  VcdWriter vcd(file_, {.from_ps = 20, .to_ps = 60});
  const auto pe = vcd.declare("core0.pe.busy", 1, SignalKind::flag, 0);
  const auto vector = vcd.declare("core0.vector.busy", 1, SignalKind::flag, 0);
  const auto early = vcd.declare("dma0.busy", 1, SignalKind::flag, 0);
  const auto late = vcd.declare("dma1.busy", 1, SignalKind::flag, 0);
  vcd.declare("dma2.busy", 1, SignalKind::flag, 0);
  vcd.record(vector, 30, 0);  // the value it has
  vcd.record(early, 10, 1);
  vcd.record(late, 70, 1);
  vcd.record(pe, 30, 1);
  vcd.record(pe, 40, 0);
  vcd.record(pe, 50, 0);
  vcd.close(90);
  const auto text = gtkw_view(file_, vcd.signals(), GtkwContents::changed_signals);
  EXPECT_THAT(traces(text), ElementsAre("core0.pe.busy"));
  EXPECT_THAT(text, Not(HasSubstr("-dma")));
  // 10 ps of activity, no margin: log2(10 / 4.5) = 1.152003.
  EXPECT_THAT(text, HasSubstr("\n[timestart] 30\n*-1.152003 30\n"));
}

TEST(Gtkw, SaysWhyItCannotWrite) { EXPECT_THROW(write_gtkw("/none/x.vcd", {}, GtkwContents::every_signal), UserError); }

}  // namespace
}  // namespace tilevp::platform
