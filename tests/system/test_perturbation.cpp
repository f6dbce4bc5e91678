// One figure of the description changed: simulated time changes by the amount computed by hand.
#include <gtest/gtest.h>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

boost::json::value report_of(const std::string& program, const std::vector<std::string>& overrides) {
  const Folder folder;
  std::vector<std::string> words{"run", program, "-q", "--report", folder / "r.json"};
  for (const auto& assignment : overrides) {
    words.push_back("-c");
    words.push_back(assignment);
  }
  const auto result = test_tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return described::parse("r.json", read_file(folder / "r.json")).tree;
}

std::int64_t simulated_ps(const boost::json::value& report) {
  return report.at("time").at("simulated_ps").to_number<std::int64_t>();
}

const boost::json::value& unit(const boost::json::value& report, std::string_view path) {
  for (const auto& entry : report.at("performance").at("units").as_array())
    if (entry.at("path").as_string() == path) return entry;
  throw std::runtime_error("no unit " + std::string(path));
}

// One cycle of the sync engine (1.4 GHz), to whose clock edges a wait's end is rounded.
constexpr std::int64_t sync_cycle_ps = 715;

TEST(Perturbation, TwiceTheDmaLatency) {
  const auto longer = simulated_ps(report_of("test/copy", {"dma.start_latency_ns=2600"}));
  // 1300 ns are 1820 cycles of the sync engine, so its edges shift alike.
  EXPECT_EQ(longer - simulated_ps(report_of("test/copy", {})), 1'300'000);
}

TEST(Perturbation, OneDmaEngineInsteadOfSixteen) {
  // The host's set-up differs (15 descriptors and rings less), so compare the engine's own time: 64 KiB at 17 bytes/ns
  // are 3855.06 ns, a sixteenth of it 240.94 ns.
  const auto busy = [](const boost::json::value& report) {
    return unit(report, "dma0").at("utilisation").to_number<double>() * static_cast<double>(simulated_ps(report));
  };
  EXPECT_NEAR(busy(report_of("test/copy", {"dma.engines=1"})), 65'536 / 17.0 * 1000, 2);
  EXPECT_NEAR(busy(report_of("test/copy", {})), 4096 / 17.0 * 1000, 2);
}

TEST(Perturbation, HalfThePeClock) {
  const auto fast = report_of("test/compute", {});
  const auto slow = report_of("test/compute", {"core.pe.clock_hz=1400000000"});
  for (const auto& report : {fast, slow})
    EXPECT_EQ(unit(report, "core0.pe").at("busy_cycles").to_number<int>(), 10 * 512);
  // Ten matmuls of 512 cycles and the fill of the array, 400 cycles: 5520 cycles of 357.142857 ps more, and a few
  // cycles that the sequencer's own work (fetch, decode, halt: at the PE's clock) takes longer.
  const auto difference = simulated_ps(slow) - simulated_ps(fast);
  EXPECT_GE(difference, 5520 * 1'000'000LL / 2800);
  EXPECT_LE(difference, (5520 + 12 + 4) * 1'000'000LL / 2800 + sync_cycle_ps);
}

TEST(Perturbation, AHostReadCostsItsLatencyAndTheLink) {
  // One read of four bytes: 1000 ns, and 4 bytes at 16 bytes/ns.
  EXPECT_EQ(simulated_ps(report_of("test/good", {})), 1'000'250);
  EXPECT_EQ(simulated_ps(report_of("test/good", {"host.read_latency_ns=2000"})), 2'000'250);
}

TEST(Perturbation, HalfTheHostLink) {
  // The 64 KiB that the host writes take 4096 ns at 16 bytes/ns and twice that at 8; the descriptors and streams a
  // little more.
  const auto difference =
      simulated_ps(report_of("test/copy", {"host.bytes_per_ns=8"})) - simulated_ps(report_of("test/copy", {}));
  EXPECT_GE(difference, 4'096'000);
  EXPECT_LE(difference, 4'096'000 * 1.1);
}

}  // namespace
}  // namespace tilevp::test
