#include "tilevp/cube/preflight.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/preflight_steps.hpp"

namespace tilevp::cube {

std::string selector_name(std::uint8_t selector) {
  return std::string(1, "TUMN"[selector / tiles_per_hand % hands]) + "#" +
         std::to_string(selector % tiles_per_hand + 1);
}

std::string full_hand_text(Hand hand) {
  return std::string("hand ") + "TUMN"[static_cast<int>(hand)] + " holds " + std::to_string(tiles_per_hand) + " tiles";
}

std::string capacity_text(std::uint64_t bytes, const TileRegisters& tiles) {
  return std::to_string(bytes) + " bytes a PE beside " + std::to_string(tiles.used_bytes()) + " of " +
         std::to_string(tiles.capacity());
}

std::string shape_text(std::uint32_t rows, std::uint32_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

Selectors source_selectors(const Header& header) {
  Selectors selectors;
  for (const TileBinding& binding : header.tiles)
    for (unsigned i = 0; i < binding.fields.sources; ++i) selectors.push_back(binding.fields.source[i]);
  return selectors;
}

std::optional<TileSlot> in_flight_source(const TileRegisters& tiles, const Selectors& selectors) {
  if (tiles.in_flight() == 0) return {};
  for (const std::uint8_t selector : selectors)
    if (const auto slot = tiles.find(selector); slot && !tiles.published(*slot)) return slot;
  return {};
}

bool defined_region(const TileRegisters& tiles, TileSlot slot, std::uint32_t rows, std::uint32_t columns) {
  if (tiles.defined(slot)) return true;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t column = 0; column < columns; ++column)
      if (!tiles.defined(slot, row, column)) return false;
  return true;
}

Verdict preflight(const Header& header, const Gprs& gpr, const Parameters& parameters, TileRegisters& tiles,
                  bool older_in_flight) {
  if (!header.active) throw Defect("preflight: no bundle is open");
  if (no_participation(header)) return NoOperation{};
  const bool would_wait = older_in_flight || tiles.in_flight() > 0;
  Verdict verdict = is_matrix(header.start.operation) ? close_matrix(header, gpr, parameters, tiles, would_wait)
                                                      : close_transfer(header, gpr, tiles, would_wait);
  if (would_wait && std::holds_alternative<BundleFault>(verdict)) return Wait{};
  return verdict;
}

Slots destinations(const MatrixOperation& operation) {
  Slots slots{operation.d};
  for (const auto& slot : {operation.row_max_out, operation.group_max_out})
    if (slot) slots.push_back(*slot);
  return slots;
}

Slots destinations(const TransferOperation& operation) {
  Slots slots;
  if (operation.load) slots.push_back(operation.tile);
  return slots;
}

Slots sources(const MatrixOperation& operation) {
  Slots slots;
  if (operation.c) slots.push_back(*operation.c);
  slots.push_back(operation.a);
  slots.push_back(operation.b);
  for (const auto& slot :
       {operation.bias, operation.cscale, operation.row_max_in, operation.quant_vector, operation.slope_vector})
    if (slot) slots.push_back(*slot);
  return slots;
}

Slots sources(const TransferOperation& operation) {
  Slots slots;
  if (!operation.load) slots.push_back(operation.tile);
  return slots;
}

}  // namespace tilevp::cube
