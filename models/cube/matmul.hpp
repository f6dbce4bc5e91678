#pragma once
// The sums of a matrix bundle before post-processing: P = C + A.B + Bias, C first, k increasing, Bias last.
//
// Floats. `two_round`: the product is rounded to fp32 and then the sum is; `fma`: their exact value is rounded once.
// Both take B.DATR's rounding and saturation (a finite sum or product beyond the largest finite number becomes that
// number, without: infinity, in every rounding) as asl/tile/model/execution/matrix-scale.asl of PTO-ISA/pto-spec does
// for its 16- and 32-bit floats. The types of 8 and 4 bits, which that text leaves to raw codes, are summed by
// the same rule here, infinity and NaN as IEEE 754 has them. A sum that is exactly zero is +0. Bias is always added to
// the nearest, without saturation. No step here raises a numeric flag but CScale's. Integers: exact products, sums
// modulo 2^32. `raw_asl`: as integers, codes of floats taken as unsigned numbers.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tilevp/cube/matrix_unit.hpp"

namespace tilevp::cube {

// Operands decoded to lanes of 32 bits: one of the two is used, by whether the sums are floats.
struct Lanes {
  std::vector<float> floats;
  std::vector<std::uint32_t> words;
};

// Memory that one execution leaves to the next.
struct Workspace {
  std::vector<std::byte> codes;      // a row of a tile
  Lanes left;                        // A: [M][K]
  Lanes right;                       // B where no kernel reads its codes: [blocks][K][8]
  std::vector<std::uint32_t> first;  // the sums before the first product, where they are needed twice
  std::vector<std::uint32_t> sums;   // [M][sums_stride], bits of fp32 or integers
  std::size_t sums_stride = 0;       // N to the next multiple of 8
};

// Leaves P in space.sums; NaN are canonical. Columns beyond N hold anything. Returns numeric flags.
std::uint8_t accumulate(const MatrixOperation& operation, const MatrixOperands& operands, Workspace& space);

}  // namespace tilevp::cube
