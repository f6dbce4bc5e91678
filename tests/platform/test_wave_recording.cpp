// What stands beside the waves at each stage of a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tilevp/platform/wave_recording.hpp"

namespace tilevp::platform {
namespace {

using testing::HasSubstr;
using testing::Not;

class WaveRecordingTest : public testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove(vcd_);
    std::filesystem::remove(view_);
  }
  std::string view() const {
    std::ifstream stream(view_);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const std::string stem_ = testing::TempDir() + "tilevp_recording_" + std::to_string(getpid());
  const std::string vcd_ = stem_ + ".vcd";
  const std::string view_ = stem_ + ".gtkw";
  ProbeRegistry registry_;
  Probe pe_{registry_, "core0.pe.busy", 1, "busy"};
  Probe dma_{registry_, "dma0.busy", 1, "busy"};
};

TEST_F(WaveRecordingTest, TheViewIsWrittenAgainWhenTheFileCloses) {
  WaveRecording waves(registry_, vcd_, {});
  EXPECT_EQ(waves.files().at("gtkw"), view_);
  EXPECT_THAT(view(), testing::AllOf(HasSubstr("core0.pe.busy\n"), HasSubstr("dma0.busy\n"), Not(HasSubstr("\n*"))));
  pe_.set(400, 1);
  pe_.set(1200, 0);
  dma_.set(5000, 1);  // beyond the end: it never happened
  waves.close(2000);
  // 800 ps and 20 ps at both ends: log2(840 / 4.5) = 7.544321.
  EXPECT_THAT(view(), testing::AllOf(HasSubstr("[timestart] 380\n*-7.544321 400\n"), HasSubstr("core0.pe.busy\n"),
                                     Not(HasSubstr("dma0"))));
}

TEST_F(WaveRecordingTest, ARunThatBreaksOffLeavesAViewOfWhatWasWritten) {
  {
    WaveRecording waves(registry_, vcd_, {});
    dma_.set(0, 1);
  }
  EXPECT_THAT(view(), testing::AllOf(HasSubstr("[savefile]"), HasSubstr("dma0.busy\n"), Not(HasSubstr("core0"))));
}

TEST_F(WaveRecordingTest, AViewThatCannotBeWrittenAgainIsNoHarmOnTheWayOut) {
  std::filesystem::create_directory(stem_ + "_folder");
  const std::string file = stem_ + "_folder/w.vcd";
  {
    WaveRecording waves(registry_, file, {});
    std::filesystem::remove_all(stem_ + "_folder");
  }
  EXPECT_FALSE(std::filesystem::exists(stem_ + "_folder"));
}

TEST_F(WaveRecordingTest, DiscardedFilesAreGone) {
  const std::vector<ValueName> names{{1, "one"}};
  Probe code{registry_, "core0.pe.opcode", 8, "code", names};
  WaveRecording waves(registry_, vcd_, {});
  for (const auto& file : {vcd_, view_, view_ + ".opcode"}) EXPECT_TRUE(std::filesystem::exists(file)) << file;
  waves.discard();
  for (const auto& file : {vcd_, view_, view_ + ".opcode"}) EXPECT_FALSE(std::filesystem::exists(file)) << file;
}

TEST_F(WaveRecordingTest, NoViewBesideADevice) {
  WaveRecording waves(registry_, "/dev/null", {});
  waves.close(10);
  EXPECT_FALSE(waves.files().contains("gtkw"));
  EXPECT_FALSE(std::filesystem::exists("/dev/null.gtkw"));
}

}  // namespace
}  // namespace tilevp::platform
