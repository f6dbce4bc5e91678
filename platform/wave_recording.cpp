#include "tilevp/platform/wave_recording.hpp"

#include <filesystem>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/platform/waves/gtkw.hpp"
#include "tilevp/platform/waves/selector.hpp"

namespace tilevp::platform {
namespace {

// Records between two looks at what lies in the past and may go to the file.
constexpr unsigned flush_interval = 4096;

SignalKind kind_of(const Probe& probe) {
  if (probe.bits() == 1) return SignalKind::flag;
  return !probe.names().empty() || probe.name().ends_with("address") ? SignalKind::code : SignalKind::count;
}

std::vector<Probe*> selected_probes(const ProbeRegistry& registry, std::vector<std::string> globs) {
  const auto probes = registry.all();
  std::vector<std::string> names;
  names.reserve(probes.size());
  for (const Probe* probe : probes) names.push_back(probe->name());
  const auto selected = Selector(std::move(globs)).select(names);
  std::vector<Probe*> result;
  for (std::size_t i = 0; i < probes.size(); ++i)
    if (selected[i]) result.push_back(probes[i]);
  if (result.empty() && !probes.empty()) throw UserError("--trace", "the patterns leave nothing to record");
  return result;
}

}  // namespace

WaveRecording::WaveRecording(const ProbeRegistry& registry, const std::string& vcd_file, std::vector<std::string> globs,
                             const VcdOptions& options)
    : WaveRecording(selected_probes(registry, std::move(globs)), vcd_file, options) {}

WaveRecording::WaveRecording(const std::vector<Probe*>& probes, const std::string& vcd_file, const VcdOptions& options)
    : writer_(vcd_file, options) {
  for (Probe* probe : probes)
    probe->attach(*this,
                  writer_.declare(probe->name(), probe->bits(), kind_of(*probe), std::uint64_t{0}, probe->names()));
  view_file_ = view_of(vcd_file);
  write_view(GtkwContents::every_signal);  // for a viewer that is opened during the run
  writer_.flush_before(0);                 // the header: from here on the file can be read, whatever happens
}

std::string WaveRecording::view_of(const std::string& vcd_file) {
  std::error_code ignored;
  const auto status = std::filesystem::status(vcd_file, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) ? "" : gtkw_file_of(vcd_file);
}

WaveRecording::~WaveRecording() {
  if (closed_) return;
  writer_.emergency_close();
  try {
    write_view(GtkwContents::changed_signals);
  } catch (...) {
    // The first view stays.
  }
}

void WaveRecording::flush(std::uint64_t now_ps) {
  writer_.flush_before(now_ps);
  writer_.write_out();
}

void WaveRecording::close(std::uint64_t end_ps) {
  writer_.close(end_ps);
  write_view(GtkwContents::changed_signals);
  closed_ = true;
}

void WaveRecording::discard() noexcept {
  closed_ = true;
  writer_.emergency_close();
  remove_regular_file(writer_.file());
  if (view_file_.empty()) return;
  remove_regular_file(view_file_);
  for (const auto& table : gtkw_tables(writer_.file(), writer_.signals())) remove_regular_file(table.file);
}

std::map<std::string, std::string> WaveRecording::files() const {
  std::map<std::string, std::string> files{{"vcd", writer_.file()}};
  if (!view_file_.empty()) files.emplace("gtkw", view_file_);
  return files;
}

void WaveRecording::write_view(GtkwContents contents) const {
  if (!view_file_.empty()) write_gtkw(writer_.file(), writer_.signals(), contents);
}

void WaveRecording::record(unsigned id, std::uint64_t time_ps, std::uint64_t value) {
  writer_.record(id, time_ps, value);
  if (++until_flush_ < flush_interval) return;
  until_flush_ = 0;
  // A probe is set at the present time or later, so everything before now is complete.
  writer_.flush_before(now_ps());
}

}  // namespace tilevp::platform
