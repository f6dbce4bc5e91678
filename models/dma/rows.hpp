#pragma once
// What a descriptor moves row by row, once its indices are known.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tilevp/dma/descriptor.hpp"

namespace tilevp::dma {

// The same elements of the stream on both sides.
struct Copy {
  memory::AccessPattern source;
  memory::AccessPattern destination;
};

// The rows in bounds, in the order of their indices (`index_bytes`: rows.count of them, int32, little endian). `place`
// names the descriptor. Throws Fault `dma.out_of_bounds` for an index out of bounds that is not to be skipped, and
// `dma.address_error` for a row below address 0 or above 2^64 - 1.
std::vector<Copy> chosen_rows(const Descriptor& descriptor, std::span<const std::byte> index_bytes,
                              const std::string& place);

}  // namespace tilevp::dma
