#pragma once
// What is seen of one unit of a CUBE core from outside: counters, probes, transactions.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tilevp/base/simulation.hpp"
#include "tilevp/base/stall_monitor.hpp"
#include "tilevp/cube/isa.hpp"

namespace tilevp::cube {

// A bundle on one unit. Times in ps.
struct UnitWork {
  std::string_view name;  // of its operation
  std::uint64_t index;    // of the bundle, since the core was built
  std::uint64_t pc;       // of its BSTART
  std::uint64_t id;       // of the transaction
  std::uint64_t parent;   // the fetch that brought it; of the second PE on, the first PE's transaction
  std::uint64_t requested_ps;
  std::uint64_t begin_ps;
  std::uint64_t end_ps;
  std::uint64_t complete_ps;
  std::uint64_t busy_ps;  // what it adds to the unit's busy time
  std::uint64_t cause;    // the last bundle that defined a source of it; the start of the program where there is none
};

class UnitMonitor {
 public:
  // `path` is the unit's ("cube0.matrix1"), `busy` what its probe of that name means.
  UnitMonitor(Simulation& simulation, const std::string& path, const ClockDomain& clock,
              std::span<const StallDefinition> stalls, const char* busy);

  StallMonitor& stalls() { return stalls_; }
  // Whether somebody looks at the occupation.
  bool traced() const { return busy_.selected(); }
  // The unit is occupied for [from, to), times that may lie ahead.
  void occupied(std::uint64_t from_ps, std::uint64_t to_ps) {
    busy_.set(from_ps, 1);
    busy_.set(to_ps, 0);
  }
  void began(std::uint64_t at_ps, Operation operation, std::uint64_t index) {
    operation_.set(at_ps, static_cast<std::uint64_t>(operation));
    bundle_.set(at_ps, index);
  }
  // What it was occupied for, when that has ended.
  void worked(std::uint64_t busy_ps, std::uint64_t busy_cycles) {
    busy_ps_ += busy_ps;
    busy_cycles_ += busy_cycles;
  }
  void executed(std::uint64_t instructions) { instructions_ += instructions; }
  std::uint64_t instructions() const { return instructions_.value(); }
  std::uint64_t busy_cycles() const { return busy_cycles_.value(); }
  // A transaction of kind "instruction"; call it while end_ps lies at or after the present.
  void report(const UnitWork& work) const;

 private:
  Simulation& simulation_;
  std::string path_;
  StallMonitor stalls_;
  Counter instructions_;
  Counter busy_cycles_;
  Counter busy_ps_;
  Probe busy_;
  Probe operation_;
  Probe bundle_;
};

}  // namespace tilevp::cube
