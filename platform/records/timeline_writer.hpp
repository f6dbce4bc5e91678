#pragma once
// The timeline: engines, queues and memory ports as tracks, what they did as slices, levels and bandwidths as counters,
// and an arrow from each operation to the one it released (docs/records.md).
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tilevp/platform/records/record.hpp"
#include "tilevp/platform/records/timeline_events.hpp"

namespace tilevp::platform {

class TimelineWriter final : public RecordSink {
 public:
  // A file that ends with ".gz" is compressed. After `cap` events nothing more is written but the mark that says so.
  TimelineWriter(const std::string& file, std::uint64_t cap, const std::map<unsigned, std::string>& agents);

  void record(const Record& record) override;
  void level(const LevelChange& change) override;
  void flush() override { events_.flush(); }
  void close(std::uint64_t end_ps) override;

  bool truncated() const { return truncated_; }

 private:
  // Where an operation stands, for arrows that leave it. A control instruction passes on what released it.
  struct Place {
    Lane lane;
    std::uint64_t begin_ps = 0;
    std::uint64_t end_ps = 0;
    std::uint64_t passes_on = 0;
    bool control = false;
  };
  struct Counter {
    unsigned process = 0;
    std::int64_t value = 0;
    bool changed = false;
  };
  struct Window {
    unsigned process = 0;
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    bool shown_zero = true;
  };

  bool room_for(std::uint64_t events, std::uint64_t time_ps);
  unsigned process(std::string_view name);
  Lane show(std::string_view process, std::string_view track, std::string_view name, const Record& record,
            std::uint64_t begin_ps, std::uint64_t end_ps);
  void make_args(const Record& record);
  void instruction(const Record& record);
  void stall(const Record& record);
  void memory_access(const Record& record);
  void remember(std::uint64_t id, const Place& place);
  void draw_arrow(std::uint64_t cause, Lane to, std::uint64_t time_ps);
  const Place* source_of(std::uint64_t cause) const;
  void show_levels();
  void count_bytes(const Record& record);
  void show_window(std::string_view memory, Window& window, std::uint64_t number);

  TimelineEvents events_;
  Tracks tracks_;
  const std::map<unsigned, std::string>& agents_;
  std::uint64_t cap_;
  bool truncated_ = false;
  std::uint64_t arrows_ = 0;
  std::string args_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::deque<std::uint64_t> remembered_;
  using Counters = std::map<std::string, Counter, std::less<>>;
  Counters counters_;
  std::vector<Counters::value_type*> changed_;  // in this instant
  std::uint64_t levels_ps_ = 0;
  std::map<std::string, Window, std::less<>> windows_;
};

}  // namespace tilevp::platform
