#pragma once
// What units and memories did in each period of a run, for the report.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/platform/records/record.hpp"

namespace tilevp::platform {

// Sums by path and period: busy time of units and memories, bytes of memories. A column added up is what the report's
// counter says of a run that finished.
class Intervals final : public RecordSink {
 public:
  // A run that has more than `most_rows` periods is shown with twice the period, as often as it takes.
  static constexpr std::size_t most_rows = 65'536;
  explicit Intervals(std::uint64_t period_ps) : period_ps_(period_ps) {}

  void record(const Record& record) override;
  void level(const LevelChange&) override {}
  void close(std::uint64_t end_ps) override;

  std::uint64_t period_ps() const { return period_ps_; }
  // Of the run, as close() was told.
  std::size_t rows() const { return rows_; }
  // What `path` has of the figure ("busy_ps", "bytes_read", "bytes_written") in each row.
  std::vector<std::uint64_t> column(std::string_view path, std::string_view figure) const;

 private:
  using Sums = std::vector<std::uint64_t>;
  Sums& sums(std::string_view path, std::string_view figure);
  void add(Sums& sums, std::uint64_t time_ps, std::uint64_t amount);
  void add_time(Sums& sums, std::uint64_t begin_ps, std::uint64_t length_ps);
  void double_period();

  std::uint64_t period_ps_;
  std::size_t rows_ = 0;
  std::map<std::string, std::map<std::string, Sums, std::less<>>, std::less<>> paths_;
};

}  // namespace tilevp::platform
