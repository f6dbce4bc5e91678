#pragma once
// Where a timeline shows what: processes, tracks (an engine, a queue, a memory port) and, for what overlaps on one
// track, its lanes.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilevp::platform {

struct Lane {
  unsigned process = 0;
  unsigned thread = 0;
};

class Tracks {
 public:
  // The lane of the track `name` of a process on which [begin, end) overlaps nothing; a new one (`fresh`) where all are
  // taken.
  Lane place(unsigned process, std::string_view name, std::uint64_t begin_ps, std::uint64_t end_ps, bool& fresh);
  // The number of a process; `fresh`: it had none so far.
  unsigned process(std::string_view name, bool& fresh);
  // How the lane is called, and where it stands among those of its process.
  std::string lane_name(Lane lane) const;
  unsigned rank(Lane lane) const;

 private:
  struct Track {
    std::string name;
    unsigned process;
    std::vector<unsigned> threads;        // one a lane
    std::vector<std::uint64_t> taken_ps;  // up to when a lane is
  };
  struct Place {
    unsigned track;
    unsigned lane;
  };
  std::map<std::string, unsigned, std::less<>> processes_;
  std::map<std::string, unsigned, std::less<>> tracks_;
  std::vector<Track> all_;
  std::vector<Place> threads_;  // by thread id - 1
};

}  // namespace tilevp::platform
