#include "tilevp/platform/records/intervals.hpp"

#include <algorithm>

namespace tilevp::platform {

Intervals::Sums& Intervals::sums(std::string_view path, std::string_view figure) {
  auto of_path = paths_.find(path);
  if (of_path == paths_.end()) of_path = paths_.emplace(std::string(path), decltype(paths_)::mapped_type{}).first;
  auto found = of_path->second.find(figure);
  if (found == of_path->second.end()) found = of_path->second.emplace(std::string(figure), Sums{}).first;
  return found->second;
}

void Intervals::double_period() {
  period_ps_ *= 2;
  for (auto& [path, figures] : paths_)
    for (auto& [figure, sums] : figures) {
      for (std::size_t i = 0; i < sums.size(); i += 2) sums[i / 2] = sums[i] + (i + 1 < sums.size() ? sums[i + 1] : 0);
      sums.resize((sums.size() + 1) / 2);
    }
}

void Intervals::add(Sums& sums, std::uint64_t time_ps, std::uint64_t amount) {
  while (time_ps / period_ps_ >= most_rows) double_period();
  const std::size_t row = time_ps / period_ps_;
  if (sums.size() <= row) sums.resize(row + 1);
  sums[row] += amount;
}

void Intervals::add_time(Sums& sums, std::uint64_t begin_ps, std::uint64_t length_ps) {
  while (length_ps > 0) {
    const std::uint64_t piece = std::min(length_ps, period_ps_ - begin_ps % period_ps_);
    add(sums, begin_ps, piece);
    begin_ps += piece;
    length_ps -= piece;
  }
}

// Bytes count in the period in which the transaction ends.
void Intervals::record(const Record& record) {
  const Transaction& is = record.is;
  if (is.status != "ok") return;
  if (is.kind == "instruction") {
    add_time(sums(is.initiator, "busy_ps"), is.begin_ps, is.busy_ps);
  } else if (is.kind == "packet") {
    add_time(sums(is.target, "busy_ps"), is.begin_ps, is.busy_ps);
  } else if (is.kind.ends_with("read") || is.kind.ends_with("write")) {
    if (is.kind.starts_with("host_")) return;
    const bool read = is.kind.ends_with("read");
    if (is.busy_ps > 0) add_time(sums(is.target, "busy_ps"), is.begin_ps, is.busy_ps);
    add(sums(is.target, read ? "bytes_read" : "bytes_written"), is.end_ps, is.bytes);
  }
}

void Intervals::close(std::uint64_t end_ps) {
  while (end_ps / period_ps_ >= most_rows) double_period();
  rows_ = end_ps == 0 ? 0 : (end_ps - 1) / period_ps_ + 1;
}

std::vector<std::uint64_t> Intervals::column(std::string_view path, std::string_view figure) const {
  Sums result;
  if (const auto of_path = paths_.find(path); of_path != paths_.end())
    if (const auto found = of_path->second.find(figure); found != of_path->second.end()) result = found->second;
  // What ends with the run belongs to its last period.
  for (std::size_t row = rows_; row < result.size(); ++row) result[rows_ - 1] += result[row];
  result.resize(rows_);
  return result;
}

}  // namespace tilevp::platform
