#pragma once
// `--vcd`: the selected probes of a platform, recorded to a file that is valid whatever ends the run.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/base/probe.hpp"
#include "tilevp/platform/streamed_output.hpp"
#include "tilevp/platform/waves/gtkw.hpp"
#include "tilevp/platform/waves/vcd_writer.hpp"

namespace tilevp::platform {

class WaveRecording final : public StreamedOutput, private ProbeSink {
 public:
  // Attaches to the probes that `globs` select (all without globs) and writes a GTKWave view beside the file. UserError
  // for a glob that matches nothing, or a file that cannot be written. Construct it after the platform, before the run.
  WaveRecording(const ProbeRegistry& probes, const std::string& vcd_file, std::vector<std::string> globs,
                const VcdOptions& options = {});
  // An open file is closed at what has been flushed; the view follows.
  ~WaveRecording() override;

  void flush(std::uint64_t now_ps) override;
  // Writes the view again too, of what changed.
  void close(std::uint64_t end_ps) override;
  void discard() noexcept override;
  std::map<std::string, std::string> files() const override;

  // The view that stands beside a file; none (empty) beside a device or a pipe.
  static std::string view_of(const std::string& vcd_file);
  std::size_t signals() const { return writer_.signals().size(); }

 private:
  WaveRecording(const std::vector<Probe*>& probes, const std::string& vcd_file, const VcdOptions& options);
  void record(unsigned id, std::uint64_t time_ps, std::uint64_t value) override;
  void write_view(GtkwContents contents) const;

  VcdWriter writer_;
  std::string view_file_;
  bool closed_ = false;
  unsigned until_flush_ = 0;
};

}  // namespace tilevp::platform
