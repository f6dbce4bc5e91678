#pragma once
// Times as a person writes them: `20ms`, `1.5us`, `1500cycles@pe`.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tilevp/base/clock_domain.hpp"

namespace tilevp::command {

// The time in ps. Fractions of a ps are refused. Throws UserError for a missing or unknown unit, a negative time, a
// clock domain that is not among `clocks` (with the nearest), a time of more than 2^64 - 1 ps.
std::uint64_t parse_time(std::string_view option, const std::string& text, std::span<const ClockDomain> clocks);

// A time as a person reads it: "12.345 us", at most six significant digits.
std::string time_text(std::uint64_t time_ps);

}  // namespace tilevp::command
