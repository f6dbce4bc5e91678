#include "tilevp/cube/parameters.hpp"

#include "tilevp/described/path.hpp"

namespace tilevp::cube {
namespace {

void require_range(std::uint64_t value, std::uint64_t low, std::uint64_t high, const std::string& path,
                   const char* key) {
  if (value >= low && value <= high) return;
  throw described::KeyError(
      described::path_to_key(path, key),
      "expected " + std::to_string(low) + " to " + std::to_string(high) + ", found " + std::to_string(value));
}

constexpr std::uint64_t max_cycles = 1'000'000;
constexpr std::uint64_t max_rate = 1u << 20;

}  // namespace

void SequencerParameters::check(const std::string& path) const {
  require_range(fetch_bytes, 8, 65'536, path, "fetch_bytes");
  require_range(decode_cycles, 0, max_cycles, path, "decode_cycles");
  require_range(preflight_cycles, 0, max_cycles, path, "preflight_cycles");
  // A hand has 16 spare slots, and a bundle defines up to three tiles of one hand.
  require_range(issue_depth, 1, 64, path, "issue_depth");
}

void MatrixUnitParameters::check(const std::string& path) const {
  require_range(tile_m, 1, 1024, path, "tile_m");
  require_range(tile_n, 1, 1024, path, "tile_n");
  require_range(tile_k_bytes, 4, 1024, path, "tile_k_bytes");
  require_range(step_cycles, 1, max_cycles, path, "step_cycles");
  require_range(step_cycles_32bit, 1, max_cycles, path, "step_cycles_32bit");
  require_range(fill_cycles, 0, max_cycles, path, "fill_cycles");
  require_range(idle_start_cycles, 0, max_cycles, path, "idle_start_cycles");
  require_range(tile_read_bytes_per_cycle, 1, max_rate, path, "tile_read_bytes_per_cycle");
  require_range(post_elements_per_cycle, 1, max_rate, path, "post_elements_per_cycle");
  require_range(post_latency_cycles, 0, max_cycles, path, "post_latency_cycles");
  require_range(reduction_cycles, 0, max_cycles, path, "reduction_cycles");
  require_range(tile_write_bytes_per_cycle, 1, max_rate, path, "tile_write_bytes_per_cycle");
}

void TransferUnitParameters::check(const std::string& path) const {
  require_range(bytes_per_cycle, 1, max_rate, path, "bytes_per_cycle");
  require_range(run_cycles, 0, max_cycles, path, "run_cycles");
  require_range(grain_bytes, 1, max_local_tile_bytes, path, "grain_bytes");
  require_range(outstanding_grains, 1, 64, path, "outstanding_grains");
}

void Parameters::check(const std::string& path) const {
  require_range(clock_hz, 1'000, 1'000'000'000'000, path, "clock_hz");
  require_range(tile_capacity_bytes, 128, pes * 262'144, path, "tile_capacity_bytes");
}

}  // namespace tilevp::cube
