#pragma once
// One bit a byte of a memory of 128 partitions: which bytes were written, which a matmul wrote last.
//
// Tiles have the same free-axis pattern in every partition, so the words of one column (64 bytes of the free axis) lie
// side by side for all partitions. Three summaries answer most questions without looking at them: which bytes of a
// column are set in all partitions, which in any, and for which partitions a whole column is set.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

// Partitions [first, first + count).
struct PartitionRange {
  unsigned first = 0;
  unsigned count = 1;
};

class PartitionBitmap {
 public:
  // `partition_bytes` of each partition. Nothing is set.
  explicit PartitionBitmap(std::uint32_t partition_bytes);

  struct Place {
    unsigned partition;
    std::uint32_t offset;
  };

  // Bytes [offset, offset + bytes) of each partition; in bounds (the caller has checked), bytes > 0.
  void set(PartitionRange partitions, std::uint32_t offset, std::uint32_t bytes);
  void clear(PartitionRange partitions, std::uint32_t offset, std::uint32_t bytes);
  // A byte that is not set: the first partition of the lowest column that has one.
  std::optional<Place> first_clear(PartitionRange partitions, std::uint32_t offset, std::uint32_t bytes) const;

  // How many of the bytes [offset, offset + bytes) are set, by partition; multiples of 64.
  std::vector<std::uint64_t> count(std::uint32_t offset, std::uint32_t bytes) const;

  // The same for the bytes of a tile (its space does not matter).
  void set(const Operand& tile, unsigned partitions, std::uint32_t element_bytes);
  void clear(const Operand& tile, unsigned partitions, std::uint32_t element_bytes);
  std::optional<Place> first_clear(const Operand& tile, unsigned partitions, std::uint32_t element_bytes) const;

 private:
  using Mask = std::uint64_t;
  struct Lanes {
    std::array<std::uint64_t, 2> bits{};
  };
  static Lanes lanes_of(PartitionRange partitions);
  bool is_known(std::size_t column, const Lanes& lanes, Mask mask) const;
  bool is_known(std::uint32_t offset, std::uint32_t bytes, const Lanes& lanes) const;
  void set_column(std::size_t column, PartitionRange partitions, Mask mask);
  void clear_column(std::size_t column, PartitionRange partitions, Mask mask);
  std::optional<Place> column_first_clear(std::size_t column, PartitionRange partitions, Mask mask) const;

  std::vector<std::array<Mask, max_partitions>> columns_;
  // A check that had to look remembers what it saw.
  mutable std::vector<Mask> common_;  // per column: bytes set in every partition (a lower bound)
  std::vector<Mask> any_;             // per column: bytes set in some partition (an upper bound)
  std::vector<Lanes> full_;           // per column: partitions whose word is all ones (a lower bound)
};

}  // namespace tilevp::neuroncore
