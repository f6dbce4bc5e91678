#pragma once
// Files that a run writes while it goes on: waves, timelines, transactions. They stream under their final names and are
// closed valid however the run ends.
//
// A new kind of file is a StreamedOutput that `tilevp run` adds to its StreamedOutputs; nothing else needs to know how
// a run can end. About once a second of host time comes flush(now), so that a viewer can open the file during the run.
// Exits 0, 1, 3, 4, 5, 130 and 143 come with close(end): at the end of the run, or where a fault, the time limit or a
// signal cut it. Exit 2 (a disk is full, say) comes with discard(): nothing is left. After SIGKILL or a second signal
// the file holds what was flushed.
// All calls come on the kernel thread, outside any signal handler (interrupted.hpp turns signals into failures of the
// simulation).
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilevp::platform {

class StreamedOutput {
 public:
  virtual ~StreamedOutput() = default;
  StreamedOutput(const StreamedOutput&) = delete;
  StreamedOutput& operator=(const StreamedOutput&) = delete;

  // Writes out whatever can no longer change: nothing before `now_ps` will be recorded any more. When it is called
  // depends on the host, so the bytes of the closed file must not depend on it. UserError where the file cannot be
  // written: it ends the run.
  virtual void flush(std::uint64_t now_ps) = 0;

  // Ends the file at `end_ps`; what was recorded beyond never happened. Called once. UserError where it cannot be
  // written.
  virtual void close(std::uint64_t end_ps) = 0;

  // Instead of close: removes the file, as far as it is a regular one.
  virtual void discard() noexcept = 0;

  // The names in the report's `files`, by kind: {"vcd", "w.vcd"}.
  virtual std::map<std::string, std::string> files() const = 0;

 protected:
  StreamedOutput() = default;
};

// Those of one run.
class StreamedOutputs {
 public:
  void add(std::unique_ptr<StreamedOutput> output) { outputs_.push_back(std::move(output)); }
  bool empty() const { return outputs_.empty(); }

  void flush(std::uint64_t now_ps);
  // Closes all, also where one of them fails; then throws the first failure, and those that failed are discarded.
  void close(std::uint64_t end_ps);
  void discard() noexcept;
  std::map<std::string, std::string> files() const;

 private:
  std::vector<std::unique_ptr<StreamedOutput>> outputs_;
};

// Removes a file that should not stay; what a symbolic link points to, and no devices or pipes.
void remove_regular_file(const std::string& name) noexcept;

}  // namespace tilevp::platform
