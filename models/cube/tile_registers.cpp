#include "tilevp/cube/tile_registers.hpp"

#include <algorithm>
#include <bit>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/element.hpp"

namespace tilevp::cube {
namespace {

[[noreturn]] void wrong(const char* what, unsigned slot) {
  throw Defect(std::string("tile registers: ") + what + " (slot " + std::to_string(slot) + ")");
}

// Moves the elements of every N8 cell between the order of programs (a column's elements together) and the stored one
// (a row's together).
void transpose_cells(const TileDescriptor& tile, std::span<const std::byte> from, std::span<std::byte> to,
                     bool to_stored) {
  const unsigned width = bits(tile.type);
  const CellShape cell = cell_shape(tile.layout, width);
  const std::uint64_t elements = std::uint64_t{tile.rows} * tile.columns;
  for (std::uint64_t base = 0; base < elements; base += cell.elements())
    for (unsigned k = 0; k < cell.rows; ++k)
      for (unsigned n = 0; n < cell.columns; ++n) {
        const std::uint64_t architectural = base + n * cell.rows + k;
        const std::uint64_t stored = base + k * cell.columns + n;
        store_code(to.data(), width, to_stored ? stored : architectural,
                   load_code(from.data(), width, to_stored ? architectural : stored));
      }
}

}  // namespace

std::optional<TileDescriptor> cell_tile(Layout layout, DataType type, std::uint32_t valid_rows,
                                        std::uint32_t valid_columns, std::uint32_t capacity_bytes, PeMask mask) {
  const CellShape cell = type == DataType::hif4x2 ? CellShape{} : cell_shape(layout, bits(type));
  if (cell.rows == 0) return {};
  if (layout != Layout::cube_n8 && valid_rows > cell.rows) return {};
  if (cell_storage_bytes(layout, bits(type), valid_rows, valid_columns) > capacity_bytes) return {};
  return TileDescriptor{type,
                        layout,
                        mask,
                        capacity_bytes,
                        ceil_div(valid_rows, cell.rows) * cell.rows,
                        ceil_div(valid_columns, cell.columns) * cell.columns,
                        valid_rows,
                        valid_columns};
}

std::optional<TileDescriptor> row_major_tile(DataType type, std::uint32_t valid_rows, std::uint32_t valid_columns,
                                             std::uint32_t columns, std::uint32_t capacity_bytes, PeMask mask) {
  if (!std::has_single_bit(columns) || valid_columns > columns) return {};
  const std::uint64_t row_bits = std::uint64_t{columns} * bits(type);
  const std::uint64_t capacity_bits = std::uint64_t{capacity_bytes} * 8;
  const std::uint64_t rows = capacity_bits / row_bits;
  if (rows < valid_rows || rows * row_bits != capacity_bits) return {};
  return TileDescriptor{type,    Layout::row_major, mask,         capacity_bytes, static_cast<std::uint32_t>(rows),
                        columns, valid_rows,        valid_columns};
}

TileRegisters::TileRegisters(TileSelectors selectors, CapacityRule rule, std::uint32_t capacity_bytes)
    : selectors_(selectors),
      rule_(rule),
      capacity_(capacity_bytes),
      banks_(std::uint64_t{tile_slots} * pes * max_local_tile_bytes, "tile registers") {
  free_.fill(~std::uint32_t{0});
}

std::optional<TileSlot> TileRegisters::find(std::uint8_t selector) const {
  if (selectors_ == TileSelectors::absolute)
    return tiles_[selector].allocated ? std::optional<TileSlot>(selector) : std::nullopt;
  const auto& hand = names_[selector / tiles_per_hand];
  const std::size_t age = selector % tiles_per_hand;
  return age < hand.size() ? std::optional<TileSlot>(hand[hand.size() - 1 - age]) : std::nullopt;
}

bool TileRegisters::defined(TileSlot slot, std::uint32_t row, std::uint32_t column) const {
  const Tile& tile = tiles_[slot];
  if (!tile.published || row >= tile.descriptor.valid_rows || column >= tile.descriptor.valid_columns) return false;
  return tile.undefined_elements == 0 || !tile.undefined[std::size_t{row} * tile.descriptor.valid_columns + column];
}

void TileRegisters::undefine(TileSlot slot, std::uint32_t row, std::uint32_t column) {
  if (!defined(slot, row, column)) return;
  Tile& tile = tiles_[slot];
  const std::size_t valid = std::size_t{tile.descriptor.valid_rows} * tile.descriptor.valid_columns;
  if (tile.undefined_elements == 0) tile.undefined.assign(valid, false);
  tile.undefined[std::size_t{row} * tile.descriptor.valid_columns + column] = true;
  ++tile.undefined_elements;
}

// Architectural slots first, each kind in ascending order.
std::optional<TileSlot> TileRegisters::next_free(Hand hand, std::span<const TileSlot> taken) const {
  static_assert(2 * tiles_per_hand == 32);
  std::uint32_t mask = free_[static_cast<unsigned>(hand)];
  if (selectors_ == TileSelectors::absolute) mask &= (std::uint32_t{1} << tiles_per_hand) - 1;
  for (const TileSlot slot : taken)
    if (hand_of(slot) == hand) mask &= ~(std::uint32_t{1} << place_in_hand(slot));
  if (mask == 0) return {};
  const auto place = static_cast<unsigned>(std::countr_zero(mask));
  return static_cast<TileSlot>(place / tiles_per_hand * local_tiles + static_cast<unsigned>(hand) * tiles_per_hand +
                               place % tiles_per_hand);
}

bool TileRegisters::fits(PeMask mask, std::uint64_t bytes_per_pe) const {
  if (rule_ == CapacityRule::core)
    return used_bytes() + static_cast<unsigned>(std::popcount(mask)) * bytes_per_pe <= capacity_;
  for (unsigned pe = 0; pe < pes; ++pe)
    if (selects(mask, pe) && used_[pe] + bytes_per_pe > capacity_) return false;
  return true;
}

void TileRegisters::allocate(TileSlot slot, const TileDescriptor& descriptor) {
  Tile& tile = tiles_[slot];
  if (tile.allocated) wrong("allocated twice", slot);
  if (descriptor.storage_bytes() > max_local_tile_bytes) wrong("larger than a tile can be", slot);
  tile.allocated = true;
  mark_free(slot, false);
  tile.descriptor = descriptor;
  tile.undefined_elements = 0;
  ++in_flight_;
  for (unsigned pe = 0; pe < pes; ++pe)
    if (selects(descriptor.mask, pe)) used_[pe] += descriptor.capacity_bytes;
  if (selectors_ == TileSelectors::relative) names(slot).push_back(slot);
}

void TileRegisters::publish(std::span<const TileSlot> group) {
  for (const TileSlot slot : group) {
    if (!tiles_[slot].allocated || tiles_[slot].published) wrong("published, and not in flight", slot);
    tiles_[slot].published = true;
    --in_flight_;
  }
  if (selectors_ == TileSelectors::absolute) return;
  // Groups are published in program order, so the published tiles of a hand are its oldest.
  for (const TileSlot slot : group) {
    auto& hand = names(slot);
    const auto live = std::count_if(hand.begin(), hand.end(), [&](TileSlot s) { return tiles_[s].published; });
    for (auto excess = live; excess > tiles_per_hand; --excess) free(hand.front());
  }
}

void TileRegisters::release(std::span<const TileSlot> group) {
  for (const TileSlot slot : group) {
    if (!tiles_[slot].allocated || tiles_[slot].published) wrong("released, and not in flight", slot);
    --in_flight_;
    free(slot);
  }
}

void TileRegisters::retire(TileSlot slot) {
  if (!tiles_[slot].published) wrong("retired, and not published", slot);
  free(slot);
}

void TileRegisters::free(TileSlot slot) {
  Tile& tile = tiles_[slot];
  tile.allocated = tile.published = false;
  mark_free(slot, true);
  for (unsigned pe = 0; pe < pes; ++pe)
    if (selects(tile.descriptor.mask, pe)) used_[pe] -= tile.descriptor.capacity_bytes;
  std::erase(names(slot), slot);
}

void TileRegisters::reset() {
  for (Tile& tile : tiles_) tile.allocated = tile.published = false;
  free_.fill(~std::uint32_t{0});
  for (auto& hand : names_) hand.clear();
  used_ = {};
  in_flight_ = 0;
}

const TileDescriptor& TileRegisters::held(TileSlot slot, unsigned pe) const {
  const Tile& tile = tiles_[slot];
  if (!tile.allocated || !selects(tile.descriptor.mask, pe)) wrong("no payload in this PE", slot);
  return tile.descriptor;
}

std::span<std::byte> TileRegisters::payload(TileSlot slot, unsigned pe) {
  return {bank(slot, pe), held(slot, pe).storage_bytes()};
}

std::span<const std::byte> TileRegisters::payload(TileSlot slot, unsigned pe) const {
  return {banks_.data() + bank_offset(slot, pe), held(slot, pe).storage_bytes()};
}

std::vector<std::byte> TileRegisters::architectural_bytes(TileSlot slot, unsigned pe) const {
  const auto stored = payload(slot, pe);
  std::vector<std::byte> bytes(stored.begin(), stored.end());
  if (tiles_[slot].descriptor.layout == Layout::cube_n8) transpose_cells(tiles_[slot].descriptor, stored, bytes, false);
  return bytes;
}

void TileRegisters::set_architectural_bytes(TileSlot slot, unsigned pe, std::span<const std::byte> bytes) {
  const auto stored = payload(slot, pe);
  if (bytes.size() != stored.size()) wrong("bytes of another size", slot);
  if (tiles_[slot].descriptor.layout == Layout::cube_n8)
    transpose_cells(tiles_[slot].descriptor, bytes, stored, true);
  else
    std::copy(bytes.begin(), bytes.end(), stored.begin());
}

}  // namespace tilevp::cube
