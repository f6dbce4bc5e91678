#pragma once
// Events of the Chrome trace format ("Trace Event Format", the JSON that Perfetto and chrome://tracing open), one a
// line. Times are in us with six decimals, made from whole picoseconds, so nothing is lost.
//
// The file is the format's array form: that one may end anywhere, so a file that a SIGKILL cut off still opens.
#include <cstdint>
#include <string>
#include <string_view>

#include "tilevp/platform/records/output_stream.hpp"
#include "tilevp/platform/records/tracks.hpp"

namespace tilevp::platform {

class TimelineEvents {
 public:
  TimelineEvents(const std::string& file, OutputStream::Format format);

  // `args` is the inside of a JSON object: `"bytes":64`.
  void slice(Lane lane, std::string_view name, std::string_view category, std::uint64_t begin_ps, std::uint64_t end_ps,
             std::string_view args);
  // `value` as JSON.
  void counter(unsigned process, std::string_view name, std::uint64_t time_ps, std::string_view value);
  enum class Arrow : char { start = 's', finish = 'f' };
  void arrow(Arrow end, std::uint64_t number, Lane lane, std::uint64_t time_ps);
  void name_process(unsigned process, std::string_view name);
  void name_thread(Lane lane, std::string_view name, unsigned rank);
  // Says that events are missing from `time_ps` on.
  void truncated(std::uint64_t time_ps, std::uint64_t cap);
  void flush() { out_.flush(); }
  void close();

  // Slices, counters and arrows so far.
  std::uint64_t count() const { return count_; }

 private:
  void begin(char phase, unsigned process);
  void end();
  void number(std::string_view key, std::uint64_t value);
  void text(std::string_view key, std::string_view value);
  void time(std::string_view key, std::uint64_t ps);
  // Ends a metadata event: what is named, and how.
  void named(std::string_view what, std::string_view name);

  OutputStream out_;
  std::string line_;
  std::uint64_t count_ = 0;
  bool first_ = true;
};

// Appends `text` as the inside of a JSON string.
void append_escaped(std::string_view text, std::string& to);

}  // namespace tilevp::platform
