#include "tilevp/neuroncore/transpose.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tilevp/neuroncore/tile_elements.hpp"

namespace tilevp::neuroncore {
namespace {

template <class Word>
void transpose_words(const numeric::StridedTile& source, const numeric::MutableStridedTile& destination,
                     std::vector<std::byte>& buffer) {
  const std::size_t columns = source.free_size();
  buffer.resize(source.partitions * columns * sizeof(Word));
  std::byte* to = buffer.data();
  for (std::size_t p = 0; p < source.partitions; ++p)
    for_each_element(source, p, [&](const std::byte* at) {
      std::memcpy(to, at, sizeof(Word));
      to += sizeof(Word);
    });
  for (std::size_t f = 0; f < columns; ++f) {
    const std::byte* from = buffer.data() + f * sizeof(Word);
    for_each_element(destination, f, [&](std::byte* at) {
      std::memcpy(at, from, sizeof(Word));
      from += columns * sizeof(Word);
    });
  }
}

}  // namespace

void transpose_bits(const numeric::StridedTile& source, const numeric::MutableStridedTile& destination,
                    std::vector<std::byte>& buffer) {
  switch (numeric::size_bytes(source.dtype)) {
    case 4:
      return transpose_words<std::uint32_t>(source, destination, buffer);
    case 2:
      return transpose_words<std::uint16_t>(source, destination, buffer);
    default:
      return transpose_words<std::uint8_t>(source, destination, buffer);
  }
}

void transpose_by_identity(const numeric::StridedTile& source, const numeric::MutableStridedTile& destination,
                           std::vector<float>& buffer) {
  const std::size_t rows = source.partitions;
  const std::size_t columns = source.free_size();
  buffer.resize(rows * columns + rows);
  for (std::size_t p = 0; p < rows; ++p) numeric::gather_row(source, p, buffer.data() + p * columns);
  float* const out = buffer.data() + rows * columns;
  for (std::size_t f = 0; f < columns; ++f) {
    std::size_t not_finite = 0;
    for (std::size_t p = 0; p < rows; ++p) not_finite += std::isfinite(buffer[p * columns + f]) ? 0 : 1;
    for (std::size_t p = 0; p < rows; ++p) {
      const float value = buffer[p * columns + f];
      const std::size_t others = not_finite - (std::isfinite(value) ? 0 : 1);
      out[p] = others > 0 ? std::numeric_limits<float>::quiet_NaN() : 0.0F + value;
    }
    numeric::scatter_row(destination, f, out);
  }
}

}  // namespace tilevp::neuroncore
