#pragma once
// Arithmetic on the free-axis pattern of a tile.
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

// Elements a partition, for dimensions nobody has checked yet.
inline std::uint64_t free_size(const Operand& tile) {
  return std::uint64_t{tile.dims[0].num} * tile.dims[1].num * tile.dims[2].num;
}

// Bytes of a partition that a tile touches lie in [low, high).
struct ByteSpan {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

inline ByteSpan span_of(const Operand& tile, std::uint32_t element_bytes) {
  ByteSpan span{tile.offset, std::int64_t{tile.offset} + element_bytes};
  for (const Dim& dim : tile.dims) {
    const std::int64_t reach = (std::int64_t{dim.num} - 1) * dim.step * element_bytes;
    (reach < 0 ? span.low : span.high) += reach;
  }
  return span;
}

// Step of the innermost dimension that has more than one element, in bytes; 0 for a single element.
inline std::int64_t inner_stride_bytes(const Operand& tile, std::uint32_t element_bytes) {
  for (std::size_t d = tile.dims.size(); d-- > 0;)
    if (tile.dims[d].num > 1) return std::int64_t{tile.dims[d].step} * element_bytes;
  return 0;
}

// One contiguous run of elements in order: what a plain row buffer has.
inline bool is_dense(const Operand& tile) {
  std::int64_t expected = 1;
  for (std::size_t d = tile.dims.size(); d-- > 0;) {
    if (tile.dims[d].num > 1 && tile.dims[d].step != expected) return false;
    expected *= tile.dims[d].num;
  }
  return true;
}

// Calls fn(offset, bytes) for each contiguous run of one partition, in the pattern's order; false from fn ends it.
template <class Fn>
bool for_each_run(const Operand& tile, std::uint32_t element_bytes, Fn&& fn) {
  const auto& [outer, middle, inner] = tile.dims;
  const std::int64_t size = element_bytes;
  const bool inner_runs = inner.step == 1 || inner.num == 1;
  const bool middle_runs = inner_runs && (middle.num == 1 || middle.step == std::int64_t{inner.num});
  const std::uint32_t run = (inner_runs ? inner.num : 1U) * (middle_runs ? middle.num : 1U) * element_bytes;
  for (std::int64_t i = 0; i < outer.num; ++i)
    for (std::int64_t j = 0; j < (middle_runs ? 1 : middle.num); ++j)
      for (std::int64_t k = 0; k < (inner_runs ? 1 : inner.num); ++k) {
        const std::int64_t at = tile.offset + (i * outer.step + j * middle.step + k * inner.step) * size;
        if (!fn(static_cast<std::uint32_t>(at), run)) return false;
      }
  return true;
}

// The tile of a scalar operand: one fp32 in each partition of the source that it goes with, source 0.
inline Operand scalar_tile(const Scalar& scalar, std::uint8_t first_partition) {
  Operand tile{.space = Space::sbuf, .partition = first_partition, .offset = scalar.address};
  for (Dim& dim : tile.dims) dim = {0, 1};
  return tile;
}

// What two tiles may have in common, decided without walking them.
struct TileExtent {
  ByteSpan span{};
  std::int64_t stride_gcd = 0;  // of all steps, in bytes
  Space space = Space::sbuf;
  std::uint8_t first_partition = 0;
  std::uint8_t partitions = 0;
  std::uint8_t element_bytes = 1;
};

inline TileExtent extent_of(const Operand& tile, std::uint8_t partitions, std::uint32_t element_bytes) {
  TileExtent extent{span_of(tile, element_bytes),
                    0,
                    tile.space,
                    tile.partition,
                    partitions,
                    static_cast<std::uint8_t>(element_bytes)};
  for (const Dim& dim : tile.dims)
    if (dim.num > 1) extent.stride_gcd = std::gcd(extent.stride_gcd, std::abs(std::int64_t{dim.step}) * element_bytes);
  return extent;
}

// False only where the tiles have no byte in common. Boxes are compared, and where these meet, the residues of both
// tiles modulo the greatest common divisor of all steps, so that interleaved tiles count as apart.
inline bool may_overlap(const TileExtent& a, const TileExtent& b) {
  if (a.space != b.space || a.span.high <= b.span.low || b.span.high <= a.span.low) return false;
  if (a.first_partition + a.partitions <= b.first_partition || b.first_partition + b.partitions <= a.first_partition)
    return false;
  const std::int64_t g = std::gcd(a.stride_gcd, b.stride_gcd);
  if (g == 0) return true;
  const std::int64_t apart = ((b.span.low - a.span.low) % g + g) % g;
  return apart < a.element_bytes || apart + b.element_bytes > g;
}

}  // namespace tilevp::neuroncore
