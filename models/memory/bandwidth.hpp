#pragma once
// What a memory moves per cycle, by the length of the contiguous run. After Stream (KULeuven-MICAS),
// stream/cost_model/bandwidth.py: per direction a table of measured rates per run length, or else the burst, of which a
// shorter run uses only its share, or else the full rate for every run. Start-up latency, row misses, refresh and
// turnaround are not part of it.
#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/memory/access_pattern.hpp"

namespace tilevp::memory {

enum class Direction { read, write };
// Which of a port's two rates: one direction by itself, or both directions together.
enum class Limit { contiguous, ceiling };
// Runs shorter than a table's first key move at that key's rate (as Stream has it), or at the share of it they use.
BOOST_DEFINE_ENUM_CLASS(BelowTable, clamp, proportional)
// Bursts of a run: as if it began at a burst's first byte (as Stream has it), or counted from its start address.
BOOST_DEFINE_ENUM_CLASS(Alignment, ignore, exact)

// ---- Configuration, as a description file writes it. All rates are per cycle of the memory's clock.

struct RatePoint {
  std::int64_t run_bytes = 0;
  double bits_per_cycle = 0;
  friend bool operator==(const RatePoint&, const RatePoint&) = default;
};
BOOST_DESCRIBE_STRUCT(RatePoint, (), (run_bytes, bits_per_cycle))

// Measured absolute rates, by ascending run_bytes.
struct StridedRates {
  std::vector<RatePoint> read;
  std::vector<RatePoint> write;
  friend bool operator==(const StridedRates&, const StridedRates&) = default;
};
BOOST_DESCRIBE_STRUCT(StridedRates, (), (read, write))

struct BandwidthModel {
  double ceiling_bits_per_cycle = 0;     // reads and writes together
  double contiguous_bits_per_cycle = 0;  // one direction, contiguous
  StridedRates strided;
  std::optional<std::int64_t> burst_bytes;
  BelowTable below_table = BelowTable::clamp;
  Alignment alignment = Alignment::ignore;
  friend bool operator==(const BandwidthModel&, const BandwidthModel&) = default;
};
BOOST_DESCRIBE_STRUCT(BandwidthModel, (),
                      (ceiling_bits_per_cycle, contiguous_bits_per_cycle, strided, burst_bytes, below_table, alignment))

// Every run at the full rate: the model of a port that declares a width and nothing else.
BandwidthModel flat_model(double bits_per_cycle);

// Throws UserError naming the key below `place` where the model breaks a rule: ceiling and contiguous positive and
// finite; table keys positive, ascending, no two the same; table rates positive and finite; burst positive. Returns
// warnings, one line each: a table rate above contiguous (it is capped), a ceiling below contiguous.
std::vector<std::string> validate(const BandwidthModel& model, std::string_view place);

// ---- Cycles as fixed point: cycles * 2^32, so that sums of many transfers do not drift.

// ceil(bits * 2^32 / bits_per_cycle), exactly (a double is a fraction). Throws UserError(place) from 2^32 cycles.
std::uint64_t cycles_q32(std::uint64_t bits, double bits_per_cycle, std::string_view place = "bandwidth");
// Whole cycles, rounded up.
constexpr std::uint64_t whole_cycles(std::uint64_t q32) { return (q32 >> 32) + ((q32 & 0xffff'ffff) != 0 ? 1 : 0); }

// What a pattern is for a port.
struct Traffic {
  std::uint64_t runs = 0;
  std::uint64_t bursts = 0;        // runs, where no burst is declared
  std::uint64_t useful_bytes = 0;  // the pattern's own
  std::uint64_t moved_bytes = 0;   // whole bursts; the useful ones where no burst is declared
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

// A checked model, ready to price patterns.
class Bandwidth {
 public:
  // Throws UserError as `validate` does.
  explicit Bandwidth(const BandwidthModel& model, std::string_view place = "bandwidth");

  const BandwidthModel& model() const { return model_; }

  // Share of the contiguous rate that runs of `run_bytes` > 0 get, in (0, 1]. A run of packed elements may be a
  // fraction of a byte. Alignment has no say here.
  double efficiency(double run_bytes, Direction direction) const;
  // Bits a cycle: contiguous (or ceiling) * efficiency.
  double rate(double run_bytes, Direction direction, Limit limit = Limit::contiguous) const;

  Traffic traffic(const AccessPattern& pattern) const;
  // Cycles * 2^32, rounded up once for the pattern, that it occupies one direction (contiguous) or the port (ceiling).
  // By burst: the sum over its runs of whole bursts / limit. By table: its bits / (limit * efficiency).
  std::uint64_t cycles_q32(const AccessPattern& pattern, Direction direction, Limit limit) const;

 private:
  struct Knot {
    double ln_bytes;
    double rate;
  };
  using Knots = std::vector<Knot>;  // the table and (2 * its largest key, contiguous); empty without a table

  const Knots& knots(Direction direction) const { return direction == Direction::read ? read_ : write_; }
  double table_rate(double run_bytes, Direction direction) const;

  BandwidthModel model_;
  std::string place_;
  Knots read_;
  Knots write_;
};

// Bursts of `burst` bytes that the runs of a pattern touch, counted from their start addresses, each run by itself.
std::uint64_t aligned_bursts(const AccessPattern& pattern, std::uint64_t burst);

}  // namespace tilevp::memory
