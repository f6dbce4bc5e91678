#pragma once
// The local tile registers of a CUBE core: descriptors, payloads of the four PEs, which elements are defined, the names
// by which programs reach tiles, and how many bytes are allocated.
//
// A tile lives in a slot. Slots 0-63 are the architectural registers (hand * 16 + index); 64-127 exist with relative
// selectors only: a hand of 16 live tiles needs room for the ones that its bundles in flight define.
//
// Life of a slot: allocate (a preflight; names of younger bundles already see it) -> publish (commit; in program order)
// or release (a late fault). A published tile lives until its hand has published 16 newer ones (relative) or for ever
// (absolute, as in the executable model).
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tilevp/cube/isa.hpp"
#include "tilevp/cube/layout.hpp"
#include "tilevp/cube/parameters.hpp"
#include "tilevp/memory/byte_store.hpp"

namespace tilevp::cube {

using TileSlot = std::uint8_t;
inline constexpr unsigned tile_slots = 2 * local_tiles;
constexpr Hand hand_of(TileSlot slot) { return static_cast<Hand>(slot % local_tiles / tiles_per_hand); }

struct TileDescriptor {
  DataType type = DataType::fp32;
  Layout layout = Layout::row_major;
  PeMask mask = 0;                   // PEs that hold a payload
  std::uint32_t capacity_bytes = 0;  // a PE
  std::uint32_t rows = 0;  // of the storage: whole cells, or the physical rows and columns of a row-major tile
  std::uint32_t columns = 0;
  std::uint32_t valid_rows = 0;
  std::uint32_t valid_columns = 0;
  // Bytes of the storage, a PE.
  std::uint64_t storage_bytes() const { return (std::uint64_t{rows} * columns * bits(type) + 7) / 8; }
  bool operator==(const TileDescriptor&) const = default;
};

// The descriptor of a tile of `valid_rows` x `valid_columns` (both >= 1) in a cell layout; nothing where the type has
// no cells (64 bits, HiF4X2), M layouts have more rows than their cell, or it needs more than `capacity_bytes`.
std::optional<TileDescriptor> cell_tile(Layout layout, DataType type, std::uint32_t valid_rows,
                                        std::uint32_t valid_columns, std::uint32_t capacity_bytes, PeMask mask);
// The same in row-major order with `columns` physical columns: a power of two, >= valid_columns; rows fill the capacity
// exactly and are a power of two >= valid_rows (asl/tile/model/legality/descriptor-shape.asl).
std::optional<TileDescriptor> row_major_tile(DataType type, std::uint32_t valid_rows, std::uint32_t valid_columns,
                                             std::uint32_t columns, std::uint32_t capacity_bytes, PeMask mask);

class TileRegisters {
 public:
  TileRegisters(TileSelectors selectors, CapacityRule rule, std::uint32_t capacity_bytes);

  // The slot that a source code of B.IOT (0-63) names now, in program order: a tile in flight counts. Nothing where
  // no tile has the name.
  std::optional<TileSlot> find(std::uint8_t selector) const;

  bool allocated(TileSlot slot) const { return tiles_[slot].allocated; }
  // Allocated and its producer has committed.
  bool published(TileSlot slot) const { return tiles_[slot].published; }
  const TileDescriptor& descriptor(TileSlot slot) const { return tiles_[slot].descriptor; }
  // Slots allocated and not yet published.
  unsigned in_flight() const { return in_flight_; }

  // Whether every valid element is defined. One test where a producer wrote them all.
  bool defined(TileSlot slot) const { return tiles_[slot].published && tiles_[slot].undefined_elements == 0; }
  bool defined(TileSlot slot, std::uint32_t row, std::uint32_t column) const;
  // Makes one valid element undefined: what a host does that wants to see a program fault.
  void undefine(TileSlot slot, std::uint32_t row, std::uint32_t column);

  // The slot that the next destination in `hand` gets; `taken`: slots that this bundle's other destinations got.
  // Nothing where the hand has none free.
  std::optional<TileSlot> next_free(Hand hand, std::span<const TileSlot> taken = {}) const;
  // Whether `bytes_per_pe` more fit into every PE of the mask.
  bool fits(PeMask mask, std::uint64_t bytes_per_pe) const;
  // Takes the slot, charges capacity, names it. Bytes keep what the slot held before. Throws Defect where the slot is
  // not free.
  void allocate(TileSlot slot, const TileDescriptor& descriptor);
  // The tiles of a group, in the order of their bindings, all valid elements defined; retires what they push out.
  void publish(std::span<const TileSlot> group);
  // A late fault: gives the slots of a group in flight back, names and capacity too; groups of younger bundles first.
  // Throws Defect for a slot that is not in flight.
  void release(std::span<const TileSlot> group);
  // Frees a published tile, as a host does between programs. Throws Defect for a slot without one.
  void retire(TileSlot slot);
  void reset();

  // Bytes allocated in a PE; over all PEs.
  std::uint64_t used_bytes(unsigned pe) const { return used_[pe]; }
  std::uint64_t used_bytes() const { return used_[0] + used_[1] + used_[2] + used_[3]; }
  // The limit can be lowered or raised by the host (system register TILE_CAPACITY); tiles stay.
  void set_capacity(std::uint32_t bytes) { capacity_ = bytes; }
  std::uint32_t capacity() const { return capacity_; }

  // The payload of a PE that holds the tile, in stored order (layout.hpp), storage_bytes() long. Throws Defect for a PE
  // outside the mask.
  std::span<std::byte> payload(TileSlot slot, unsigned pe);
  std::span<const std::byte> payload(TileSlot slot, unsigned pe) const;

  // Where the payloads of a slot that was allocated once lie in a PE: for effects, which run when the slot may already
  // hold another tile. It never changes.
  std::byte* bank(TileSlot slot, unsigned pe) { return banks_.data() + bank_offset(slot, pe); }

  // The payload as programs see its bytes (architectural order), for debug access and dumps.
  std::vector<std::byte> architectural_bytes(TileSlot slot, unsigned pe) const;
  void set_architectural_bytes(TileSlot slot, unsigned pe, std::span<const std::byte> bytes);

 private:
  struct Tile {
    bool allocated = false;
    bool published = false;
    TileDescriptor descriptor{};
    std::uint32_t undefined_elements = 0;
    std::vector<bool> undefined{};  // row * valid_columns + column; empty where all are defined
  };
  void free(TileSlot slot);
  // Each slot has room for the largest tile in every PE; the host's pages of it come when they are written.
  static constexpr std::uint64_t bank_offset(TileSlot slot, unsigned pe) {
    return (std::uint64_t{slot} * pes + pe) * max_local_tile_bytes;
  }
  const TileDescriptor& held(TileSlot slot, unsigned pe) const;
  // The bit of a slot among those of its hand.
  static constexpr unsigned place_in_hand(TileSlot slot) {
    return slot / local_tiles * tiles_per_hand + slot % tiles_per_hand;
  }
  void mark_free(TileSlot slot, bool is_free) {
    std::uint32_t& mask = free_[static_cast<unsigned>(hand_of(slot))];
    const std::uint32_t bit = std::uint32_t{1} << place_in_hand(slot);
    mask = is_free ? mask | bit : mask & ~bit;
  }
  std::vector<TileSlot>& names(TileSlot slot) { return names_[static_cast<unsigned>(hand_of(slot))]; }

  TileSelectors selectors_;
  CapacityRule rule_;
  std::uint32_t capacity_;
  unsigned in_flight_ = 0;
  std::array<std::uint64_t, pes> used_{};
  std::array<Tile, tile_slots> tiles_{};
  memory::SparseStore banks_;
  std::array<std::uint32_t, hands> free_{};           // by hand: slots without a tile
  std::array<std::vector<TileSlot>, hands> names_{};  // relative selectors: newest last, in program order
};

}  // namespace tilevp::cube
