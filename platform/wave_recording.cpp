#include "tilevp/platform/wave_recording.hpp"

#include "tilevp/base/simulation.hpp"
#include "tilevp/platform/waves/gtkw.hpp"
#include "tilevp/platform/waves/selector.hpp"

namespace tilevp::platform {
namespace {

// Records between two looks at what lies in the past and may go to the file.
constexpr unsigned flush_interval = 4096;

SignalKind kind_of(const Probe& probe) {
  if (probe.bits() == 1) return SignalKind::flag;
  return probe.name().ends_with(".opcode") ? SignalKind::code : SignalKind::count;
}

std::vector<Probe*> selected_probes(const ProbeRegistry& registry, std::vector<std::string> globs) {
  const auto probes = registry.all();
  std::vector<std::string> names;
  for (const Probe* probe : probes) names.push_back(probe->name());
  const auto selected = Selector(std::move(globs)).select(names);
  std::vector<Probe*> result;
  for (std::size_t i = 0; i < probes.size(); ++i)
    if (selected[i]) result.push_back(probes[i]);
  return result;
}

}  // namespace

WaveRecording::WaveRecording(const ProbeRegistry& registry, const std::string& vcd_file, std::vector<std::string> globs)
    : WaveRecording(selected_probes(registry, std::move(globs)), vcd_file) {}

WaveRecording::WaveRecording(const std::vector<Probe*>& probes, const std::string& vcd_file) : writer_(vcd_file) {
  for (Probe* probe : probes)
    probe->attach(*this, writer_.declare(probe->name(), probe->bits(), kind_of(*probe), std::uint64_t{0}));
  view_file_ = write_gtkw(vcd_file, writer_.signals());
}

WaveRecording::~WaveRecording() { writer_.emergency_close(); }

void WaveRecording::record(unsigned id, std::uint64_t time_ps, std::uint64_t value) {
  writer_.record(id, time_ps, value);
  if (++until_flush_ < flush_interval) return;
  until_flush_ = 0;
  // A probe is set at the present time or later, so everything before now is complete.
  writer_.flush_before(now_ps());
}

}  // namespace tilevp::platform
