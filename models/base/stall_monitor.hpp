#pragma once
// Why a unit's work begins later than it could: counted by cause, shown as a probe, reported as transactions.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/base/clock_domain.hpp"
#include "tilevp/base/simulation.hpp"

namespace tilevp {

// One cause: "stalled_NAME_cycles" and "stalled_NAME_ps".
struct StallDefinition {
  StatisticDefinition cycles;
  StatisticDefinition ps;
  const char* shown;  // in waves: "PSUM bank"
  // "psum_bank", as the report's `stalled` has it.
  std::string_view name() const;
};

class StallMonitor {
 public:
  // Causes are numbered from 1 in the order of `causes`, which outlives the monitor. Adds their statistics at `path`
  // and the probe `path`.waiting, which means `meaning`.
  StallMonitor(Simulation& simulation, const std::string& path, const ClockDomain& clock,
               std::span<const StallDefinition> causes, std::string meaning);

  // A stall whose end is known when it begins; from_ps lies at or after the present time. Nothing where it is empty.
  void stalled(unsigned cause, std::uint64_t from_ps, std::uint64_t to_ps);
  // A stall whose end is not known: `waiting` when it begins, `waited` when it ends.
  void waiting(unsigned cause, std::uint64_t from_ps) { waiting_.set(from_ps, cause); }
  void waited(unsigned cause, std::uint64_t from_ps, std::uint64_t to_ps);

  std::uint64_t cycles(unsigned cause) const { return counts_[cause - 1].cycles.value(); }

 private:
  struct Count {
    Counter cycles;
    Counter ps;
  };
  void report(std::string_view cause, std::uint64_t from_ps, std::uint64_t to_ps) const;

  Simulation& simulation_;
  std::string path_;
  const ClockDomain& clock_;
  std::span<const StallDefinition> causes_;
  std::unique_ptr<Count[]> counts_;  // stays where it is: the registry points into it
  Probe waiting_;
};

}  // namespace tilevp
