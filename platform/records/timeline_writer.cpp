#include "tilevp/platform/records/timeline_writer.hpp"

#include <algorithm>
#include <utility>

#include "tilevp/platform/records/csv_writer.hpp"

namespace tilevp::platform {
namespace {

// Operations that arrows can still leave: more than are ever under way at once.
constexpr std::size_t most_places = 65'536;
// Viewers count in ns: an arrow that leaves within the last one is bound to its slice.
constexpr std::uint64_t nanosecond = 1000;
// Over which a memory's bandwidth is averaged.
constexpr std::uint64_t window_ps = 1'000'000;

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('.')); }

// "dma3.queue5" belongs to the process "dma", "core0.pe" to "core0".
std::string_view process_of(std::string_view path) {
  const std::string_view first = first_part(path);
  return first.starts_with("dma") ? std::string_view("dma") : first;
}

OutputStream::Format format_of(const std::string& file) {
  return file.ends_with(".gz") ? OutputStream::Format::gzip : OutputStream::Format::plain;
}

}  // namespace

TimelineWriter::TimelineWriter(const std::string& file, std::uint64_t cap,
                               const std::map<unsigned, std::string>& agents)
    : events_(file, format_of(file)), agents_(agents), cap_(cap) {}

bool TimelineWriter::room_for(std::uint64_t events, std::uint64_t time_ps) {
  if (truncated_) return false;
  if (events_.count() + events <= cap_) return true;
  truncated_ = true;
  events_.truncated(time_ps, cap_);
  return false;
}

unsigned TimelineWriter::process(std::string_view name) {
  bool fresh = false;
  const unsigned id = tracks_.process(name, fresh);
  if (fresh) events_.name_process(id, name);
  return id;
}

Lane TimelineWriter::show(std::string_view process_name, std::string_view track, std::string_view name,
                          const Record& record, std::uint64_t begin_ps, std::uint64_t end_ps) {
  bool fresh = false;
  const Lane lane = tracks_.place(process(process_name), track, begin_ps, end_ps, fresh);
  if (fresh) events_.name_thread(lane, tracks_.lane_name(lane), tracks_.rank(lane));
  make_args(record);
  events_.slice(lane, name, record.is.kind, begin_ps, end_ps, args_);
  return lane;
}

void TimelineWriter::make_args(const Record& record) {
  const Transaction& is = record.is;
  args_.clear();
  const auto key = [this](std::string_view name) {
    if (!args_.empty()) args_ += ',';
    ((args_ += '"') += name) += "\":";
  };
  for (const auto& [name, id] : {std::pair("id", is.id), std::pair("cause", is.cause)}) {
    if (id == 0) continue;
    key(name);
    args_ += '"';
    append_id(id, agents_, args_);
    args_ += '"';
  }
  for (const auto& [name, text] : {std::pair("what", std::string_view(record.what)),
                                   std::pair("status", is.status == "ok" ? std::string_view() : is.status)}) {
    if (text.empty()) continue;
    key(name);
    args_ += '"';
    append_escaped(text, args_);
    args_ += '"';
  }
  for (const auto& [name, number] : {std::pair("bytes", is.bytes), std::pair("busy_ps", is.busy_ps)}) {
    if (number == 0) continue;
    key(name);
    append_number(number, args_);
  }
}

void TimelineWriter::record(const Record& record) {
  const Transaction& is = record.is;
  show_levels();
  constexpr std::uint64_t slice_and_arrow = 3;
  if (!room_for(slice_and_arrow, record.order_ps)) return;
  if (is.kind == "instruction") {
    instruction(record);
  } else if (is.kind == "stall") {
    stall(record);
  } else if (is.kind == "descriptor") {
    const Lane lane = show("dma", is.initiator, "descriptor", record, is.begin_ps, is.end_ps);
    remember(is.id, {lane, is.begin_ps, is.end_ps});
    if (is.end_ps > is.begin_ps) draw_arrow(is.cause, lane, is.begin_ps);
  } else if (is.kind == "packet") {
    show("dma", is.target, is.initiator.substr(is.initiator.rfind('.') + 1), record, is.begin_ps, is.end_ps);
  } else if (is.kind.starts_with("host_")) {
    show("host", "host", is.kind.substr(5), record, is.requested_ps, is.end_ps);
  } else if (is.busy_ps > 0) {
    memory_access(record);
  }
}

// What occupies no engine (waits, triggers) is the sequencer's, from when it was ready to when it took effect.
void TimelineWriter::instruction(const Record& record) {
  const Transaction& is = record.is;
  const bool control = is.begin_ps == is.end_ps;
  if (control) {
    const std::string track = std::string(is.initiator) + " sequencer";
    const Lane lane = show(process_of(is.initiator), track, is.name, record, is.requested_ps, is.begin_ps);
    remember(is.id, {lane, is.requested_ps, is.begin_ps, is.cause, true});
    return;
  }
  const Lane lane = show(process_of(is.initiator), is.initiator, is.name, record, is.begin_ps, is.end_ps);
  remember(is.id, {lane, is.begin_ps, is.end_ps});
  draw_arrow(is.cause, lane, is.begin_ps);
}

void TimelineWriter::stall(const Record& record) {
  const Transaction& is = record.is;
  if (is.end_ps == is.begin_ps) return;
  if (is.initiator == "host") {
    show("host", "host", "wait for " + std::string(is.name), record, is.begin_ps, is.end_ps);
    return;
  }
  show(process_of(is.initiator), std::string(is.initiator) + " waits", is.name, record, is.begin_ps, is.end_ps);
}

void TimelineWriter::memory_access(const Record& record) {
  const Transaction& is = record.is;
  show("memory", is.target, std::string(is.kind) + ' ' + std::string(first_part(is.initiator)), record, is.begin_ps,
       is.end_ps);
  count_bytes(record);
}

// ---- Arrows

void TimelineWriter::remember(std::uint64_t id, const Place& place) {
  places_[id] = place;
  remembered_.push_back(id);
  if (remembered_.size() <= most_places) return;
  places_.erase(remembered_.front());
  remembered_.pop_front();
}

// Through triggers, which take no time, to what released them.
const TimelineWriter::Place* TimelineWriter::source_of(std::uint64_t cause) const {
  constexpr unsigned longest_way = 8;
  for (unsigned step = 0; step < longest_way; ++step) {
    const auto found = places_.find(cause);
    if (found == places_.end()) return nullptr;
    if (!found->second.control) return found->second.begin_ps < found->second.end_ps ? &found->second : nullptr;
    cause = found->second.passes_on;
  }
  return nullptr;
}

void TimelineWriter::draw_arrow(std::uint64_t cause, Lane to, std::uint64_t time_ps) {
  const Place* const from = source_of(cause);
  if (from == nullptr) return;
  const std::uint64_t leaves_ps =
      from->end_ps - from->begin_ps > nanosecond ? from->end_ps - nanosecond : from->begin_ps;
  ++arrows_;
  events_.arrow(TimelineEvents::Arrow::start, arrows_, from->lane, leaves_ps);
  events_.arrow(TimelineEvents::Arrow::finish, arrows_, to, time_ps);
}

// ---- Counters

// Levels come in the order of time; those of one instant are shown once, with what they are after it.
void TimelineWriter::level(const LevelChange& change) {
  if (change.time_ps != levels_ps_) show_levels();
  levels_ps_ = change.time_ps;
  const bool in_flight = change.what == "bytes_in_flight";  // of all engines together
  std::string name = in_flight ? "DMA bytes in flight" : std::string(change.path) + ' ' + std::string(change.what);
  auto found = counters_.find(name);
  if (found == counters_.end())
    found = counters_.emplace(std::move(name), Counter{.process = process(process_of(change.path))}).first;
  found->second.value += change.by;
  if (!std::exchange(found->second.changed, true)) changed_.push_back(&*found);
}

void TimelineWriter::show_levels() {
  for (auto* const changed : changed_) {
    auto& [name, counter] = *changed;
    counter.changed = false;
    if (room_for(1, levels_ps_)) events_.counter(counter.process, name, levels_ps_, std::to_string(counter.value));
  }
  changed_.clear();
}

void TimelineWriter::count_bytes(const Record& record) {
  auto found = windows_.find(record.is.target);
  if (found == windows_.end())
    found = windows_.emplace(std::string(record.is.target), Window{.process = process("memory")}).first;
  Window& window = found->second;
  show_window(found->first, window, record.order_ps / window_ps);
  window.bytes += record.is.bytes;
}

// Bytes of the window that ended, as bytes a ns; then nothing until the window `number`.
void TimelineWriter::show_window(std::string_view memory, Window& window, std::uint64_t number) {
  if (number == window.number) return;
  const std::string name = std::string(memory) + " bytes/ns";
  const auto show = [&](std::uint64_t at, std::uint64_t bytes) {
    if (bytes == 0 && window.shown_zero) return;
    window.shown_zero = bytes == 0;
    std::string value = std::to_string(bytes / nanosecond) + '.';
    const std::string digits = std::to_string(bytes % nanosecond);
    value += std::string(3 - digits.size(), '0') + digits;
    if (room_for(1, at * window_ps)) events_.counter(window.process, name, at * window_ps, value);
  };
  show(window.number, window.bytes);
  if (number > window.number + 1) show(window.number + 1, 0);
  window.number = number;
  window.bytes = 0;
}

void TimelineWriter::close(std::uint64_t end_ps) {
  show_levels();
  for (auto& [memory, window] : windows_) show_window(memory, window, end_ps / window_ps + 1);
  events_.close();
}

}  // namespace tilevp::platform
