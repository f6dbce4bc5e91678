// Every wait of a convolution taken away in turn, on the machine: whatever its times, a kernel whose accesses brute
// force finds unordered does not end well, and every other one does.
#include <gtest/gtest.h>

#include <random>

#include "firmware/neuron/happens_before.hpp"
#include "firmware/neuron/race_study.hpp"
#include "support/in_child.hpp"
#include "system/conv_kernel.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/platform/builder.hpp"

namespace tilevp::test {
namespace {

using neuron::Schedule;

ConvRun small_run() {
  ConvRun run;
  run.shape = {.N = 2, .C = 140, .H = 8, .W = 8, .O = 20, .Hf = 3, .Wf = 3, .pt = 1, .pl = 1};
  return run;
}

std::vector<std::string> no_costs() {
  std::vector<std::string> overrides{"dma.start_latency_ns=0",  "dma.run_floor_ns=0",
                                     "dma.bytes_per_ns=1e6",    "core.pe.fill_cycles=0",
                                     "hbm.latency_ns=0",        "core.pe.min_interval_cycles=1",
                                     "host.write_latency_ns=0", "host.read_latency_ns=0"};
  for (const char* engine : {"vector", "scalar", "gpsimd"})
    for (const char* key : {"latency_cycles=0", "min_interval_cycles=1"})
      overrides.push_back(std::string("core.") + engine + "." + key);
  return overrides;
}

std::vector<std::string> drawn_costs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](const char* key, std::uint64_t most) { return key + std::to_string(random() % most); };
  std::vector<std::string> overrides{up_to("dma.start_latency_ns=", 5000), up_to("dma.run_floor_ns=", 400),
                                     up_to("core.pe.fill_cycles=", 3000), up_to("hbm.latency_ns=", 2000)};
  for (const char* engine : {"vector", "scalar", "gpsimd"})
    overrides.push_back(up_to((std::string("core.") + engine + ".latency_cycles=").c_str(), 5000));
  return overrides;
}

constexpr std::uint64_t ended_well = 0, raced = 1, other_fault = 2, wrong = 3;

// How each run ends: of the whole schedule first, then without each wait.
std::vector<std::uint64_t> endings(std::vector<std::string> overrides, std::size_t waits) {
  overrides.push_back("dma.engines=3");
  const ConvRun run = small_run();
  const auto expected = expected_output(run, values_of(run));
  std::vector<std::uint64_t> endings;
  for (std::size_t w = 0; w <= waits; ++w) {
    const auto child = in_child([&]() -> std::vector<std::uint64_t> {
      platform::Platform machine(platform::load_description("trn1", overrides).description, {});
      std::vector<float> output;
      try {
        machine.run([&](runtime::Host& host) {
          output = run_kernel(host, run, [&](Schedule& schedule) {
                     if (w > 0) schedule = without(schedule, waits_of(schedule)[w - 1]);
                   }).output;
        });
      } catch (const Fault& fault) {
        return {fault.rule().starts_with("race.") ? raced : other_fault};
      }
      return {output == expected ? ended_well : wrong};
    });
    endings.push_back(child.at(0));
  }
  return endings;
}

// Of the schedule as the driver makes it, by brute force: whether it is clean without each wait.
std::vector<std::uint64_t> clean_without() {
  return in_child([&]() -> std::vector<std::uint64_t> {
    platform::Platform machine(platform::load_description("trn1", {"dma.engines=3"}).description, {});
    std::vector<std::uint64_t> clean;
    machine.run([&](runtime::Host& host) {
      const Schedule schedule = run_kernel(host, small_run()).schedule;
      neuron::Machine description;
      description.dma_engines = 3;
      const RaceStudy study(schedule, description);
      for (const WaitPlace& place : waits_of(schedule)) {
        const auto verdict = study.verdict(without(schedule, place));
        clean.push_back(verdict.clean() && verdict.unended.empty() ? 1 : 0);  // the host reads the output at the end
      }
    });
    return clean;
  });
}

void expect_as_brute_force(const std::vector<std::string>& overrides) {
  const auto clean = clean_without();
  const auto found = endings(overrides, clean.size());
  ASSERT_EQ(found.at(0), ended_well);
  std::size_t by_detector = 0;
  for (std::size_t w = 0; w < clean.size(); ++w) {
    if (clean[w] != 0) {
      EXPECT_EQ(found[w + 1], ended_well) << "wait " << w;
    } else {
      EXPECT_TRUE(found[w + 1] == raced || found[w + 1] == other_fault) << "wait " << w << ": " << found[w + 1];
    }
    by_detector += found[w + 1] == raced ? 1 : 0;
  }
  // The others are bytes that nobody has written yet: what the race did, seen first.
  EXPECT_GE(by_detector, 18u);
}

TEST(ConvRaces, WithoutCosts) { expect_as_brute_force(no_costs()); }
TEST(ConvRaces, WithTheCostsOfTrn1) { expect_as_brute_force({}); }
TEST(ConvRaces, WithCostsDrawnAtRandom) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) expect_as_brute_force(drawn_costs(seed));
}

}  // namespace
}  // namespace tilevp::test
