#pragma once
// Blocks of groups cut out of the user's image and filter and brought into C,H,W,N and C,H,W,O.
#include <cstdint>

#include "tilevp/neuron/conv2d/layouts.hpp"
#include "tilevp/neuron/transposition.hpp"

namespace tilevp::neuron::conv2d {

// A tensor [outer][groups][rows][columns] or, with the groups innermost, [outer][rows][columns][groups]. Of a filter
// whose columns come before its rows: [outer][groups][columns][rows].
struct GroupedTensor {
  const char* name = "";
  numeric::DType dtype = numeric::DType::bf16;
  std::uint64_t address = 0;
  std::int64_t outer = 1, groups = 1, rows = 1, columns = 1;
  bool groups_innermost = false;
  bool columns_first = false;

  std::int64_t plane() const { return rows * columns; }
};

// Groups [first, first + count) as [outer][rows][columns][count] at `to`. No barrier in front or behind.
TranspositionWork emit_block(Kernel& kernel, const GroupedTensor& from, std::int64_t first, std::int64_t count,
                             std::uint64_t to);

}  // namespace tilevp::neuron::conv2d
