#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tilevp/base/atomic_file.hpp"

namespace tilevp {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("tilevp_atomic_" + std::to_string(getpid()));
    fs::create_directory(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  static std::string content(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

 private:
  fs::path directory_;
};

TEST_F(AtomicFileTest, AppearsOnCommitOnly) {
  std::ofstream(path("x")) << "old";
  AtomicFile file(path("x"));
  file.write("new");
  EXPECT_EQ(content(path("x")), "old");
  EXPECT_TRUE(fs::exists(path("x.tmp-") + std::to_string(getpid())));
  file.commit();
  EXPECT_EQ(content(path("x")), "new");
  EXPECT_EQ(files(), 1U);
  EXPECT_THROW(file.commit(), Defect);
  EXPECT_THROW(file.write("more"), Defect);
}

TEST_F(AtomicFileTest, LeavesNothingWithoutACommit) {
  { AtomicFile(path("x")).write("half"); }
  EXPECT_EQ(files(), 0U);
}

TEST_F(AtomicFileTest, KeepsPermissionsAndSymbolicLinks) {
  std::ofstream(path("real")) << "old";
  fs::permissions(path("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", path("link"));
  AtomicFile file(path("link"));
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("real")), "new");
  EXPECT_EQ(fs::status(path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AtomicFileTest, WritesDevicesDirectly) {
  AtomicFile file("/dev/null");
  file.write("gone");
  file.commit();
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(AtomicFileTest, SaysWhyItCannotWrite) {
  EXPECT_THAT([&] { AtomicFile file(path("none/x")); },
              testing::ThrowsMessage<UserError>(path("none/x") + ": cannot write: No such file or directory"));
  EXPECT_THAT([&] { AtomicFile file(path("")); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("cannot write: Is a directory")));
  EXPECT_THAT(
      [&] {
        AtomicFile file("/dev/full");
        file.write("x");
      },
      testing::ThrowsMessage<UserError>("/dev/full: cannot write: No space left on device"));
}

}  // namespace
}  // namespace tilevp
