#include "tilevp/memory/bandwidth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/mp11.hpp>
#include <cmath>
#include <limits>

#include "models/memory/patterns.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/memory/natural_log.hpp"

namespace tilevp::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// AMD Strix NPU rates, as the tests of Stream have them (KULeuven-MICAS, tests/unit/test_bandwidth.py).
BandwidthModel strix() {
  BandwidthModel model;
  model.ceiling_bits_per_cycle = 296.6;
  model.contiguous_bits_per_cycle = 148.3;
  model.strided.read = {{32, 19.0}, {64, 35.2}, {128, 53.5}, {256, 57.2}, {512, 93.5}};
  model.strided.write = {{32, 17.1}, {64, 28.3}, {128, 53.2}, {256, 54.2}, {512, 93.5}};
  return model;
}

BandwidthModel burst(std::int64_t bytes, double bits_per_cycle = 100) {
  BandwidthModel model = flat_model(bits_per_cycle);
  model.burst_bytes = bytes;
  return model;
}

void expect_close(double found, double expected) { EXPECT_NEAR(found / expected, 1.0, 1e-6) << expected; }

struct Golden {
  const char* id;
  BandwidthModel model;
  Direction direction;
  double run_bytes;
  double efficiency;
  double bits_per_cycle;
};

// Published cases and cases by the published rule; the figures were computed apart from this code.
TEST(Bandwidth, GoldenEfficienciesAndRates) {
  const auto read = Direction::read;
  const auto write = Direction::write;
  const std::vector<Golden> cases{
      {"G1", strix(), read, 128, 0.36075522589, 53.5},
      {"G2", strix(), write, 32, 0.11530681052, 17.1},
      {"G3", strix(), read, 16, 0.12811867835, 19.0},
      {"G3", strix(), read, 32, 0.12811867835, 19.0},
      {"G3", strix(), read, 8, 0.12811867835, 19.0},
      {"G4", strix(), read, 4096, 1, 148.3},
      {"G5", strix(), read, 1024, 1, 148.3},
      {"G6", strix(), read, 768, 0.8466346, 125.555915},  // 93.5 + (148.3 - 93.5) ln(768/512)/ln 2
      {"G12", burst(32), read, 2, 0.0625, 6.25},
      {"G13", burst(32), write, 48, 0.75, 75},
      {"G14", burst(32), read, 4096, 1, 100},
      {"G15", flat_model(100), read, 2, 1, 100},
      {"G16", burst(32), read, 31, 0.96875, 96.875},
      {"G16", burst(32), read, 33, 0.515625, 51.5625},
      {"G16", burst(32), read, 65, 65.0 / 96, 6500.0 / 96},
      {"G16", burst(32), read, 100, 0.78125, 78.125},
      {"G17", burst(64), read, 0.5, 0.0078125, 0.78125},
      {"G17", burst(64), read, 1, 0.015625, 1.5625},
      {"G17", burst(64), read, 65, 0.5078125, 50.78125},
      {"G17", burst(64), read, 96, 0.75, 75},
      {"G20", burst(64, 128), read, 2, 0.03125, 4},
  };
  for (const Golden& golden : cases) {
    SCOPED_TRACE(golden.id);
    const Bandwidth bandwidth(golden.model);
    expect_close(bandwidth.efficiency(golden.run_bytes, golden.direction), golden.efficiency);
    expect_close(bandwidth.rate(golden.run_bytes, golden.direction), golden.bits_per_cycle);
  }
}

TEST(Bandwidth, MeasuredRatesComeBackToTheBit) {
  const Bandwidth bandwidth(strix());
  for (const RatePoint& point : strix().strided.write)
    EXPECT_EQ(bandwidth.rate(static_cast<double>(point.run_bytes), Direction::write), point.bits_per_cycle);
}

TEST(Bandwidth, EfficiencyNeverFallsWithTheRun) {  // G11
  const Bandwidth bandwidth(strix());
  for (const auto direction : {Direction::read, Direction::write}) {
    double last = 0;
    for (double run = 16; run <= 4096; run += 1) {
      const double efficiency = bandwidth.efficiency(run, direction);
      EXPECT_GE(efficiency, last) << run;
      EXPECT_LE(efficiency, 1.0) << run;
      last = efficiency;
    }
  }
}

TEST(Bandwidth, TableBeatsBurstInItsOwnDirectionOnly) {  // G18
  BandwidthModel model = burst(32);
  model.strided.read = {{32, 50.0}};
  const Bandwidth bandwidth(model);
  expect_close(bandwidth.efficiency(2, Direction::write), 0.0625);
  expect_close(bandwidth.efficiency(2, Direction::read), 0.5);
  expect_close(bandwidth.rate(64, Direction::read), 100);
}

TEST(Bandwidth, SharedCeilingOfBothDirections) {  // G19: 16 MiB read and 16 MiB written
  const Bandwidth bandwidth(strix());
  const auto block = AccessPattern::contiguous(0, 16 << 20);
  const std::uint64_t q32 = bandwidth.cycles_q32(block, Direction::read, Limit::ceiling) +
                            bandwidth.cycles_q32(block, Direction::write, Limit::ceiling);
  expect_close(static_cast<double>(q32) / 4294967296.0, 905041.996);
  EXPECT_EQ(whole_cycles(q32), 905042u);
}

TEST(Bandwidth, TransposedTileFromABurstMemory) {  // G20
  const auto tile = AccessPattern::of_elements(0, 2, {{64, 1}, {64, 64}});
  EXPECT_EQ(Bandwidth(burst(64, 128)).cycles_q32(tile, Direction::read, Limit::contiguous), 16384ull << 32);
}

TEST(Bandwidth, BelowTheTableClampedOrInProportion) {
  BandwidthModel model = strix();
  model.below_table = BelowTable::proportional;
  const Bandwidth bandwidth(model);
  expect_close(bandwidth.rate(2, Direction::read), 19.0 * 2 / 32);
  expect_close(bandwidth.rate(32, Direction::read), 19.0);
  expect_close(Bandwidth(strix()).rate(2, Direction::read), 19.0);
}

TEST(Bandwidth, TableCyclesAreBitsOverTheRate) {
  // 8 runs of 128 bytes at 53.5 bits a cycle: 8192 / 53.5 = 153.1214953 cycles; the ceiling is twice the contiguous
  // rate.
  const AccessPattern pattern(0, 2, {{8, 4096}, {64, 2}});
  const Bandwidth bandwidth(strix());
  const auto own = bandwidth.cycles_q32(pattern, Direction::read, Limit::contiguous);
  expect_close(static_cast<double>(own), 153.1214953271 * 4294967296.0);
  expect_close(static_cast<double>(bandwidth.cycles_q32(pattern, Direction::read, Limit::ceiling)),
               153.1214953271 / 2 * 4294967296.0);
}

TEST(Bandwidth, TrafficCountsRunsBurstsAndWaste) {
  const AccessPattern pattern(7, 2, {{10, 100}, {24, 2}});  // 10 runs of 48 bytes
  EXPECT_EQ(Bandwidth(burst(32)).traffic(pattern), (Traffic{10, 20, 480, 640}));
  EXPECT_EQ(Bandwidth(flat_model(8)).traffic(pattern), (Traffic{10, 10, 480, 480}));
}

// ---- alignment: exact

std::uint64_t bursts_by_hand(const naive::Nest& nest, std::uint64_t burst_bytes) {
  // Runs as the product's own run length cuts them; then each byte's burst, counted where it changes inside a run.
  const auto bytes = naive::byte_addresses(nest);
  const std::uint64_t run = naive::pattern_of(nest).run_bytes();
  std::uint64_t bursts = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (i % run == 0 || bytes[i] / burst_bytes != bytes[i - 1] / burst_bytes) ++bursts;
  return bursts;
}

TEST(Bandwidth, ExactAlignmentCountsTheBurstsTouched) {
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    std::mt19937_64 random(seed);
    const naive::Nest nest = naive::random_nest(random);
    const std::uint64_t size =
        naive::pick(random, 0, 3) == 0 ? naive::pick(random, 1, 200) : 1ull << naive::pick(random, 0, 9);
    BandwidthModel model = burst(static_cast<std::int64_t>(size));
    model.alignment = Alignment::exact;
    ASSERT_EQ(Bandwidth(model).traffic(naive::pattern_of(nest)).bursts, bursts_by_hand(nest, size)) << "seed " << seed;
  }
}

TEST(Bandwidth, ExactAlignmentOfAMillionRunsIsClosedForm) {
  // 2^20 runs of 10 bytes, 12 bytes apart: of 16 start residues modulo 64, 0, 4, .., 60, those above 54 (56, 60) cross.
  BandwidthModel model = burst(64);
  model.alignment = Alignment::exact;
  const AccessPattern pattern(0, 2, {{1 << 20, 12}, {5, 2}});
  EXPECT_EQ(Bandwidth(model).traffic(pattern).bursts, (1u << 20) + (1u << 20) * 2 / 16);
}

TEST(Bandwidth, AlignedRunsCostTheSameEitherWay) {
  BandwidthModel model = burst(64);
  const AccessPattern pattern(128, 4, {{9, 4096}, {33, 4}});
  const Traffic ignored = Bandwidth(model).traffic(pattern);
  model.alignment = Alignment::exact;
  EXPECT_EQ(Bandwidth(model).traffic(pattern), ignored);
  EXPECT_EQ(Bandwidth(model).traffic(pattern.shifted(-4)).bursts, 9u * 3);
  EXPECT_EQ(Bandwidth(model).traffic(pattern.shifted(60)).bursts, 9u * 3);
}

// ---- fixed point

TEST(CyclesQ32, IsTheCeilingOfTheExactQuotient) {
  EXPECT_EQ(cycles_q32(128, 128), 1ull << 32);
  EXPECT_EQ(cycles_q32(1, 3), 1431655766u);  // 2^32 / 3 = 1431655765.33
  EXPECT_EQ(cycles_q32(3, 0.75), 4ull << 32);
  EXPECT_EQ(cycles_q32(0, 7), 0u);
  EXPECT_EQ(cycles_q32(1, 1e300), 1u);
  EXPECT_EQ(cycles_q32(std::uint64_t{1} << 63, 1099511627776.0), std::uint64_t{1} << 55);
  // Python: math.ceil(Fraction(10**11 * 2**32) / Fraction(148.3)).
  EXPECT_EQ(cycles_q32(100'000'000'000, 148.3), 2896134387053270176u);
}

TEST(CyclesQ32, NeverBelowAndLessThanOneUnitAbove) {
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    std::mt19937_64 random(seed);
    const double rate = static_cast<double>(naive::pick(random, 1, 1'000'000)) / 10;
    const std::uint64_t bits = naive::pick(random, 1, 1'000'000'000) / naive::pick(random, 1, 1000) + 1;
    const long double exact = static_cast<long double>(bits) / static_cast<long double>(rate) * 4294967296.0L;
    if (exact > 1.8e19L) continue;
    const auto found = static_cast<long double>(cycles_q32(bits, rate));
    ASSERT_GE(found, std::floor(exact * (1 - 1e-18L))) << "seed " << seed;
    ASSERT_LE(found, exact * (1 + 1e-18L) + 1) << "seed " << seed;
  }
}

TEST(CyclesQ32, AbsurdlySlowIsTheUsersMistake) {
  EXPECT_THROW(cycles_q32(1 << 20, 1e-6), UserError);
  EXPECT_THROW(cycles_q32(std::numeric_limits<std::uint64_t>::max(), 1e-300), UserError);
  EXPECT_EQ(whole_cycles((5ull << 32) + 1), 6u);
  EXPECT_EQ(whole_cycles(5ull << 32), 5u);
}

TEST(NaturalLog, WithinTheStatedBound) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const double x =
        std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 80) - 40);
    const long double exact = std::log(static_cast<long double>(x));
    const long double error = std::fabs(static_cast<long double>(natural_log(x)) - exact);
    ASSERT_LE(error, std::max(1e-15L * std::fabs(exact), 1e-16L)) << x;
  }
  EXPECT_EQ(natural_log(1.0), 0.0);
  static_assert(natural_log(2.0) == 0x1.62e42fefa39efp-1);
}

// ---- the keys a description file uses

TEST(BandwidthModel, IsDescribedByTheseKeys) {
  const auto keys = []<class T>(T*) {
    std::vector<std::string> names;
    boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
        [&](auto member) { names.push_back(member.name); });
    return names;
  };
  EXPECT_THAT(keys(static_cast<BandwidthModel*>(nullptr)),
              ElementsAre("ceiling_bits_per_cycle", "contiguous_bits_per_cycle", "strided", "burst_bytes",
                          "below_table", "alignment"));
  EXPECT_THAT(keys(static_cast<StridedRates*>(nullptr)), ElementsAre("read", "write"));
  EXPECT_THAT(keys(static_cast<RatePoint*>(nullptr)), ElementsAre("run_bytes", "bits_per_cycle"));
  Alignment alignment{};
  EXPECT_TRUE(boost::describe::enum_from_string("exact", alignment));
  EXPECT_EQ(alignment, Alignment::exact);
  BelowTable below{};
  EXPECT_TRUE(boost::describe::enum_from_string("proportional", below));
  EXPECT_EQ(below, BelowTable::proportional);
}

// ---- what a model may not say

std::string error_of(const BandwidthModel& model) {
  try {
    validate(model, "bandwidth[\"0\"]");
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(BandwidthRules, EachBrokenOnce) {
  const auto with = [](auto change) {
    BandwidthModel model = strix();
    model.burst_bytes = 32;
    change(model);
    return error_of(model);
  };
  const std::string at = "bandwidth[\"0\"].";
  EXPECT_EQ(with([](auto&) {}), "none");
  EXPECT_EQ(with([](auto& m) { m.ceiling_bits_per_cycle = 0; }),
            at + "ceiling_bits_per_cycle: expected a positive number, found 0");
  EXPECT_EQ(with([](auto& m) { m.contiguous_bits_per_cycle = -3.5; }),
            at + "contiguous_bits_per_cycle: expected a positive number, found -3.5");
  EXPECT_EQ(with([](auto& m) { m.contiguous_bits_per_cycle = std::nan(""); }),
            at + "contiguous_bits_per_cycle: expected a positive number, found nan");
  EXPECT_EQ(with([](auto& m) { m.ceiling_bits_per_cycle = std::numeric_limits<double>::infinity(); }),
            at + "ceiling_bits_per_cycle: expected a positive number, found inf");
  EXPECT_EQ(with([](auto& m) { m.burst_bytes = 0; }), at + "burst_bytes: expected a positive whole number, found 0");
  EXPECT_EQ(with([](auto& m) { m.burst_bytes = -32; }),
            at + "burst_bytes: expected a positive whole number, found -32");
  EXPECT_EQ(with([](auto& m) { m.strided.read[0].run_bytes = 0; }),
            at + "strided.read[0].run_bytes: expected a positive whole number, found 0");
  EXPECT_EQ(with([](auto& m) { m.strided.write[2].bits_per_cycle = 0; }),
            at + "strided.write[2].bits_per_cycle: expected a positive number, found 0");
  EXPECT_EQ(with([](auto& m) { m.strided.write[2].run_bytes = 40; }),
            at + "strided.write[2].run_bytes: expected more than the row before (64), found 40");
  EXPECT_EQ(with([](auto& m) { m.strided.read[1].run_bytes = 32; }),
            at + "strided.read[1].run_bytes: expected more than the row before (32), found 32");
}

TEST(BandwidthRules, WarnsOfRatesThatCannotBe) {
  BandwidthModel model = strix();
  EXPECT_THAT(validate(model, "b"), IsEmpty());
  model.strided.read[4].bits_per_cycle = 200;
  model.ceiling_bits_per_cycle = 100;
  EXPECT_THAT(validate(model, "b"),
              ElementsAre("b.strided.read[4].bits_per_cycle: 200 exceeds contiguous_bits_per_cycle 148.3 and is capped",
                          "b.ceiling_bits_per_cycle: 100 is below contiguous_bits_per_cycle 148.3: one direction can "
                          "never reach its own rate"));
  EXPECT_EQ(Bandwidth(model).efficiency(512, Direction::read), 1.0);
}

TEST(BandwidthRules, ABrokenModelPricesNothing) { EXPECT_THROW(Bandwidth(burst(0)), UserError); }

}  // namespace
}  // namespace tilevp::memory
