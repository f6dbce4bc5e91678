#include "tilevp/platform/streamed_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tilevp/base/errors.hpp"

namespace tilevp::platform {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Writes down what is asked of it.
class Recorder final : public StreamedOutput {
 public:
  Recorder(std::vector<std::string>& calls, std::string name, bool fails = false)
      : calls_(calls), name_(std::move(name)), fails_(fails) {}
  void flush(std::uint64_t now_ps) override { calls_.push_back(name_ + " flush " + std::to_string(now_ps)); }
  void close(std::uint64_t end_ps) override {
    calls_.push_back(name_ + " close " + std::to_string(end_ps));
    if (fails_) throw UserError(name_, "is full");
  }
  void discard() noexcept override { calls_.push_back(name_ + " discard"); }
  std::map<std::string, std::string> files() const override { return {{name_, name_ + ".out"}}; }

 private:
  std::vector<std::string>& calls_;
  std::string name_;
  bool fails_;
};

TEST(StreamedOutputs, AllHearOfEverything) {
  std::vector<std::string> calls;
  StreamedOutputs outputs;
  EXPECT_TRUE(outputs.empty());
  outputs.add(std::make_unique<Recorder>(calls, "a"));
  outputs.add(std::make_unique<Recorder>(calls, "b"));
  outputs.flush(3);
  outputs.close(9);
  EXPECT_THAT(calls, ElementsAre("a flush 3", "b flush 3", "a close 9", "b close 9"));
  EXPECT_THAT(outputs.files(), ElementsAre(Pair("a", "a.out"), Pair("b", "b.out")));
}

TEST(StreamedOutputs, OneThatFailsIsDiscardedAndTheOthersClose) {
  std::vector<std::string> calls;
  StreamedOutputs outputs;
  outputs.add(std::make_unique<Recorder>(calls, "a", true));
  outputs.add(std::make_unique<Recorder>(calls, "b", true));
  outputs.add(std::make_unique<Recorder>(calls, "c"));
  try {
    outputs.close(5);
    ADD_FAILURE() << "expected the first failure";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "a: is full");
  }
  EXPECT_THAT(calls, ElementsAre("a close 5", "a discard", "b close 5", "b discard", "c close 5"));
}

TEST(RemoveRegularFile, TakesWhatALinkPointsToAndNoDevice) {
  const std::string file = testing::TempDir() + "tilevp_remove_" + std::to_string(getpid());
  const std::string link = file + "_link";
  std::ofstream(file) << "text";
  std::filesystem::create_symlink(file, link);
  remove_regular_file(link);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::filesystem::remove(link);
  remove_regular_file(file);  // is not there any more
  remove_regular_file("/dev/null");
  EXPECT_TRUE(std::filesystem::exists("/dev/null"));
}

}  // namespace
}  // namespace tilevp::platform
