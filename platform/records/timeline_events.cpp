#include "tilevp/platform/records/timeline_events.hpp"

#include <array>
#include <cstdio>

#include "tilevp/platform/records/csv_writer.hpp"

namespace tilevp::platform {

void append_escaped(std::string_view text, std::string& to) {
  for (const char c : text) {
    if (c == '"' || c == '\\') to += '\\';
    if (static_cast<unsigned char>(c) >= ' ') {
      to += c;
      continue;
    }
    std::array<char, 8> code{};
    std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
    to += code.data();
  }
}

TimelineEvents::TimelineEvents(const std::string& file, OutputStream::Format format) : out_(file, format) {
  out_.write("[");
  out_.flush();
}

void TimelineEvents::begin(char phase, unsigned process) {
  line_ = first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
  first_ = false;
  line_ += phase;
  line_ += '"';
  number("pid", process);
}

void TimelineEvents::end() {
  line_ += '}';
  out_.write(line_);
}

void TimelineEvents::number(std::string_view key, std::uint64_t value) {
  ((line_ += ",\"") += key) += "\":";
  append_number(value, line_);
}

void TimelineEvents::text(std::string_view key, std::string_view value) {
  ((line_ += ",\"") += key) += "\":\"";
  append_escaped(value, line_);
  line_ += '"';
}

void TimelineEvents::time(std::string_view key, std::uint64_t ps) {
  constexpr std::uint64_t microsecond = 1'000'000;
  ((line_ += ",\"") += key) += "\":";
  append_number(ps / microsecond, line_);
  line_ += '.';
  std::string digits;
  append_number(ps % microsecond, digits);
  line_.append(6 - digits.size(), '0');
  line_ += digits;
}

void TimelineEvents::slice(Lane lane, std::string_view name, std::string_view category, std::uint64_t begin_ps,
                           std::uint64_t end_ps, std::string_view args) {
  begin('X', lane.process);
  number("tid", lane.thread);
  time("ts", begin_ps);
  time("dur", end_ps - begin_ps);
  text("name", name);
  text("cat", category);
  ((line_ += ",\"args\":{") += args) += '}';
  end();
  ++count_;
}

void TimelineEvents::counter(unsigned process, std::string_view name, std::uint64_t time_ps, std::string_view value) {
  begin('C', process);
  time("ts", time_ps);
  text("name", name);
  ((line_ += ",\"args\":{\"value\":") += value) += '}';
  end();
  ++count_;
}

void TimelineEvents::arrow(Arrow phase, std::uint64_t id, Lane lane, std::uint64_t time_ps) {
  begin(static_cast<char>(phase), lane.process);
  number("tid", lane.thread);
  number("id", id);
  time("ts", time_ps);
  text("name", "cause");
  text("cat", "cause");
  if (phase == Arrow::finish) text("bp", "e");
  end();
  ++count_;
}

void TimelineEvents::named(std::string_view what, std::string_view name) {
  text("name", what);
  line_ += ",\"args\":{\"name\":\"";
  append_escaped(name, line_);
  line_ += "\"}";
  end();
}

void TimelineEvents::name_process(unsigned process, std::string_view name) {
  begin('M', process);
  named("process_name", name);
}

void TimelineEvents::name_thread(Lane lane, std::string_view name, unsigned rank) {
  begin('M', lane.process);
  number("tid", lane.thread);
  named("thread_name", name);
  begin('M', lane.process);
  number("tid", lane.thread);
  text("name", "thread_sort_index");
  line_ += ",\"args\":{\"sort_index\":";
  append_number(rank, line_);
  line_ += '}';
  end();
}

void TimelineEvents::truncated(std::uint64_t time_ps, std::uint64_t cap) {
  const std::string what = "truncated at " + std::to_string(cap) + " events (--timeline-cap)";
  begin('i', 0);
  number("tid", 0);
  time("ts", time_ps);
  text("s", "g");
  text("name", what);
  end();
  begin('M', 0);
  text("name", "truncated");
  line_ += ",\"args\":{\"at_ps\":";
  append_number(time_ps, line_);
  line_ += ",\"cap\":";
  append_number(cap, line_);
  line_ += '}';
  end();
}

void TimelineEvents::close() {
  out_.write("\n]\n");
  out_.close();
}

}  // namespace tilevp::platform
