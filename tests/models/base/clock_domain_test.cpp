#include "tilevp/base/clock_domain.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tilevp/base/errors.hpp"

namespace {

using tilevp::ClockDomain;

TEST(ClockDomain, KnownEdges) {
  const ClockDomain pe("pe", 2'800'000'000);
  EXPECT_EQ(pe.time_ps(0), 0U);
  EXPECT_EQ(pe.time_ps(1), 357U);                  // 357.142...
  EXPECT_EQ(pe.time_ps(7), 2500U);                 // exactly 2.5 ns
  EXPECT_EQ(pe.time_ps(1'774'224), 633'651'428U);  // 633.65 us, a conv of 3996 matmuls of 444 columns
  const ClockDomain base("base", 1'400'000'000);
  EXPECT_EQ(base.time_ps(1'000'000'000), 714'285'714'285U);  // a rounded 714 ps period would be 0.04 % early
  const ClockDomain third("third", 1'000'000'000, 3);        // 333.3 MHz
  EXPECT_EQ(third.time_ps(1), 3000U);
}

TEST(ClockDomain, EdgeIsTheSmallestNotBefore) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    const ClockDomain clock("c", random() % 5'000'000'000 + 1, random() % 7 + 1);
    const std::uint64_t time = random() % 1'000'000'000'000;
    const std::uint64_t n = clock.edge_at_or_after(time);
    ASSERT_GE(clock.time_ps(n), time);
    if (n > 0) {
      ASSERT_LT(clock.time_ps(n - 1), time);
    }
    const std::uint64_t cycle = random() % 1'000'000'000;
    ASSERT_EQ(clock.edge_at_or_after(clock.time_ps(cycle)), cycle);
  }
}

TEST(ClockDomain, FractionsAgreeWithWholeCyclesOfAFasterClock) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t hz = random() % 3'000'000'000 + 1;
    const ClockDomain slow("slow", hz), fast("fast", hz * 16);
    const std::uint64_t sixteenths = random() % (std::uint64_t{1} << 40);
    ASSERT_EQ(slow.time_ps_q32(static_cast<tilevp::CyclesQ32>(sixteenths) << 28), fast.time_ps(sixteenths));
  }
}

// The definitions in 128 bits, over all of simulated time; frequencies up to 1 THz and denominators whose products
// leave 64 bits.
TEST(ClockDomain, AgreesWithItsDefinitionsToTheEndOfTime) {
  __extension__ typedef unsigned __int128 Wide;
  std::mt19937_64 random(7);
  const auto any = [&](unsigned bits) { return random() >> (random() % bits); };
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t denominator = any(63) % (i % 4 == 0 ? 100'000'000 : 7) + 1;
    const std::uint64_t hz = any(63) % 1'000'000'000'000 + 1;
    const ClockDomain clock("c", hz, denominator);
    const Wide scale = Wide{1'000'000'000'000} * denominator;
    const std::uint64_t n = any(63);
    const Wide ps = Wide{n} * scale / hz;
    if (ps >> 64 == 0) {
      ASSERT_EQ(clock.time_ps(n), static_cast<std::uint64_t>(ps)) << n << " of " << hz << " / " << denominator;
    }
    const std::uint64_t time = any(63);
    const Wide cycles = (Wide{time} * hz + scale - 1) / scale;
    if (cycles >> 64 == 0) {
      ASSERT_EQ(clock.edge_at_or_after(time), static_cast<std::uint64_t>(cycles)) << time << " at " << hz;
    }
  }
}

TEST(ClockDomain, RefusesNoFrequencyAndMoreThanOneTerahertz) {
  EXPECT_THROW(ClockDomain("c", 0), tilevp::UserError);
  EXPECT_THROW(ClockDomain("c", 1, 0), tilevp::UserError);
  EXPECT_THROW(ClockDomain("c", 1'000'000'000'001), tilevp::UserError);
  EXPECT_NO_THROW(ClockDomain("c", 1'000'000'000'000));
}

TEST(ClockDomain, TimesBeyond64BitsAreAFault) {
  const ClockDomain slow("slow", 1'000'000);  // 10^6 ps a cycle
  EXPECT_EQ(slow.time_ps(18'446'744'073'709), 18'446'744'073'709'000'000U);
  EXPECT_THROW(slow.time_ps(18'446'744'073'710), tilevp::Fault);
  EXPECT_THROW(slow.time_ps_q32(static_cast<tilevp::CyclesQ32>(18'446'744'073'710) << 32), tilevp::Fault);
}

}  // namespace
