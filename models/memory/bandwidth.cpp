#include "tilevp/memory/bandwidth.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/number_text.hpp"
#include "tilevp/memory/natural_log.hpp"

namespace tilevp::memory {
namespace {

__extension__ typedef unsigned __int128 Wide;

void require_rate(double value, const std::string& place) {
  if (!(value > 0) || !std::isfinite(value))
    throw UserError(place, "expected a positive number, found " + number_text(value));
}

void validate_table(const std::vector<RatePoint>& table, double contiguous, const std::string& place,
                    std::vector<std::string>& warnings) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string row = place + "[" + std::to_string(i) + "]";
    const auto [bytes, bits] = table[i];
    if (bytes <= 0)
      throw UserError(row + ".run_bytes", "expected a positive whole number, found " + std::to_string(bytes));
    if (i > 0 && bytes <= table[i - 1].run_bytes)
      throw UserError(row + ".run_bytes", "expected more than the row before (" +
                                              std::to_string(table[i - 1].run_bytes) + "), found " +
                                              std::to_string(bytes));
    require_rate(bits, row + ".bits_per_cycle");
    if (bits > contiguous)
      warnings.push_back(row + ".bits_per_cycle: " + number_text(bits) + " exceeds contiguous_bits_per_cycle " +
                         number_text(contiguous) + " and is capped");
  }
}

// ceil(run / burst) bursts' worth of a run.
double whole_bursts(double run_bytes, double burst) { return std::ceil(run_bytes / burst) * burst; }

std::uint64_t bursts_of(std::span<const Loop> nest, std::uint64_t start, std::uint64_t run, std::uint64_t burst) {
  if (nest.empty()) return (start % burst + run - 1) / burst + 1;
  const Loop& loop = nest.front();
  // The start's place in its burst repeats with this period, so every residue is looked at once and weighted.
  const auto step = static_cast<std::uint64_t>(loop.stride < 0 ? -loop.stride : loop.stride);
  const std::uint64_t period = burst / std::gcd(burst, step);
  std::uint64_t sum = 0;
  for (std::uint64_t k = 0; k < std::min(period, loop.size); ++k) {
    const std::uint64_t times = loop.size / period + (k < loop.size % period ? 1 : 0);
    sum += times * bursts_of(nest.subspan(1), start + k * static_cast<std::uint64_t>(loop.stride), run, burst);
  }
  return sum;
}

}  // namespace

BandwidthModel flat_model(double bits_per_cycle) {
  BandwidthModel model;
  model.ceiling_bits_per_cycle = bits_per_cycle;
  model.contiguous_bits_per_cycle = bits_per_cycle;
  return model;
}

std::vector<std::string> validate(const BandwidthModel& model, std::string_view place) {
  const std::string root(place);
  std::vector<std::string> warnings;
  require_rate(model.ceiling_bits_per_cycle, root + ".ceiling_bits_per_cycle");
  require_rate(model.contiguous_bits_per_cycle, root + ".contiguous_bits_per_cycle");
  if (model.burst_bytes && *model.burst_bytes <= 0)
    throw UserError(root + ".burst_bytes",
                    "expected a positive whole number, found " + std::to_string(*model.burst_bytes));
  validate_table(model.strided.read, model.contiguous_bits_per_cycle, root + ".strided.read", warnings);
  validate_table(model.strided.write, model.contiguous_bits_per_cycle, root + ".strided.write", warnings);
  if (model.ceiling_bits_per_cycle < model.contiguous_bits_per_cycle)
    warnings.push_back(root + ".ceiling_bits_per_cycle: " + number_text(model.ceiling_bits_per_cycle) +
                       " is below contiguous_bits_per_cycle " + number_text(model.contiguous_bits_per_cycle) +
                       ": one direction can never reach its own rate");
  return warnings;
}

std::uint64_t cycles_q32(std::uint64_t bits, double bits_per_cycle, std::string_view place) {
  // rate = mantissa * 2^exponent with an odd mantissa; the quotient is bits * 2^(32 - exponent) / mantissa.
  int exponent = 0;
  auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(bits_per_cycle, &exponent), 53));
  exponent -= 53;
  const int zeros = std::countr_zero(mantissa);
  mantissa >>= zeros;
  exponent += zeros;
  int shift = 32 - exponent;
  Wide dividend = bits;
  if (shift < 0) {  // a rate of 2^33 and more
    const int down = std::min(-shift, 127);
    const Wide lost = dividend & ((Wide{1} << down) - 1);
    dividend = (dividend >> down) + (lost != 0 ? 1 : 0);
    shift = 0;
  }
  // Long division, 64 bits of the shift at a time; the remainder is below 2^53.
  Wide quotient = dividend / mantissa;
  Wide rest = dividend % mantissa;
  while (shift > 0) {
    const int step = std::min(shift, 64);
    rest <<= step;
    if (quotient >> (127 - step) != 0) break;  // far too large already
    quotient = (quotient << step) + rest / mantissa;
    rest %= mantissa;
    shift -= step;
  }
  if (rest != 0) ++quotient;
  if (shift > 0 || quotient >> 64 != 0)
    throw UserError(place, "moving " + std::to_string(bits) + " bits at " + number_text(bits_per_cycle) +
                               " bits per cycle takes more than 2^32 cycles in one transfer");
  return static_cast<std::uint64_t>(quotient);
}

std::uint64_t aligned_bursts(const AccessPattern& pattern, std::uint64_t burst) {
  return bursts_of(pattern.run_loops(), pattern.start(), pattern.run_bytes(), burst);
}

Bandwidth::Bandwidth(const BandwidthModel& model, std::string_view place) : model_(model), place_(place) {
  validate(model, place);
  const auto compile = [&](const std::vector<RatePoint>& table, Knots& knots) {
    const double full = model.contiguous_bits_per_cycle;
    for (const RatePoint& point : table)
      knots.push_back({natural_log(static_cast<double>(point.run_bytes)), std::min(point.bits_per_cycle, full)});
    if (!table.empty()) knots.push_back({natural_log(2.0 * static_cast<double>(table.back().run_bytes)), full});
  };
  compile(model.strided.read, read_);
  compile(model.strided.write, write_);
}

double Bandwidth::table_rate(double run_bytes, Direction direction) const {
  const auto& table = direction == Direction::read ? model_.strided.read : model_.strided.write;
  const Knots& row = knots(direction);
  const auto first = static_cast<double>(table.front().run_bytes);
  if (run_bytes >= 2.0 * static_cast<double>(table.back().run_bytes)) return row.back().rate;
  if (run_bytes <= first)
    return model_.below_table == BelowTable::proportional ? row.front().rate * (run_bytes / first) : row.front().rate;
  const double x = natural_log(run_bytes);
  const auto above = std::find_if(row.begin() + 1, row.end() - 1, [x](const Knot& knot) { return x <= knot.ln_bytes; });
  const auto below = above - 1;
  if (x >= above->ln_bytes) return above->rate;
  return below->rate + (above->rate - below->rate) * ((x - below->ln_bytes) / (above->ln_bytes - below->ln_bytes));
}

double Bandwidth::efficiency(double run_bytes, Direction direction) const {
  if (!knots(direction).empty()) return table_rate(run_bytes, direction) / model_.contiguous_bits_per_cycle;
  if (model_.burst_bytes) return run_bytes / whole_bursts(run_bytes, static_cast<double>(*model_.burst_bytes));
  return 1.0;
}

double Bandwidth::rate(double run_bytes, Direction direction, Limit limit) const {
  if (limit == Limit::contiguous && !knots(direction).empty()) return table_rate(run_bytes, direction);
  const double full = limit == Limit::contiguous ? model_.contiguous_bits_per_cycle : model_.ceiling_bits_per_cycle;
  return full * efficiency(run_bytes, direction);
}

Traffic Bandwidth::traffic(const AccessPattern& pattern) const {
  Traffic traffic;
  traffic.runs = pattern.runs();
  traffic.useful_bytes = pattern.bytes();
  traffic.bursts = traffic.runs;
  traffic.moved_bytes = traffic.useful_bytes;
  if (!model_.burst_bytes) return traffic;
  const auto burst = static_cast<std::uint64_t>(*model_.burst_bytes);
  traffic.bursts = model_.alignment == Alignment::exact ? aligned_bursts(pattern, burst)
                                                        : traffic.runs * ((pattern.run_bytes() - 1) / burst + 1);
  traffic.moved_bytes = traffic.bursts * burst;
  return traffic;
}

std::uint64_t Bandwidth::cycles_q32(const AccessPattern& pattern, Direction direction, Limit limit) const {
  const double full = limit == Limit::contiguous ? model_.contiguous_bits_per_cycle : model_.ceiling_bits_per_cycle;
  if (knots(direction).empty()) return memory::cycles_q32(traffic(pattern).moved_bytes * 8, full, place_);
  return memory::cycles_q32(pattern.bytes() * 8, rate(static_cast<double>(pattern.run_bytes()), direction, limit),
                            place_);
}

}  // namespace tilevp::memory
