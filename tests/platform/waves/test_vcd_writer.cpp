#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "support/vcd_reader.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/platform/waves/vcd_writer.hpp"

namespace tilevp::platform {
namespace {

using test::VcdFile;
using testing::ElementsAre;
using testing::HasSubstr;
using Change = test::VcdTrace::Change;

class VcdWriterTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  VcdFile result() const { return VcdFile::read(file_); }
  std::string text() const {
    std::ifstream stream(file_);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const std::string file_ = testing::TempDir() + "tilevp_" + std::to_string(getpid()) + ".vcd";
};

TEST_F(VcdWriterTest, WritesTheWholeFile) {
  VcdWriter vcd(file_);
  const auto busy = vcd.declare("top.pe.busy", 1, SignalKind::flag, 0);
  const auto opcode = vcd.declare("top.pe.opcode", 8, SignalKind::code);
  const auto depth = vcd.declare("top.dma[3].depth", 4, SignalKind::count, 2);
  vcd.record(busy, 100, 1);
  vcd.record(opcode, 100, 5);
  vcd.flush_before(150);
  vcd.record(busy, 200, 0);
  vcd.record(depth, 200, 2);
  vcd.close(300);
  EXPECT_EQ(text(),
            "$version TileVP $end\n"
            "$timescale 1ps $end\n"
            "$scope module top $end\n"
            "$scope module pe $end\n"
            "$var wire 1 ! busy $end\n"
            "$var wire 8 \" opcode [7:0] $end\n"
            "$upscope $end\n"
            "$scope module dma_3 $end\n"
            "$var wire 4 # depth [3:0] $end\n"
            "$upscope $end\n"
            "$upscope $end\n"
            "$enddefinitions $end\n"
            "#0\n$dumpvars\n0!\nbx \"\nb10 #\n$end\n"
            "#100\n1!\nb101 \"\n"
            "#200\n0!\n"
            "#300\n");
}

TEST_F(VcdWriterTest, OrdersRecordsByTimeThenSequence) {
  VcdWriter vcd(file_);
  const auto a = vcd.declare("a", 8, SignalKind::count, 0);
  const auto b = vcd.declare("b", 8, SignalKind::count, 0);
  vcd.record(a, 50, 5);
  vcd.record(b, 20, 2);
  vcd.record(a, 10, 1);
  vcd.record(a, 20, 9);
  vcd.record(a, 20, 3);  // the last of an instant
  vcd.flush_before(20);
  vcd.record(b, 20, 0);  // back to the value it has: no change at all
  vcd.flush_before(21);
  vcd.close(60);
  EXPECT_THAT(result().trace("a").changes, ElementsAre(Change{0, 0}, Change{10, 1}, Change{20, 3}, Change{50, 5}));
  EXPECT_THAT(result().trace("b").changes, ElementsAre(Change{0, 0}));
}

TEST_F(VcdWriterTest, FlushesStrictlyBeforeNow) {
  VcdWriter vcd(file_, {.flush_bytes = 1});
  const auto a = vcd.declare("a", 1, SignalKind::flag, 0);
  vcd.record(a, 10, 1);
  vcd.flush_before(10);
  EXPECT_THAT(text(), testing::Not(HasSubstr("#10")));
  vcd.flush_before(11);
  EXPECT_THAT(text(), testing::EndsWith("#10\n1!\n"));
}

TEST_F(VcdWriterTest, IsReadableUpToTheLastFlush) {
  VcdWriter vcd(file_, {.flush_bytes = 64});
  const auto a = vcd.declare("a", 1, SignalKind::flag, 0);
  for (std::uint64_t t = 1; t <= 100; ++t) vcd.record(a, t, t & 1);
  vcd.flush_before(101);
  const auto so_far = result();
  EXPECT_GT(so_far.trace("a").changes.size(), 80U);
  EXPECT_EQ(so_far.redundant_changes(), 0U);
}

TEST_F(VcdWriterTest, ACloseTruncates) {
  VcdWriter vcd(file_);
  const auto a = vcd.declare("a", 8, SignalKind::count, 0);
  vcd.record(a, 10, 1);
  vcd.record(a, 20, 2);
  vcd.record(a, 30, 3);
  vcd.close(20);
  EXPECT_THAT(result().trace("a").changes, ElementsAre(Change{0, 0}, Change{10, 1}, Change{20, 2}));
  EXPECT_EQ(result().end_ps(), 20U);
}

TEST_F(VcdWriterTest, AnEmergencyCloseEndsAtTheLastFlush) {
  {
    VcdWriter vcd(file_);
    const auto a = vcd.declare("a", 8, SignalKind::count, 0);
    vcd.record(a, 10, 1);
    vcd.flush_before(25);
    vcd.record(a, 90, 2);
  }  // as when an exception passes
  EXPECT_THAT(result().trace("a").changes, ElementsAre(Change{0, 0}, Change{10, 1}));
  EXPECT_EQ(result().end_ps(), 25U);
}

TEST_F(VcdWriterTest, WithoutAnyChangeIsStillAFile) {
  VcdWriter vcd(file_);
  vcd.declare("a.b", 64, SignalKind::code);
  vcd.close(7);
  EXPECT_THAT(result().trace("a.b").changes, ElementsAre(Change{0, std::nullopt}));
  EXPECT_EQ(result().end_ps(), 7U);
}

TEST_F(VcdWriterTest, AWindowStartsWithTheValuesOfThatTime) {
  VcdWriter vcd(file_, {.from_ps = 100, .to_ps = 200});
  const auto a = vcd.declare("a", 8, SignalKind::count);
  const auto b = vcd.declare("b", 8, SignalKind::count, 1);
  for (const std::uint64_t t : {50U, 150U, 250U}) vcd.record(a, t, t);
  vcd.flush_before(240);
  vcd.record(b, 260, 7);
  vcd.close(300);
  EXPECT_THAT(result().trace("a").changes, ElementsAre(Change{100, 50}, Change{150, 150}));
  EXPECT_THAT(result().trace("b").changes, ElementsAre(Change{100, 1}));
  EXPECT_EQ(result().end_ps(), 200U);
}

TEST_F(VcdWriterTest, ARunThatEndsBeforeTheWindowIsValid) {
  VcdWriter vcd(file_, {.from_ps = 100});
  const auto a = vcd.declare("a", 8, SignalKind::count);
  vcd.record(a, 10, 4);
  vcd.close(60);
  EXPECT_THAT(result().trace("a").changes, ElementsAre(Change{60, 4}));
}

// When the host asks for the file to be brought up to date leaves no mark in it.
TEST_F(VcdWriterTest, FlushesChangeNoByte) {
  const auto write = [&](std::uint64_t flush_every) {
    VcdWriter vcd(file_, {.from_ps = 90, .to_ps = 800});
    const auto a = vcd.declare("a", 8, SignalKind::count, 0);
    const auto b = vcd.declare("b", 1, SignalKind::flag);
    for (std::uint64_t now = 0; now < 1000; ++now) {
      if (now % 7 == 0) vcd.record(a, now + now % 5, now % 256);
      if (now % 11 == 0) vcd.record(b, now, now % 2);
      if (now % flush_every == 0) {
        vcd.flush_before(now);
        vcd.write_out();
      }
    }
    vcd.close(1000);
    return text();
  };
  const auto seldom = write(1000);
  EXPECT_EQ(write(1), seldom);
  EXPECT_EQ(write(13), seldom);
}

// The oracle sorts and drops repetitions on its own; flushes come at random moments.
TEST_F(VcdWriterTest, EqualsASortedListForRandomRecords) {
  constexpr std::uint32_t seed = 11;
  std::mt19937_64 random(seed);
  constexpr unsigned signals = 200;  // more than the 94 codes of one character
  std::vector<std::map<std::uint64_t, std::uint64_t>> expected(signals);
  VcdWriter vcd(file_, {.flush_bytes = 100});
  for (unsigned id = 0; id < signals; ++id) {
    vcd.declare("m" + std::to_string(id % 7) + ".s" + std::to_string(id), 1 + id % 64, SignalKind::code, 0);
    expected[id][0] = 0;
  }
  std::uint64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<unsigned>(random() % signals);
    const std::uint64_t value = random() >> (63 - id % 64);
    const std::uint64_t time = now + random() % 500;
    vcd.record(id, time, value);
    expected[id][time] = value;
    if (random() % 4 == 0) vcd.flush_before(now += random() % 100);
  }
  vcd.close(now + 1000);
  const auto file = result();
  for (unsigned id = 0; id < signals; ++id) {
    std::vector<Change> changes;
    for (const auto& [time, value] : expected[id])
      if (changes.empty() || changes.back().value != value) changes.push_back({time, value});
    auto got = file.trace("m" + std::to_string(id % 7) + ".s" + std::to_string(id)).changes;
    // A change at time 0 follows the initial value of $dumpvars.
    if (got.size() > 1 && got[1].time_ps == 0) got.erase(got.begin());
    ASSERT_EQ(got, changes) << "seed " << seed << " signal " << id;
  }
}

TEST_F(VcdWriterTest, RefusesWhatIsOurMistake) {
  VcdWriter vcd(file_);
  const auto a = vcd.declare("a.x", 4, SignalKind::count, 0);
  EXPECT_THROW(vcd.declare("a.x", 1, SignalKind::flag), Defect);
  EXPECT_THROW(vcd.declare("a..y", 1, SignalKind::flag), Defect);
  EXPECT_THROW(vcd.declare("", 1, SignalKind::flag), Defect);
  EXPECT_THROW(vcd.declare("wide", 65, SignalKind::code), Defect);
  EXPECT_THROW(vcd.declare("none", 0, SignalKind::code), Defect);
  EXPECT_THAT([&] { vcd.record(a, 0, 16); }, testing::ThrowsMessage<Defect>("signal 'a.x' of 4 bits set to 16"));
  vcd.flush_before(50);
  EXPECT_THAT([&] { vcd.record(a, 49, 1); },
              testing::ThrowsMessage<Defect>("signal 'a.x' recorded at 49 ps, waves are written up to 50 ps"));
  EXPECT_THROW(vcd.declare("late", 1, SignalKind::flag), Defect);
}

TEST_F(VcdWriterTest, SaysWhyItCannotWrite) {
  EXPECT_THAT([] { VcdWriter("/none/x.vcd"); },
              testing::ThrowsMessage<UserError>("/none/x.vcd: cannot write: No such file or directory"));
  VcdWriter vcd("/dev/full");
  vcd.declare("a", 1, SignalKind::flag);
  EXPECT_THAT([&] { vcd.close(1); },
              testing::ThrowsMessage<UserError>("/dev/full: cannot write: No space left on device"));
}

}  // namespace
}  // namespace tilevp::platform
