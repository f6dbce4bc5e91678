#pragma once
// The elements of one partition of a tile, one by one.
#include <array>
#include <cstddef>

#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::neuroncore {

// Calls fn(address) for each element of one partition in order.
template <class Byte, class Fn>
void for_each_element(const numeric::BasicStridedTile<Byte>& tile, std::size_t partition, Fn&& fn) {
  std::array<numeric::FreeDim, 3> dims{};
  const auto used = static_cast<std::size_t>(tile.dim_count);
  for (std::size_t d = 0; d < used; ++d) dims[dims.size() - used + d] = tile.dims[d];
  const auto size = static_cast<std::ptrdiff_t>(numeric::size_bytes(tile.dtype));
  Byte* const row = tile.base + static_cast<std::ptrdiff_t>(partition) * tile.partition_stride_bytes;
  for (std::size_t i = 0; i < dims[0].count; ++i)
    for (std::size_t j = 0; j < dims[1].count; ++j) {
      Byte* at =
          row +
          (static_cast<std::ptrdiff_t>(i) * dims[0].stride + static_cast<std::ptrdiff_t>(j) * dims[1].stride) * size;
      for (std::size_t k = 0; k < dims[2].count; ++k, at += dims[2].stride * size) fn(at);
    }
}

}  // namespace tilevp::neuroncore
