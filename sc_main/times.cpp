#include "tilevp/sc_main/times.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"

namespace tilevp::command {
namespace {

struct Unit {
  std::string_view name;
  unsigned decimals;  // one unit is 10^decimals ps
};
constexpr std::array units{Unit{"s", 12}, Unit{"ms", 9}, Unit{"us", 6}, Unit{"ns", 3}, Unit{"ps", 0}};

[[noreturn]] void refuse(std::string_view option, const std::string& text) {
  throw UserError(option, "expected a time like 20ms, 1.5us or 1500cycles@pe, found '" + text + "'");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[noreturn]] void too_long(std::string_view option, const std::string& text) {
  throw UserError(option, "expected a time below 2^64 ps (about 213 days), found '" + text + "'");
}

std::uint64_t append_digit(std::uint64_t value, char digit, std::string_view option, const std::string& text) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(value, std::uint64_t{10}, &result) ||
      __builtin_add_overflow(result, static_cast<std::uint64_t>(digit - '0'), &result))
    too_long(option, text);
  return result;
}

const ClockDomain& find_clock(std::string_view option, const std::string& name, std::span<const ClockDomain> clocks) {
  const auto found = std::ranges::find(clocks, name, &ClockDomain::name);
  if (found != clocks.end()) return *found;
  std::vector<std::string> names;
  for (const auto& clock : clocks) names.push_back(clock.name());
  const std::string hint = described::nearest_hint(name, names);
  throw UserError(
      option, "unknown clock domain '" + name + "'" + (hint.empty() ? "; there are " + described::join(names) : hint));
}

}  // namespace

std::uint64_t parse_time(std::string_view option, const std::string& text, std::span<const ClockDomain> clocks) {
  if (text == "0") return 0;
  const auto whole_end = std::ranges::find_if_not(text, is_digit);
  const std::string whole(text.begin(), whole_end);
  std::string fraction;
  auto rest = whole_end;
  if (rest != text.end() && *rest == '.') {
    const auto fraction_end = std::find_if_not(rest + 1, text.end(), is_digit);
    fraction.assign(rest + 1, fraction_end);
    if (fraction.empty()) refuse(option, text);
    rest = fraction_end;
  }
  const std::string unit(rest, text.end());
  if (whole.empty() || unit.empty()) refuse(option, text);

  std::uint64_t value = 0;
  for (const char digit : whole) value = append_digit(value, digit, option, text);
  constexpr std::string_view cycles = "cycles@";
  if (unit.starts_with(cycles)) {
    if (!fraction.empty()) refuse(option, text);
    const ClockDomain& clock = find_clock(option, unit.substr(cycles.size()), clocks);
    const long double picoseconds = static_cast<long double>(value) * 1e12L *
                                    static_cast<long double>(clock.denominator()) /
                                    static_cast<long double>(clock.numerator_hz());
    if (picoseconds >= 18446744073709551615.0L) too_long(option, text);
    return clock.time_ps(value);
  }
  const auto found = std::ranges::find(units, unit, &Unit::name);
  if (found == units.end()) refuse(option, text);
  fraction.resize(fraction.find_last_not_of('0') + 1);
  if (fraction.size() > found->decimals) throw UserError(option, "'" + text + "' is finer than 1 ps");
  fraction.resize(found->decimals, '0');
  for (const char digit : fraction) value = append_digit(value, digit, option, text);
  return value;
}

std::string time_text(std::uint64_t time_ps) {
  const auto fits = [&](const Unit& unit) {
    std::uint64_t one = 1;
    for (unsigned i = 0; i < unit.decimals; ++i) one *= 10;
    return time_ps >= one;
  };
  const auto unit = std::ranges::find_if(units, fits);
  if (unit == units.end()) return "0 ps";
  long double value = static_cast<long double>(time_ps);
  for (unsigned i = 0; i < unit->decimals; ++i) value /= 10;
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6Lg", value);
  return std::string(buffer.data()) + " " + std::string(unit->name);
}

}  // namespace tilevp::command
