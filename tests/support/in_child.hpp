#pragma once
// SystemC allows one elaboration a process: runs that a test compares run in children.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

namespace tilevp::test {

// `body` runs in a child, its words come back through a pipe.
inline std::vector<std::uint64_t> in_child(const std::function<std::vector<std::uint64_t>()>& body) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::vector<std::uint64_t> words = body();
    const auto* bytes = reinterpret_cast<const char*>(words.data());
    std::size_t left = words.size() * sizeof(std::uint64_t);
    while (left > 0) {
      const ssize_t sent = ::write(ends[1], bytes, left);
      if (sent <= 0) _exit(1);
      bytes += sent;
      left -= static_cast<std::size_t>(sent);
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<char> bytes;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    bytes.insert(bytes.end(), buffer, buffer + got);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::vector<std::uint64_t> words(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint64_t));
  return words;
}

}  // namespace tilevp::test
