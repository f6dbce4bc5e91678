// Cycles of whole transfers from their access loops: the slower of the two sides. Worked examples of the layout rules
// of Stream (KULeuven-MICAS, data layout page), computed by a script that shares nothing with the code under test.
#include <gtest/gtest.h>

#include <algorithm>

#include "tilevp/memory/bandwidth.hpp"

namespace tilevp::memory {
namespace {

Bandwidth make(double bits_per_cycle, std::optional<std::int64_t> burst_bytes) {
  BandwidthModel model = flat_model(bits_per_cycle);
  model.burst_bytes = burst_bytes;
  return Bandwidth(model);
}

const Bandwidth ddr = make(128, 64);
const Bandwidth hbm = make(512, 32);
const Bandwidth sram = make(512, std::nullopt);

struct Transfer {
  const char* id;
  const Bandwidth* source;
  const Bandwidth* target;
  std::uint32_t element_bytes;
  std::vector<Loop> read;  // in elements
  std::vector<Loop> write;
  std::uint64_t read_run;
  std::uint64_t write_run;
  std::uint64_t cycles;
};

TEST(TransferCycles, WorkedExamples) {
  const Bandwidth slow_burst = make(1, 64);
  const Bandwidth slow_flat = make(1, std::nullopt);
  const std::vector<Transfer> transfers{
      {"E0b", &ddr, &sram, 2, {{4096, 1}}, {{64, 1}, {64, 64}}, 8192, 2, 512},
      {"E0b gathered", &ddr, &sram, 2, {{64, 1}, {64, 64}}, {{4096, 1}}, 2, 8192, 16384},
      {"E1", &ddr, &sram, 2, {{64, 4096}, {512, 1}}, {{32768, 1}}, 1024, 65536, 4096},
      {"E2", &ddr, &sram, 2, {{8, 4096}, {4096, 1}}, {{32768, 1}}, 65536, 65536, 4096},
      {"E3", &ddr, &sram, 2, {{512, 1024}, {64, 1}}, {{32768, 1}}, 128, 65536, 4096},
      {"E4", &slow_burst, &slow_flat, 2, {{32768, 1}}, {{256, 1}, {128, 256}}, 65536, 2, 524288},
      {"E7", &hbm, &sram, 1, {{64, 3136}, {8, 56}, {56, 1}}, {{64, 1}, {448, 64}}, 448, 1, 448},
      {"E9", &hbm, &sram, 2, {{1, 512}, {512, 1}}, {{512, 1}}, 1024, 1024, 16},
      {"E10", &sram, &hbm, 2, {{64, 1}, {128, 64}}, {{64, 2048}, {128, 1}}, 2, 256, 256},
      {"E12", &hbm, &sram, 1, {{32, 3136}, {10, 56}, {10, 1}}, {{3200, 1}}, 10, 3200, 160},
      // From the loops, not from the axis orders: the read run is 128 bytes where a formula over orders says 16.
      {"E15", &sram, &hbm, 1, {{4, 128}, {4, 512}, {128, 1}}, {{4, 4096}, {32, 64}, {16, 1}}, 128, 16, 64},
  };
  for (const Transfer& transfer : transfers) {
    SCOPED_TRACE(transfer.id);
    const auto read = AccessPattern::of_elements(0, transfer.element_bytes, transfer.read);
    const auto write = AccessPattern::of_elements(0, transfer.element_bytes, transfer.write);
    EXPECT_EQ(read.run_bytes(), transfer.read_run);
    EXPECT_EQ(write.run_bytes(), transfer.write_run);
    EXPECT_EQ(read.bytes(), write.bytes());
    const std::uint64_t q32 = std::max(transfer.source->cycles_q32(read, Direction::read, Limit::contiguous),
                                       transfer.target->cycles_q32(write, Direction::write, Limit::contiguous));
    EXPECT_EQ(q32, transfer.cycles << 32);
  }
}

// Moved in packets of some rows each, a transfer takes as long as in one.
TEST(TransferCycles, PacketsAddUp) {
  const auto read = AccessPattern::of_elements(0, 2, {{512, 1024}, {64, 1}});
  std::uint64_t sum = 0;
  for (std::uint64_t first = 0; first < read.elements(); first += 64 * 16)
    for (const AccessPattern& packet : read.split(first, 64 * 16))
      sum += ddr.cycles_q32(packet, Direction::read, Limit::contiguous);
  EXPECT_EQ(sum, ddr.cycles_q32(read, Direction::read, Limit::contiguous));
}

}  // namespace
}  // namespace tilevp::memory
