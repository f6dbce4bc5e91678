#include "tilevp/memory/named_models.hpp"

#include <algorithm>
#include <array>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

// Every run in a new row, banks interleaved: (R/B) BL / max(ceil(R/B) BL, FAW/4, RRD_S) in clocks. Real traffic lies
// between this and the burst rule alone. Refresh would take another 3 to 6 %.
constexpr std::array ddr_random{EfficiencyPoint{32, 0.31, 0.31}, EfficiencyPoint{64, 0.62, 0.62}};
constexpr std::array half_burst_random{EfficiencyPoint{16, 0.25, 0.25}, EfficiencyPoint{32, 0.5, 0.5}};
constexpr std::array hbm3_random{EfficiencyPoint{32, 0.33, 0.33}, EfficiencyPoint{64, 0.67, 0.67}};

// Measured bits per array cycle over the contiguous 148.3; both directions together reach 296.6.
constexpr double strix = 148.3;
constexpr std::array npu_ddr{
    EfficiencyPoint{32, 19.0 / strix, 17.1 / strix},  EfficiencyPoint{64, 35.2 / strix, 28.3 / strix},
    EfficiencyPoint{128, 53.5 / strix, 53.2 / strix}, EfficiencyPoint{256, 57.2 / strix, 54.2 / strix},
    EfficiencyPoint{512, 93.5 / strix, 93.5 / strix},
};

// One core, 256 transactions in flight per barrier; holds the core's issue limit already.
constexpr std::array accel_dram{
    EfficiencyPoint{32, 0.067, 0.022},  EfficiencyPoint{64, 0.133, 0.044},  EfficiencyPoint{128, 0.236, 0.237},
    EfficiencyPoint{256, 0.534, 0.472}, EfficiencyPoint{512, 0.942, 0.932}, EfficiencyPoint{1024, 0.972, 0.958},
};

constexpr std::string_view ddr_burst = "64-byte burst: DDR4 64 bit x BL8, DDR5 32 bit x BL16 (DRAMSys, Ramulator 2)";
constexpr std::string_view ddr4_rows = "DDR4-2400 timings RRD, FAW, BL8 (DRAMSys JEDEC_4Gb_DDR4-2400, Ramulator 2)";
constexpr std::string_view lpddr5_burst = "32-byte burst: 16 bit x BL16 (Ramulator 2)";
constexpr std::string_view hbm2e_burst = "32-byte burst: 64-bit pseudo-channel x BL4 (DRAMSys HBM2, AMD PG313)";
constexpr std::string_view hbm3_burst = "32-byte burst: 32-bit pseudo-channel x BL8 (Ramulator 2)";
constexpr std::string_view strix_source =
    "AMD Strix NPU whole-array off-chip rates, in the tests of Stream (KULeuven-MICAS, tests/unit/test_bandwidth.py)";
constexpr std::string_view wormhole_source =
    "Tenstorrent Wormhole B0 DRAM interleaved, one core (tt-metal, data movement performance plots)";

constexpr std::array models{
    NamedModel{"ddr4", 64, 1.0, {}, ddr_burst, "medium"},
    NamedModel{"ddr5", 64, 1.0, {}, ddr_burst, "medium"},
    NamedModel{"ddr_random", 64, 1.0, ddr_random, ddr4_rows, "medium"},
    NamedModel{"lpddr5", 32, 1.0, {}, lpddr5_burst, "medium"},
    NamedModel{"lpddr5_random", 32, 1.0, half_burst_random, "LPDDR5-6400 timings, FAW 20 ns assumed (Ramulator 2)",
               "low"},
    NamedModel{"hbm2e", 32, 1.0, {}, hbm2e_burst, "medium"},
    NamedModel{"hbm2e_random", 32, 1.0, half_burst_random, "HBM2-2000 timings FAW, RRD, BL4 (DRAMSys)", "medium"},
    NamedModel{"hbm3", 32, 1.0, {}, hbm3_burst, "medium"},
    NamedModel{"hbm3_random", 32, 1.0, hbm3_random, "HBM3-6400 timings FAW 24, RRD_S 4, BL8 (Ramulator 2)", "medium"},
    NamedModel{"npu_ddr", 0, 2.0, npu_ddr, strix_source, "high"},
    NamedModel{"accel_dram", 0, 1.0, accel_dram, wormhole_source, "high"},
};

}  // namespace

std::span<const NamedModel> named_models() { return models; }

BandwidthModel named_model(std::string_view name, double contiguous_bits_per_cycle, std::string_view place) {
  const auto found = std::ranges::find(models, name, &NamedModel::name);
  if (found == models.end()) {
    std::string known;
    for (const NamedModel& model : models) known.append(known.empty() ? "" : ", ").append(model.name);
    throw UserError(place, "expected one of " + known + ", found \"" + std::string(name) + "\"");
  }
  BandwidthModel model = flat_model(contiguous_bits_per_cycle);
  model.ceiling_bits_per_cycle *= found->ceiling_ratio;
  if (found->burst_bytes > 0) model.burst_bytes = found->burst_bytes;
  for (const EfficiencyPoint& point : found->table) {
    model.strided.read.push_back({point.run_bytes, point.read * contiguous_bits_per_cycle});
    model.strided.write.push_back({point.run_bytes, point.write * contiguous_bits_per_cycle});
  }
  return model;
}

}  // namespace tilevp::memory
