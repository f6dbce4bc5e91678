#include "tilevp/platform/records/tracks.hpp"

#include <algorithm>
#include <array>

namespace tilevp::platform {
namespace {

// Order of the tracks of a core; the rest follow by the numbers in their names.
constexpr std::array<std::string_view, 5> engines{"pe", "vector", "scalar", "gpsimd", "sync"};
constexpr unsigned lanes_of_track = 64;
constexpr unsigned kinds_of_track = 32;

// "dma3.queue5" -> 3, 5: the digits behind each name.
std::array<unsigned, 2> numbers_of(std::string_view name) {
  std::array<unsigned, 2> numbers{};
  const std::size_t dot = name.find('.');
  const auto number = [](std::string_view part) {
    unsigned value = 0;
    for (const char c : part)
      if (c >= '0' && c <= '9') value = value * 10 + static_cast<unsigned>(c - '0');
    return value;
  };
  numbers[0] = number(name.substr(0, dot));
  if (dot != std::string_view::npos) numbers[1] = number(name.substr(dot)) + 1;
  return numbers;
}

unsigned rank_of_track(std::string_view name) {
  for (unsigned e = 0; e < engines.size(); ++e) {
    const std::size_t at = name.find('.');
    if (at == std::string_view::npos || !name.substr(at + 1).starts_with(engines[e])) continue;
    const std::string_view rest = name.substr(at + 1 + engines[e].size());
    return (e * 3 + (rest.empty() ? 0 : rest.ends_with("sequencer") ? 1 : 2)) * lanes_of_track;
  }
  const auto [outer, inner] = numbers_of(name);
  const unsigned waits = name.ends_with(" waits") ? kinds_of_track - 1 : 0;
  return (outer * kinds_of_track + std::min(inner + waits, kinds_of_track - 1)) * lanes_of_track;
}

}  // namespace

unsigned Tracks::process(std::string_view name, bool& fresh) {
  const auto found = processes_.find(name);
  fresh = found == processes_.end();
  if (!fresh) return found->second;
  const auto id = static_cast<unsigned>(processes_.size()) + 1;
  processes_.emplace(name, id);
  return id;
}

Lane Tracks::place(unsigned process, std::string_view name, std::uint64_t begin_ps, std::uint64_t end_ps, bool& fresh) {
  auto found = tracks_.find(name);
  if (found == tracks_.end()) {
    found = tracks_.emplace(name, static_cast<unsigned>(all_.size())).first;
    all_.push_back({std::string(name), process, {}, {}});
  }
  Track& track = all_[found->second];
  const auto free = std::ranges::find_if(track.taken_ps, [&](std::uint64_t until) { return until <= begin_ps; });
  const auto lane = static_cast<std::size_t>(free - track.taken_ps.begin());
  fresh = lane == track.taken_ps.size();
  if (fresh) {
    threads_.push_back({found->second, static_cast<unsigned>(lane)});
    track.threads.push_back(static_cast<unsigned>(threads_.size()));
    track.taken_ps.push_back(0);
  }
  track.taken_ps[lane] = end_ps;
  return {track.process, track.threads[lane]};
}

std::string Tracks::lane_name(Lane lane) const {
  const Place& place = threads_[lane.thread - 1];
  const std::string& name = all_[place.track].name;
  return place.lane == 0 ? name : name + " (" + std::to_string(place.lane + 1) + ")";
}

unsigned Tracks::rank(Lane lane) const {
  const Place& place = threads_[lane.thread - 1];
  return rank_of_track(all_[place.track].name) + std::min(place.lane, lanes_of_track - 1);
}

}  // namespace tilevp::platform
