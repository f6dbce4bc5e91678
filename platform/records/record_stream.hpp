#pragma once
// Puts what the models tell into one order and hands it to the files.
//
// Models tell of a transaction when it is decided, with a begin and an end at or after the present. Records wait until
// the present has passed their end and go on by (end, id): the order depends neither on the quantum nor on the order of
// processes. Only what has not ended yet is held in memory.
#include <cstdint>
#include <memory>
#include <vector>

#include "tilevp/platform/records/record.hpp"

namespace tilevp::platform {

class RecordStream final : public TransactionObserver {
 public:
  void add(std::unique_ptr<RecordSink> sink) { sinks_.push_back(std::move(sink)); }

  void happened(const Transaction& transaction) override;
  void changed(const LevelChange& change) override;

  // Hands on everything before `now_ps` and flushes the sinks; the caller vouches that nothing before it follows.
  void flush(std::uint64_t now_ps);
  // The run ended at `end_ps`. What had begun by then and not ended is handed on with the status "in_flight", what had
  // not begun never happened. All sinks are closed; the first error of them is thrown.
  void close(std::uint64_t end_ps);

 private:
  struct Level {
    LevelChange change;
    std::uint64_t sequence;
  };
  static bool later(const Record* a, const Record* b);
  static bool later_level(const Level& a, const Level& b);
  Record& take_record();
  void hand_on_before(std::uint64_t time_ps);
  void hand_on_record();
  void hand_on_level();
  void look_at_the_past();

  std::vector<std::unique_ptr<RecordSink>> sinks_;
  std::vector<std::unique_ptr<Record>> pool_;
  std::vector<Record*> idle_;
  std::vector<Record*> records_;  // a heap
  std::vector<Level> levels_;     // a heap
  std::uint64_t level_sequence_ = 0;
  unsigned until_flush_ = 0;
};

}  // namespace tilevp::platform
