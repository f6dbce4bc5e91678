#pragma once
// Reads what a run writes through a named pipe, which holds the run until it is read.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "system/command_runner.hpp"

namespace tilevp::test {

class PipeReader {
 public:
  // Waits until somebody opens the pipe to write.
  explicit PipeReader(const std::string& pipe) : descriptor_(open(pipe.c_str(), O_RDONLY | O_CLOEXEC)) {}
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;
  ~PipeReader() { close(descriptor_); }

  const std::string& text() const { return text_; }
  // Waits for more; false at the end.
  bool read_more() {
    std::array<char, 4096> buffer;
    const ssize_t count = read(descriptor_, buffer.data(), buffer.size());
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  void read_until(const std::string& part) {
    while (text_.find(part) == std::string::npos && read_more()) continue;
  }
  // Waits until the pipe holds all it can, so that the writer waits for us.
  void await_full() const {
    const int capacity = fcntl(descriptor_, F_GETPIPE_SZ);
    for (int held = 0; held < capacity; std::this_thread::yield()) ASSERT_EQ(ioctl(descriptor_, FIONREAD, &held), 0);
  }
  void read_all() {
    while (read_more()) continue;
  }

 private:
  int descriptor_;
  std::string text_;
};

inline std::string make_pipe(const Folder& folder, const std::string& name) {
  const auto pipe = folder / name;
  EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  return pipe;
}

}  // namespace tilevp::test
