#pragma once
// Clock domains: integer cycles of a rational frequency, converted to picoseconds once.
#include <cstdint>
#include <string>

namespace tilevp {

// A time in cycles with 32 fractional bits. Rates are rarely whole bytes a cycle; work is added up in this unit and
// rounded to picoseconds once, so a long busy period does not drift.
__extension__ typedef unsigned __int128 CyclesQ32;

// A clock of numerator / denominator hertz. Cycle n starts at floor(n * 10^12 * denominator / numerator) ps, computed
// in 128 bits; rounded periods are never added (1.4 GHz at 1 ps would run 0.04 % slow).
class ClockDomain {
 public:
  // Throws UserError when either number is zero or the frequency exceeds 1 THz (one cycle must last at least 1 ps).
  ClockDomain(std::string name, std::uint64_t numerator_hz, std::uint64_t denominator = 1);

  const std::string& name() const { return name_; }
  std::uint64_t numerator_hz() const { return numerator_; }
  std::uint64_t denominator() const { return denominator_; }

  // Start of cycle `n`, in ps.
  std::uint64_t time_ps(std::uint64_t n) const;
  // Start of a fractional cycle, in ps, rounded down.
  std::uint64_t time_ps_q32(CyclesQ32 cycles) const;
  // The smallest n with time_ps(n) >= t.
  std::uint64_t edge_at_or_after(std::uint64_t time_ps) const;
  // Whole cycles that have started in [0, t): the reading of a cycle counter.
  std::uint64_t cycles_until(std::uint64_t time_ps) const { return edge_at_or_after(time_ps); }

 private:
  // n * multiplier / divisor without a division: whole + fraction / 2^64 is the quotient, rounded down.
  struct Scale {
    std::uint64_t multiplier = 0;
    std::uint64_t divisor = 0;
    std::uint64_t whole = 0;
    std::uint64_t fraction = 0;
  };
  struct Quotient {
    CyclesQ32 value;
    std::uint64_t rest;
  };
  static Scale scale_of(std::uint64_t multiplier, std::uint64_t divisor);
  static Quotient divide(std::uint64_t n, const Scale& scale);

  std::string name_;
  std::uint64_t numerator_;
  std::uint64_t denominator_;
  Scale to_ps_{};      // of cycles; a divisor of 0: the products leave 64 bits and are divided in 128
  Scale to_cycles_{};  // of ps
};

}  // namespace tilevp
