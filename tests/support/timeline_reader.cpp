#include "support/timeline_reader.hpp"

#include <boost/json/parse.hpp>
#include <cmath>
#include <stdexcept>

namespace tilevp::test {
namespace {

using boost::json::object;

std::uint64_t ps(const object& event, const char* key) {
  return static_cast<std::uint64_t>(std::llround(event.at(key).to_number<double>() * 1e6));
}
unsigned id(const object& event, const char* key) { return event.at(key).to_number<unsigned>(); }
std::string text(const object& event, const char* key) { return std::string(event.at(key).as_string()); }

// "hbm (2)", the second lane, belongs to "hbm".
std::string without_lane(const std::string& name) { return name.substr(0, name.find(" (")); }

class Reader {
 public:
  TimelineFile file;

  void take(const object& event) {
    const std::string phase = text(event, "ph");
    if (phase == "M" || phase == "i") return name(event);
    ++file.events;
    if (phase == "X") return slice(event);
    if (phase == "C") {
      file.counters[text(event, "name")].emplace_back(ps(event, "ts"),
                                                      event.at("args").at("value").to_number<double>());
      processes_.at(id(event, "pid"));
    } else if (phase == "s" || phase == "f") {
      arrow(event, phase == "s");
    } else {
      throw std::runtime_error("phase '" + phase + "'");
    }
  }
  void finish() {
    for (const auto& [number, halves] : halves_)
      if (halves != 3) {
        ++file.loose_ends;
        file.arrows.erase(number);
      }
  }

 private:
  void name(const object& event) {
    const std::string what = text(event, "name");
    if (what == "process_name") processes_[id(event, "pid")] = std::string(event.at("args").at("name").as_string());
    if (what == "thread_name") threads_[id(event, "tid")] = std::string(event.at("args").at("name").as_string());
    if (what == "truncated") file.truncated = true;
  }
  void slice(const object& event) {
    TimelineSlice& slice = file.slices.emplace_back();
    slice.process = processes_.at(id(event, "pid"));
    slice.thread = id(event, "tid");
    slice.track = without_lane(threads_.at(slice.thread));
    slice.name = text(event, "name");
    slice.category = text(event, "cat");
    slice.begin_ps = ps(event, "ts");
    slice.end_ps = slice.begin_ps + ps(event, "dur");
    slice.args = event.at("args");
  }
  void arrow(const object& event, bool start) {
    const auto number = event.at("id").to_number<std::uint64_t>();
    TimelineArrow& arrow = file.arrows[number];
    halves_[number] |= start ? 1 : 2;
    (start ? arrow.from_thread : arrow.to_thread) = id(event, "tid");
    (start ? arrow.leaves_ps : arrow.arrives_ps) = ps(event, "ts");
    threads_.at(id(event, "tid"));
  }

  std::map<unsigned, std::string> processes_;
  std::map<unsigned, std::string> threads_;
  std::map<std::uint64_t, int> halves_;
};

}  // namespace

std::uint64_t TimelineSlice::number(const char* key) const {
  const auto* const found = args.as_object().if_contains(key);
  return found == nullptr ? 0 : found->to_number<std::uint64_t>();
}

TimelineFile TimelineFile::parse(const std::string& text) {
  Reader reader;
  const auto tree = boost::json::parse(text);
  for (const auto& event : tree.as_array()) reader.take(event.as_object());
  reader.finish();
  return reader.file;
}

TimelineFile TimelineFile::parse_cut(const std::string& text) {
  const auto last = text.rfind(",\n");
  return parse(last == std::string::npos ? "[]" : text.substr(0, last) + "]");
}

std::vector<const TimelineSlice*> TimelineFile::of(const std::string& track) const {
  std::vector<const TimelineSlice*> found;
  for (const auto& slice : slices)
    if (slice.track == track) found.push_back(&slice);
  return found;
}

const TimelineSlice* TimelineFile::at(unsigned thread, std::uint64_t time_ps) const {
  for (const auto& slice : slices)
    if (slice.thread == thread && slice.begin_ps <= time_ps &&
        (time_ps < slice.end_ps || (slice.begin_ps == slice.end_ps && time_ps == slice.end_ps)))
      return &slice;
  return nullptr;
}

}  // namespace tilevp::test
