#pragma once
// Reads a timeline (Chrome trace format, array form) by itself: shares nothing with the writer. Throws
// std::runtime_error for what is not valid JSON, for events of unknown phases, and for slices or arrows of a process or
// thread that is not named.
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilevp::test {

struct TimelineSlice {
  std::string process{};
  std::string track{};
  unsigned thread = 0;
  std::string name{};
  std::string category{};
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;
  boost::json::value args{};
  std::uint64_t number(const char* key) const;  // of args; 0 where there is none
};

struct TimelineArrow {
  unsigned from_thread = 0, to_thread = 0;
  std::uint64_t leaves_ps = 0, arrives_ps = 0;
};

struct TimelineFile {
  std::vector<TimelineSlice> slices{};
  std::map<std::string, std::vector<std::pair<std::uint64_t, double>>> counters{};
  std::map<std::uint64_t, TimelineArrow> arrows{};  // whole ones
  std::size_t loose_ends = 0;                       // of arrows
  std::size_t events = 0;                           // all but names and the mark of truncation
  bool truncated = false;

  static TimelineFile parse(const std::string& text);
  // A file that was cut off somewhere: what stands before the last whole event.
  static TimelineFile parse_cut(const std::string& text);
  // Slices of a track, whatever lane.
  std::vector<const TimelineSlice*> of(const std::string& track) const;
  // The slice of a thread that holds `time_ps`, or begins and ends there; null: none.
  const TimelineSlice* at(unsigned thread, std::uint64_t time_ps) const;
};

}  // namespace tilevp::test
