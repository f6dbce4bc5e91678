// The close of TLOAD and TSTORE, a function a step (PTO-ISA/pto-spec, asl/block/model/dispatch/
// tlsu-layout-conversion.asl for the cell layouts, asl/block/execution/BSTART.TLOAD.asl and BSTART.TSTORE.asl for
// row-major tiles).
#include "tilevp/cube/preflight_steps.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube {
namespace {

// The tile layout of a transport code of that direction; nothing for a code of the other one, or of other layouts.
std::optional<Layout> layout_of(unsigned code, bool load) {
  if (code == 0) return Layout::row_major;
  switch (code) {
    case nd2m16:
    case m162nd:
      if (load == (code == nd2m16)) return Layout::cube_m16;
      break;
    case nd2m32:
    case m322nd:
      if (load == (code == nd2m32)) return Layout::cube_m32;
      break;
    case nd2n8:
    case n82nd:
      if (load == (code == nd2n8)) return Layout::cube_n8;
      break;
    default:
      break;
  }
  return {};
}

class TransferClose {
 public:
  TransferClose(const Header& header, const Gprs& gpr, TileRegisters& tiles, bool would_wait)
      : header_(header), gpr_(gpr), tiles_(tiles), would_wait_(would_wait) {}

  Verdict run() {
    operation_.load = header_.start.operation == Operation::tload;
    if (auto fault = step_1_schema()) return std::move(*fault);
    if (auto fault = step_2_type()) return std::move(*fault);
    if (const auto producer = in_flight_source(tiles_, source_selectors(header_))) return Wait{producer};
    if (auto fault = operation_.load ? step_3_destination() : step_3_source()) return std::move(*fault);
    addresses();
    return operation_;
  }

 private:
  static BundleFault illegal(unsigned step, const char* rule, std::string text) {
    return fault_at(step, FaultCode::tile_legality, rule, std::move(text));
  }
  bool in_cells() const { return operation_.layout != Layout::row_major; }

  MaybeFault step_1_schema() {
    if (auto fault = attributes()) return fault;
    if (auto fault = dimensions()) return fault;
    if (!header_.shared.empty()) return illegal(1, rule::transfer_shared, "shared tiles are not modelled");
    if (header_.tiles.size() != 1 || !header_.tiles[0].fields.last ||
        header_.tiles[0].has_destination() != operation_.load ||
        header_.tiles[0].fields.sources != (operation_.load ? 0 : 1))
      return illegal(1, rule::transfer_bindings,
                     operation_.load ? "TLOAD takes one B.IOT with a destination, no source and L = 1"
                                     : "TSTORE takes one B.IOT with one source, no destination and L = 1");
    operation_.mask = header_.tiles[0].mask;
    if (header_.ior && (header_.ior->destination != 0 || header_.ior->source[2] != 0))
      return illegal(1, rule::transfer_ior, "B.IOR: RegDst and RegSrc2 must be 0");
    return {};
  }

  MaybeFault attributes() {
    if (!header_.datr) return {};
    const BDatr& datr = *header_.datr;
    const auto layout = layout_of(datr.layout, operation_.load);
    if (!layout)
      return illegal(1, rule::transfer_attributes,
                     "B.DATR: Layout " + std::to_string(datr.layout) + " is not one of " +
                         (operation_.load ? "TLOAD (0, 21 to 23)" : "TSTORE (0, 24 to 26)"));
    operation_.layout = *layout;
    operation_.pad = static_cast<Pad>(datr.pad & 3);
    if (datr.cmode != 0 || datr.rounding != 0 || datr.saturate || datr.canonicalize)
      return illegal(1, rule::transfer_attributes, "B.DATR: CMode, RMode, Sat and Canonicalize must be 0");
    if (in_cells() && datr.type != datr_inherits_type)
      return illegal(1, rule::transfer_attributes,
                     "B.DATR: DataType " + std::to_string(datr.type) + " with a cell layout, expected 31");
    return {};
  }

  MaybeFault dimensions() const {
    const auto& lb = header_.dimension;
    for (unsigned i = 0; i < 3; ++i)
      if (lb[i] == 0) return illegal(1, rule::transfer_dimensions, "LB" + std::to_string(i) + " is 0");
    if (in_cells() && (!lb[0] || !lb[1] || lb[2]))
      return illegal(1, rule::transfer_dimensions, "a cell layout takes LB0 (columns) and LB1 (rows), and no LB2");
    return {};
  }

  MaybeFault step_2_type() {
    operation_.type = header_.b_type();
    if (!in_cells() || (operation_.type != DataType::hif4x2 && bits(operation_.type) <= 32)) return {};
    return illegal(2, rule::transfer_type,
                   std::string(name(operation_.type)) + " has no cells of " + std::string(name(operation_.layout)));
  }

  MaybeFault step_3_destination() {
    const BIot& binding = header_.tiles[0].fields;
    const std::uint32_t bytes = size_code_bytes(binding.size_code);
    operation_.columns = header_.dimension[0].value_or(1);
    operation_.rows = header_.dimension[1].value_or(1);
    const std::uint32_t columns = header_.dimension[2].value_or(static_cast<std::uint16_t>(operation_.columns));
    const auto tile =
        in_cells()
            ? cell_tile(operation_.layout, operation_.type, operation_.rows, operation_.columns, bytes, operation_.mask)
            : row_major_tile(operation_.type, operation_.rows, operation_.columns, columns, bytes, operation_.mask);
    if (!tile)
      return no_room(rule::transfer_size, [&] {
        return shape_text(operation_.rows, operation_.columns) + " of " + std::string(name(operation_.type)) + " in " +
               std::string(name(operation_.layout)) +
               (in_cells() ? "" : " with " + std::to_string(columns) + " columns") + " makes no tile of " +
               std::to_string(bytes) + " bytes a PE";
      });
    if (!tiles_.fits(operation_.mask, bytes))
      return no_room(rule::transfer_capacity, [&] { return capacity_text(bytes, tiles_); });
    const auto slot = tiles_.next_free(binding.destination);
    if (!slot) return no_room(rule::transfer_hand_full, [&] { return full_hand_text(binding.destination); });
    tiles_.allocate(*slot, *tile);
    operation_.tile = *slot;
    storage(*tile);
    return {};
  }

  MaybeFault step_3_source() {
    const std::uint8_t selector = header_.tiles[0].fields.source[0];
    const auto refuse = [&](const std::string& what) {
      return illegal(3, rule::transfer_source, selector_name(selector) + " " + what);
    };
    const auto slot = tiles_.find(selector);
    if (!slot) return refuse("names no tile");
    const TileDescriptor& tile = tiles_.descriptor(*slot);
    if ((tile.mask & operation_.mask) != operation_.mask)
      return refuse("is in PEs " + std::to_string(tile.mask) + ", the bundle runs in " +
                    std::to_string(operation_.mask));
    if (tile.layout != operation_.layout)
      return refuse("has layout " + std::string(name(tile.layout)) + ", expected " +
                    std::string(name(operation_.layout)));
    if (tile.type != operation_.type)
      return refuse("is " + std::string(name(tile.type)) + ", expected " + std::string(name(operation_.type)));
    // A row-major tile may be stored in part; what is not said is the tile's.
    operation_.columns = header_.dimension[0] ? *header_.dimension[0] : tile.valid_columns;
    operation_.rows = header_.dimension[1] ? *header_.dimension[1] : tile.valid_rows;
    const bool whole = operation_.columns == tile.valid_columns && operation_.rows == tile.valid_rows;
    const bool inside = operation_.columns <= tile.valid_columns && operation_.rows <= tile.valid_rows;
    if (in_cells() ? !whole : !inside)
      return refuse("is " + shape_text(tile.valid_rows, tile.valid_columns) + ", the bundle stores " +
                    shape_text(operation_.rows, operation_.columns));
    if (header_.dimension[2] && *header_.dimension[2] != tile.columns)
      return refuse("has " + std::to_string(tile.columns) + " columns, LB2 is " +
                    std::to_string(*header_.dimension[2]));
    if (!defined_region(tiles_, *slot, operation_.rows, operation_.columns))
      return illegal(3, rule::transfer_undefined, selector_name(selector) + " has undefined elements");
    operation_.tile = *slot;
    storage(tile);
    return {};
  }

  void storage(const TileDescriptor& tile) {
    operation_.tile_rows = tile.rows;
    operation_.tile_columns = tile.columns;
  }

  // Without B.IOR: from 0, rows densely. With one, a register that holds 0 is a stride of 0.
  void addresses() {
    const std::uint64_t columns = in_cells() ? operation_.columns : operation_.tile_columns;
    operation_.base = header_.ior ? gpr_[header_.ior->source[0]] : 0;
    operation_.row_stride_bytes =
        header_.ior ? gpr_[header_.ior->source[1]] : (columns * bits(operation_.type) + 7) / 8;
  }

  template <class Text>
  BundleFault no_room(const char* rule, Text&& text) const {
    return fault_at(3, FaultCode::tile_allocation, rule, would_wait_ ? std::string() : text());
  }

  const Header& header_;
  const Gprs& gpr_;
  TileRegisters& tiles_;
  const bool would_wait_;
  TransferOperation operation_{};
};

}  // namespace

Verdict close_transfer(const Header& header, const Gprs& gpr, TileRegisters& tiles, bool would_wait) {
  return TransferClose(header, gpr, tiles, would_wait).run();
}

}  // namespace tilevp::cube
