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
  const Wide scale = static_cast<Wide>(ps_per_second) * denominator_;
  if (scale < numerator_)
    throw UserError("clock " + name_, "a frequency is at most 10^12 Hz (1 ps a cycle), found " +
                                          std::to_string(numerator_ / denominator_) + " Hz");
  if (scale >> 63 != 0) return;
  to_ps_ = scale_of(static_cast<std::uint64_t>(scale), numerator_);
  to_cycles_ = scale_of(numerator_, static_cast<std::uint64_t>(scale));
}

ClockDomain::Scale ClockDomain::scale_of(std::uint64_t multiplier, std::uint64_t divisor) {
  const Wide rest = static_cast<Wide>(multiplier % divisor) << 64;
  return {multiplier, divisor, multiplier / divisor, static_cast<std::uint64_t>(rest / divisor)};
}

// What the fraction leaves out is less than one for any n; the remainder, below twice the divisor, shows it.
ClockDomain::Quotient ClockDomain::divide(std::uint64_t n, const Scale& scale) {
  const Wide estimate = static_cast<Wide>(n) * scale.whole + (static_cast<Wide>(n) * scale.fraction >> 64);
  const std::uint64_t rest = n * scale.multiplier - static_cast<std::uint64_t>(estimate) * scale.divisor;
  return rest < scale.divisor ? Quotient{estimate, rest} : Quotient{estimate + 1, rest - scale.divisor};
}

std::uint64_t ClockDomain::time_ps(std::uint64_t n) const {
  if (to_ps_.divisor != 0) return narrow(divide(n, to_ps_).value, "picoseconds");
  return narrow(static_cast<Wide>(n) * ps_per_second * denominator_ / numerator_, "picoseconds");
}

// The integer and the fractional cycles are scaled apart, so that neither product leaves 128 bits.
std::uint64_t ClockDomain::time_ps_q32(CyclesQ32 cycles) const {
  const auto whole = static_cast<std::uint64_t>(cycles >> 32);
  if (to_ps_.divisor != 0) {
    const Quotient begun = divide(whole, to_ps_);
    const auto part = static_cast<std::uint64_t>((cycles & 0xffffffffU) * to_ps_.multiplier >> 32);
    return narrow(begun.value + (begun.rest + part) / numerator_, "picoseconds");
  }
  const Wide ps_scale = static_cast<Wide>(ps_per_second) * denominator_;
  const Wide product = static_cast<Wide>(whole) * ps_scale;
  const Wide fraction = (cycles & 0xffffffffU) * ps_scale;
  const Wide quotient = product / numerator_;
  const Wide remainder = product % numerator_;
  return narrow(quotient + ((remainder << 32) + fraction) / (static_cast<Wide>(numerator_) << 32), "picoseconds");
}

std::uint64_t ClockDomain::edge_at_or_after(std::uint64_t time_ps) const {
  // n * scale / numerator >= t holds exactly when n * scale >= t * numerator, t being whole.
  if (to_cycles_.divisor != 0) {
    const Quotient ended = divide(time_ps, to_cycles_);
    return narrow(ended.value + (ended.rest != 0 ? 1 : 0), "cycles");
  }
  const Wide scale = static_cast<Wide>(ps_per_second) * denominator_;
  return narrow((static_cast<Wide>(time_ps) * numerator_ + scale - 1) / scale, "cycles");
}

}  // namespace tilevp
