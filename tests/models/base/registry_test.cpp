#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/probe.hpp"
#include "tilevp/base/random.hpp"
#include "tilevp/base/statistics.hpp"

namespace {

struct RecordingSink : tilevp::ProbeSink {
  void record(unsigned id, std::uint64_t time_ps, std::uint64_t value) override {
    EXPECT_EQ(id, 4U);
    times.push_back(time_ps);
    values.push_back(value);
  }
  std::vector<std::uint64_t> times, values;
};

TEST(Probe, OnlyASelectedOneReachesTheSink) {
  tilevp::ProbeRegistry registry;
  tilevp::Probe b(registry, "core0.b", 1, "b");
  tilevp::Probe a(registry, "core0.a", 8, "a");
  a.set(10, 1);
  RecordingSink sink;
  a.attach(sink, 4);
  a.set(20, 2);
  b.set(30, 3);
  EXPECT_EQ(sink.times, (std::vector<std::uint64_t>{20}));
  EXPECT_EQ(sink.values, (std::vector<std::uint64_t>{2}));
  ASSERT_EQ(registry.all().size(), 2U);
  EXPECT_EQ(registry.all().front()->name(), "core0.a");  // by name, not by construction
}

constexpr tilevp::StatisticDefinition busy{"busy_cycles", "cycles", "cycles in which the unit worked"};

TEST(Statistics, FoundByPathAndNameAndOrdered) {
  tilevp::StatisticsRegistry registry;
  tilevp::Counter second, first;
  registry.add("core0.vector", busy, second);
  registry.add("core0.pe", busy, first);
  first += 3;
  second += 4;
  second += 5;
  EXPECT_EQ(registry.value("core0.pe", "busy_cycles"), 3U);
  EXPECT_EQ(registry.value("core0.vector", "busy_cycles"), 9U);
  EXPECT_EQ(registry.all().front().path, "core0.pe");
  EXPECT_THROW(registry.value("core0.pe", "bytes"), tilevp::Defect);
}

TEST(Random, DependsOnSeedAndNameAndStaysInRange) {
  auto a = tilevp::generator_for(1, "dma0");
  auto b = tilevp::generator_for(1, "dma1");
  auto c = tilevp::generator_for(2, "dma0");
  const auto first = a();
  EXPECT_NE(first, b());
  EXPECT_NE(first, c());
  EXPECT_EQ(tilevp::seed_for(0, "a"), 0xaf63dc4c8601ec8cULL);  // FNV-1a of "a", a published test vector
  auto generator = tilevp::generator_for(1, "range");
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto value = tilevp::uniform_int(generator, -2, 3);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 3);
    low |= value == -2;
    high |= value == 3;
  }
  EXPECT_TRUE(low && high);
}

}  // namespace
