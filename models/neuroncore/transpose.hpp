#pragma once
// destination[f][p] = source[p][f]: the source has P partitions of F elements, the destination F partitions of P. Both
// have one type. The source is read whole before anything is written.
#include <cstddef>
#include <vector>

#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::neuroncore {

// As the vector engine does it, and the PE array from NC-v3 on: every bit is kept.
void transpose_bits(const numeric::StridedTile& source, const numeric::MutableStridedTile& destination,
                    std::vector<std::byte>& buffer);

// As the PE array of NC-v2 does it: a matmul of the source (stationary) with an identity matrix (moving), so every
// element is a sum over the partitions in order, from +0, in which all terms but one are products with 0. An infinity
// or NaN therefore turns the other elements of its destination partition into NaN (0 * Inf), and -0 comes out as +0
// (AWS Neuron documentation, nki.isa.nc_transpose: not bit-accurate with NaN or Inf). `buffer` is reused.
void transpose_by_identity(const numeric::StridedTile& source, const numeric::MutableStridedTile& destination,
                           std::vector<float>& buffer);

}  // namespace tilevp::neuroncore
