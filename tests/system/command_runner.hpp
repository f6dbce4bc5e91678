#pragma once
// Runs a program as a user does, without a shell: words in; exit code, stdout and stderr out.
#include <functional>
#include <string>
#include <vector>

namespace tilevp::test {

struct CommandResult {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
};

// ASan does not know coroutine stacks and says so, in three lines, when an exception is caught on one. It says nothing
// of the command.
std::string without_asan_notice(std::string err);

// Called after the start with the process id and the name of the file that stderr goes to.
using WhileRunning = std::function<void(int, const std::string&)>;

CommandResult run_command(const std::vector<std::string>& words, const WhileRunning& while_running = nullptr);

// `tilevp` and the tests' own with more programs (test_programs.cpp). A run has `-c checks.protocol=true` before the
// words that follow its program.
CommandResult tilevp(std::vector<std::string> words);
CommandResult test_tilevp(std::vector<std::string> words, const WhileRunning& while_running = nullptr);

// `test_tilevp` where no file can grow beyond 64 KiB: stands for a disk that fills up during the run.
CommandResult on_a_full_disk(std::vector<std::string> words);

// A folder that goes away with it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string read_file(const std::string& file);
void write_file(const std::string& file, const std::string& text);
bool exists(const std::string& file);

}  // namespace tilevp::test
