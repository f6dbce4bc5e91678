#include "tilevp/platform/records/record_stream.hpp"

#include <algorithm>
#include <exception>
#include <tuple>

#include "tilevp/base/simulation.hpp"

namespace tilevp::platform {
namespace {

// Reports between two looks at what lies in the past.
constexpr unsigned flush_interval = 1024;

// What has no id (a stall) is told apart by who it is of.
auto order_of(const Record& record) {
  return std::tie(record.order_ps, record.is.id, record.is.initiator, record.is.name, record.is.begin_ps);
}

}  // namespace

bool RecordStream::later(const Record* a, const Record* b) { return order_of(*a) > order_of(*b); }

bool RecordStream::later_level(const Level& a, const Level& b) {
  return std::tie(a.change.time_ps, a.change.path, a.change.what, a.sequence) >
         std::tie(b.change.time_ps, b.change.path, b.change.what, b.sequence);
}

Record& RecordStream::take_record() {
  if (idle_.empty()) {
    pool_.push_back(std::make_unique<Record>());
    return *pool_.back();
  }
  Record& record = *idle_.back();
  idle_.pop_back();
  record.what.clear();
  return record;
}

void RecordStream::happened(const Transaction& transaction) {
  Record& record = take_record();
  record.is = transaction;
  record.order_ps = std::max(transaction.end_ps, now_ps());
  if (transaction.what.append != nullptr) transaction.what.append(transaction.what.object, record.what);
  record.is.what = {};
  records_.push_back(&record);
  std::push_heap(records_.begin(), records_.end(), later);
  look_at_the_past();
}

void RecordStream::changed(const LevelChange& change) {
  levels_.push_back({change, level_sequence_++});
  std::push_heap(levels_.begin(), levels_.end(), later_level);
  look_at_the_past();
}

void RecordStream::look_at_the_past() {
  if (++until_flush_ < flush_interval) return;
  until_flush_ = 0;
  hand_on_before(now_ps());
}

void RecordStream::flush(std::uint64_t now_ps) {
  hand_on_before(now_ps);
  for (const auto& sink : sinks_) sink->flush();
}

// Levels before records of the same time.
void RecordStream::hand_on_before(std::uint64_t time_ps) {
  for (;;) {
    const std::uint64_t level_ps = levels_.empty() ? time_ps : levels_.front().change.time_ps;
    const std::uint64_t record_ps = records_.empty() ? time_ps : records_.front()->order_ps;
    if (std::min(level_ps, record_ps) >= time_ps) return;
    if (level_ps <= record_ps)
      hand_on_level();
    else
      hand_on_record();
  }
}

void RecordStream::hand_on_record() {
  std::pop_heap(records_.begin(), records_.end(), later);
  Record* const record = records_.back();
  records_.pop_back();
  idle_.push_back(record);
  for (const auto& sink : sinks_) sink->record(*record);
}

void RecordStream::hand_on_level() {
  std::pop_heap(levels_.begin(), levels_.end(), later_level);
  const LevelChange change = levels_.back().change;
  levels_.pop_back();
  for (const auto& sink : sinks_) sink->level(change);
}

void RecordStream::close(std::uint64_t end_ps) {
  std::exception_ptr first;
  const auto attempt = [&first](auto&& action) {
    try {
      action();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  attempt([&] {
    std::erase_if(levels_, [&](const Level& level) { return level.change.time_ps > end_ps; });
    std::make_heap(levels_.begin(), levels_.end(), later_level);
    std::erase_if(records_, [&](Record* record) { return record->order_ps > end_ps && record->is.begin_ps >= end_ps; });
    std::make_heap(records_.begin(), records_.end(), later);
    for (Record* record : records_)
      if (record->order_ps > end_ps) record->is.status = "in_flight";
    hand_on_before(UINT64_MAX);
  });
  for (const auto& sink : sinks_) attempt([&] { sink->close(end_ps); });
  if (first) std::rethrow_exception(first);
}

}  // namespace tilevp::platform
