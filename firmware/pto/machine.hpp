#pragma once
// What a CUBE core's registers say of it.
#include <cstdint>

namespace tilevp::pto {

struct Machine {
  std::uint64_t core_base = 0;
  std::uint32_t isa_revision = 0;
  std::uint32_t capacity_bytes = 0;  // of tiles: of the core, or of each PE
  bool capacity_per_pe = false;
  std::uint32_t accumulate = 0;     // how products are summed: 0 two roundings, 1 fused, 2 raw codes
  bool absolute_selectors = false;  // a source names a register, and no tile is ever freed
};

}  // namespace tilevp::pto
