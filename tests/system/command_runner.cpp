#include "system/command_runner.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace tilevp::test {

std::string without_asan_notice(std::string err) {
  const auto notice = err.find("WARNING: ASan is ignoring requested __asan_handle_no_return");
  if (notice == std::string::npos) return err;
  const auto begin = err.rfind('\n', notice) + 1;
  auto end = begin;
  for (int line = 0; line < 3; ++line) end = err.find('\n', end) + 1;
  return err.erase(begin, end - begin);
}

namespace {

// Every run is watched for breaches of the TLM-2.0 base protocol.
std::vector<std::string> watched(std::vector<std::string> words) {
  if (words.size() >= 2 && words[0] == "run" && !words[1].starts_with("-"))
    words.insert(words.begin() + 2, {"-c", "checks.protocol=true"});
  return words;
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& words, const WhileRunning& while_running) {
  const Folder folder;
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + words[0]);
  if (while_running) while_running(child, err);
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read_file(out), without_asan_notice(read_file(err))};
}

CommandResult tilevp(std::vector<std::string> words) {
  words = watched(std::move(words));
  words.insert(words.begin(), TILEVP_BINARY);
  return run_command(words);
}

CommandResult test_tilevp(std::vector<std::string> words, const WhileRunning& while_running) {
  words = watched(std::move(words));
  words.insert(words.begin(), TILEVP_TEST_BINARY);
  return run_command(words, while_running);
}

CommandResult on_a_full_disk(std::vector<std::string> words) {
  const std::vector<std::string> limited{"/bin/sh", "-c", "ulimit -f 128; exec \"$0\" \"$@\"", TILEVP_TEST_BINARY};
  words.insert(words.begin(), limited.begin(), limited.end());
  return run_command(words);
}

Folder::Folder() : path_((std::filesystem::temp_directory_path() / "tilevp-system-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder");
}
Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string read_file(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }
bool exists(const std::string& file) { return std::filesystem::exists(file); }

}  // namespace tilevp::test
