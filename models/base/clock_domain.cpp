#include "tilevp/base/clock_domain.hpp"

#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp {
namespace {

using Wide = CyclesQ32;  // wide enough for ps * Hz
constexpr std::uint64_t ps_per_second = 1'000'000'000'000;

// Simulated time has 64 bits: 213 days.
std::uint64_t narrow(Wide value, const char* what) {
  if ((value >> 64) != 0)
    throw Fault("time.overflow", std::string(what) + " lie beyond 2^64 - 1, the end of simulated time (213 days)");
  return static_cast<std::uint64_t>(value);
}

}  // namespace

ClockDomain::ClockDomain(std::string name, std::uint64_t numerator_hz, std::uint64_t denominator)
    : name_(std::move(name)), numerator_(numerator_hz), denominator_(denominator) {
  if (numerator_ == 0 || denominator_ == 0)
    throw UserError("clock " + name_, "a frequency must be positive, found 0 Hz");
  if (static_cast<Wide>(ps_per_second) * denominator_ < numerator_)
    throw UserError("clock " + name_, "a frequency is at most 10^12 Hz (1 ps a cycle), found " +
                                          std::to_string(numerator_ / denominator_) + " Hz");
}

std::uint64_t ClockDomain::time_ps(std::uint64_t n) const {
  return narrow(static_cast<Wide>(n) * ps_per_second * denominator_ / numerator_, "picoseconds");
}

// The integer and the fractional cycles are scaled apart, so that neither product leaves 128 bits.
std::uint64_t ClockDomain::time_ps_q32(CyclesQ32 cycles) const {
  const Wide ps_scale = static_cast<Wide>(ps_per_second) * denominator_;
  const auto whole = static_cast<Wide>(static_cast<std::uint64_t>(cycles >> 32)) * ps_scale;
  const Wide fraction = (cycles & 0xffffffffU) * ps_scale;
  const Wide quotient = whole / numerator_;
  const Wide remainder = whole % numerator_;
  return narrow(quotient + ((remainder << 32) + fraction) / (static_cast<Wide>(numerator_) << 32), "picoseconds");
}

std::uint64_t ClockDomain::edge_at_or_after(std::uint64_t time_ps) const {
  // n * scale / numerator >= t holds exactly when n * scale >= t * numerator, t being whole.
  const Wide scale = static_cast<Wide>(ps_per_second) * denominator_;
  return narrow((static_cast<Wide>(time_ps) * numerator_ + scale - 1) / scale, "cycles");
}

}  // namespace tilevp
