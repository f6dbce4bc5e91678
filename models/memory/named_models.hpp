#pragma once
// Bandwidth models shipped for common memories, scaled to a declared contiguous rate.
#include <span>
#include <string_view>

#include "tilevp/memory/bandwidth.hpp"

namespace tilevp::memory {

// Efficiency is the share of the contiguous rate.
struct EfficiencyPoint {
  std::int64_t run_bytes;
  double read;
  double write;
};

struct NamedModel {
  std::string_view name;
  std::int64_t burst_bytes;  // 0: not declared, the table says it all
  double ceiling_ratio;      // ceiling / contiguous
  std::span<const EfficiencyPoint> table;
  std::string_view source;
  std::string_view confidence;  // high, medium or low: in the efficiencies, whatever the declared rate
};

std::span<const NamedModel> named_models();

// Throws UserError at `place` for a name that is not in the list.
BandwidthModel named_model(std::string_view name, double contiguous_bits_per_cycle,
                           std::string_view place = "bandwidth");

}  // namespace tilevp::memory
