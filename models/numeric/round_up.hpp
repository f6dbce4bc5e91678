#pragma once
// The decision of every rounding. Used by the sources of this folder only.
#include <cstdint>

#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/rounding.hpp"

namespace tilevp::numeric {

// Whether the kept part of a magnitude goes up by one unit. `remainder` is what is cut off and `half` its middle.
constexpr bool rounds_up(Rounding rounding, bool negative, bool odd, std::uint64_t remainder, std::uint64_t half) {
  if (remainder == 0) return false;
  switch (rounding) {
    case Rounding::rne:
      return remainder > half || (remainder == half && odd);
    case Rounding::rtz:
      return false;
    case Rounding::rtm:
      return negative;
    case Rounding::rtp:
      return !negative;
    case Rounding::rna:
      return remainder >= half;
    case Rounding::rto:
      return !odd;
    case Rounding::rhb:
      return remainder > half || (remainder == half && !negative);
  }
  throw Defect("rounding outside its enumeration");
}

// Whether a finite magnitude that rounds beyond the largest finite number becomes infinity.
constexpr bool overflows_to_infinity(Rounding rounding, Overflow overflow, bool negative) {
  if (overflow != Overflow::ieee) return overflow == Overflow::infinite;
  switch (rounding) {
    case Rounding::rne:
    case Rounding::rna:
    case Rounding::rhb:
      return true;
    case Rounding::rtz:
    case Rounding::rto:
      return false;
    case Rounding::rtm:
      return negative;
    case Rounding::rtp:
      return !negative;
  }
  throw Defect("rounding outside its enumeration");
}

}  // namespace tilevp::numeric
