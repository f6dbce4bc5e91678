#pragma once
// A stop that the user asked for: just before one unit executes one instruction or descriptor (`--break UNIT@N`).
#include <cstdint>
#include <string>

#include "tilevp/base/errors.hpp"

namespace tilevp {

// "None": an instruction or descriptor that no stream reaches.
inline constexpr std::uint64_t no_break = UINT64_MAX;

// Thrown by the unit's own process when simulated time has reached the moment; it ends the run (exit code 4).
class BreakReached : public Error {
 public:
  BreakReached(std::string unit, std::uint64_t number)
      : Error(Outcome::no_end, "stopped before " + unit + " #" + std::to_string(number)),
        unit_(std::move(unit)),
        number_(number) {}
  const std::string& unit() const { return unit_; }
  std::uint64_t number() const { return number_; }

 private:
  std::string unit_;
  std::uint64_t number_;
};

}  // namespace tilevp
