#pragma once
// `--vcd`: the selected probes of a platform, recorded to a file that is valid whatever ends the run.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/base/probe.hpp"
#include "tilevp/platform/waves/gtkw.hpp"
#include "tilevp/platform/waves/vcd_writer.hpp"

namespace tilevp::platform {

class WaveRecording final : private ProbeSink {
 public:
  // Attaches to the probes that `globs` select (all without globs) and writes a GTKWave view beside the file. UserError
  // for a glob that matches nothing, or a file that cannot be written. Construct it after the platform, before the run.
  WaveRecording(const ProbeRegistry& probes, const std::string& vcd_file, std::vector<std::string> globs);
  // An open file is closed at what has been flushed; the view follows.
  ~WaveRecording() override;
  WaveRecording(const WaveRecording&) = delete;
  WaveRecording& operator=(const WaveRecording&) = delete;

  // Ends the file at `end_ps`: what was recorded beyond it never happened. Writes the view again, of what changed.
  void close(std::uint64_t end_ps);

  const std::string& vcd_file() const { return writer_.file(); }
  const std::string& view_file() const { return view_file_; }  // empty: none
  // The view that stands beside a file; none (empty) beside a device or a pipe.
  static std::string view_of(const std::string& vcd_file);
  std::size_t signals() const { return writer_.signals().size(); }

 private:
  WaveRecording(const std::vector<Probe*>& probes, const std::string& vcd_file);
  void record(unsigned id, std::uint64_t time_ps, std::uint64_t value) override;
  void write_view(GtkwContents contents) const;

  VcdWriter writer_;
  std::string view_file_;
  bool closed_ = false;
  unsigned until_flush_ = 0;
};

}  // namespace tilevp::platform
