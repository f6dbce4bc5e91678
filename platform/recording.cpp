#include "tilevp/platform/recording.hpp"

#include <utility>

#include "tilevp/platform/records/csv_writer.hpp"

namespace tilevp::platform {

Recording::Recording(Platform& platform, const RecordingOptions& options) : options_(options) {
  Simulation& simulation = platform.simulation();
  const auto add = [this](auto sink) {
    auto* const plain = sink.get();
    stream_.add(std::move(sink));
    return plain;
  };
  if (!options.transactions_file.empty())
    add(std::make_unique<CsvWriter>(options.transactions_file, simulation.agent_names()));
  if (!options.timeline_file.empty())
    timeline_ = add(
        std::make_unique<TimelineWriter>(options.timeline_file, options.timeline_cap, simulation.agent_names()));
  if (options.period_ps != 0) intervals_ = add(std::make_unique<Intervals>(options.period_ps));
  simulation.observe(stream_);
}

void Recording::discard() noexcept {
  for (const auto& [kind, file] : files()) remove_regular_file(file);
}

std::map<std::string, std::string> Recording::files() const {
  std::map<std::string, std::string> files;
  if (!options_.transactions_file.empty()) files["transactions"] = options_.transactions_file;
  if (!options_.timeline_file.empty()) files["timeline"] = options_.timeline_file;
  return files;
}

void Recording::note_warnings(std::vector<std::string>& warnings) const {
  if (timeline_ != nullptr && timeline_->truncated())
    warnings.push_back("the timeline " + options_.timeline_file + " is truncated at " +
                       std::to_string(options_.timeline_cap) + " events (--timeline-cap)");
  if (intervals_ != nullptr && intervals_->period_ps() != options_.period_ps)
    warnings.push_back("report.period gives more than " + std::to_string(Intervals::most_rows) +
                       " rows; the report has them for " + std::to_string(intervals_->period_ps()) + " ps");
}

std::optional<IntervalsReport> Recording::intervals(const Report& report) const {
  if (intervals_ == nullptr) return std::nullopt;
  IntervalsReport result{.period_ps = intervals_->period_ps(), .columns = {}, .rows = {}};
  result.rows.resize(intervals_->rows());
  const auto add = [&](const std::string& path, const char* figure) {
    result.columns.push_back(path + '.' + figure);
    const auto column = intervals_->column(path, figure);
    for (std::size_t row = 0; row < column.size(); ++row) result.rows[row].push_back(column[row]);
  };
  for (const auto& unit : report.units) add(unit.path, "busy_ps");
  for (const auto& memory : report.memories)
    for (const char* figure : {"busy_ps", "bytes_read", "bytes_written"}) add(memory.path, figure);
  return result;
}

}  // namespace tilevp::platform
