#pragma once
// The records of a run that its options ask for, attached to a platform: the list of transactions, the
// timeline, the intervals of the report.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tilevp/platform/builder.hpp"
#include "tilevp/platform/records/intervals.hpp"
#include "tilevp/platform/records/record_stream.hpp"
#include "tilevp/platform/records/timeline_writer.hpp"
#include "tilevp/platform/report.hpp"
#include "tilevp/platform/streamed_output.hpp"

namespace tilevp::platform {

struct RecordingOptions {
  std::string transactions_file{};  // empty: none
  std::string timeline_file{};      // empty: none
  std::uint64_t timeline_cap = 1'000'000;
  std::uint64_t period_ps = 0;  // of the report's intervals; 0: none
  bool any() const { return !transactions_file.empty() || !timeline_file.empty() || period_ps != 0; }
};

class Recording final : public StreamedOutput {
 public:
  // Attaches to the platform. UserError where a file cannot be written. Construct it before the run; the platform
  // outlives it.
  Recording(Platform& platform, const RecordingOptions& options);

  void flush(std::uint64_t now_ps) override { stream_.flush(now_ps); }
  void close(std::uint64_t end_ps) override { stream_.close(end_ps); }
  void discard() noexcept override;
  std::map<std::string, std::string> files() const override;

  // After close. What the report should warn of.
  void note_warnings(std::vector<std::string>& warnings) const;
  // The report's intervals: a column for each unit and memory that it has. Nothing where no period was asked for.
  std::optional<IntervalsReport> intervals(const Report& report) const;

 private:
  RecordingOptions options_;
  RecordStream stream_;
  TimelineWriter* timeline_ = nullptr;
  Intervals* intervals_ = nullptr;
};

}  // namespace tilevp::platform
