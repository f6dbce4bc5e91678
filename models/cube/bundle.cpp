#include "tilevp/cube/bundle.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/prequant.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube {
namespace {

BundleFault refuse(FaultCode code, const char* rule, std::string text) { return {code, rule, std::move(text)}; }

MaybeFault reserved(const std::string& command, const char* field, unsigned value) {
  return refuse(FaultCode::illegal_instruction, rule::header_field,
                command + ": " + field + " " + std::to_string(value) + " is reserved");
}

MaybeFault outside(const Header& header, const char* command) {
  if (header.active) return {};
  return refuse(FaultCode::bundle_control, rule::header_no_bundle, std::string(command) + " with no bundle open");
}

MaybeFault reserved_gpr(const char* command, unsigned code) {
  if (code < gprs) return {};
  return reserved(command, "GPR", code);
}

// Layout codes that B.DATR knows, of all engines.
constexpr bool is_layout_code(unsigned code) {
  constexpr std::uint32_t assigned = 0x5ff6'035b;  // 0 1 3 4 6 8 9 17 18 20-28 30
  return code < 32 && (assigned >> code & 1) != 0;
}
static_assert(is_layout_code(0) && is_layout_code(9) && is_layout_code(20) && is_layout_code(28) && is_layout_code(30));
static_assert(!is_layout_code(2) && !is_layout_code(16) && !is_layout_code(19) && !is_layout_code(29));

MaybeFault reserved_field(const BFpatr& command, IsaRevision revision) {
  if (!find_prequant(command.prequant)) return reserved("B.FPATR", "PreQuantMode", command.prequant);
  if (command.relu > 3) return reserved("B.FPATR", "ReluMode", command.relu);
  if (command.group_n_code >= group_columns.size()) return reserved("B.FPATR", "GroupNCode", command.group_n_code);
  if (command.cscale && revision == IsaRevision::r1) return reserved("B.FPATR", "bit 9 (CScaleEn)", 1);
  return {};
}

MaybeFault inconsistent_reductions(const BFpatr& command) {
  const auto text = [](const char* what) {
    return refuse(FaultCode::tile_legality, rule::fpatr_reductions, std::string("B.FPATR: ") + what);
  };
  if (command.row_max_init && !command.row_max) return text("RowMaxInit without RowMaxEn");
  if (command.group_max && command.group_n_code == 0) return text("GroupMaxEn without GroupNCode");
  if (!command.group_max && command.group_n_code != 0) return text("GroupNCode without GroupMaxEn");
  if (command.max_abs && !command.row_max && !command.group_max) return text("MaxAbsEn with no reduction");
  return {};
}

// What no word can carry, but a command made by hand can.
MaybeFault beyond_field(const BIot& command) {
  if (command.sources > command.source.size()) return reserved("B.IOT", "number of sources", command.sources);
  for (const unsigned source : command.source)
    if (source >= local_tiles) return reserved("B.IOT", "source", source);
  if (static_cast<unsigned>(command.destination) >= hands)
    return reserved("B.IOT", "DstTile", static_cast<unsigned>(command.destination));
  if (command.pe_mode >= pe_masks.size()) return reserved("B.IOT", "PEMode", command.pe_mode);
  return {};
}

}  // namespace

DataType Header::b_type() const {
  return datr && datr->type != datr_inherits_type ? static_cast<DataType>(datr->type) : start.type;
}

MaybeFault open(Header& header, const BStart& command, std::uint64_t pc) {
  if (header.active) throw Defect("bundle header: opened while one is open");
  if (!is_assigned(static_cast<unsigned>(command.type)))
    return reserved("BSTART", "DataType", static_cast<unsigned>(command.type));
  header = Header{};
  header.active = true;
  header.pc = pc;
  header.start = command;
  return {};
}

MaybeFault latch(Header& header, const BDatr& command) {
  if (auto fault = outside(header, "B.DATR")) return fault;
  if (header.datr) return refuse(FaultCode::bundle_control, rule::datr_twice, "B.DATR: the bundle has one already");
  const auto unsupported = [](const char* field, unsigned value) {
    return refuse(FaultCode::tile_legality, rule::datr_value,
                  std::string("B.DATR: ") + field + " " + std::to_string(value) + " is not supported");
  };
  if (command.type != datr_inherits_type && !is_assigned(command.type)) return unsupported("DataType", command.type);
  if (!is_layout_code(command.layout)) return unsupported("Layout", command.layout);
  if (command.cmode > 5) return unsupported("CMode", command.cmode);
  if (command.rounding > 7) return unsupported("RMode", command.rounding);
  if (command.pad > 3) return unsupported("PadValue", command.pad);
  header.datr = command;
  return {};
}

MaybeFault latch(Header& header, const BFpatr& command, IsaRevision revision) {
  if (auto fault = reserved_field(command, revision)) return fault;
  if (auto fault = outside(header, "B.FPATR")) return fault;
  const auto misplaced = [](const char* rule, const char* what) {
    return refuse(FaultCode::bundle_control, rule, std::string("B.FPATR ") + what);
  };
  if (header.fpatr) return misplaced(rule::fpatr_twice, "a second time in a bundle");
  if (!is_matrix(header.start.operation))
    return misplaced(rule::fpatr_operation, "in a bundle that is no matrix operation");
  if (header.ior || !header.tiles.empty() || !header.shared.empty())
    return misplaced(rule::fpatr_late, "after B.IOR, B.IOT or B.IOS");
  if (auto fault = inconsistent_reductions(command)) return fault;
  header.fpatr = command;
  return {};
}

MaybeFault latch(Header& header, const BDim& command, const Gprs& gpr) {
  if (command.dimension >= header.dimension.size()) return reserved("B.DIM", "LoopNest", command.dimension);
  if (auto fault = reserved_gpr("B.DIM", command.gpr)) return fault;
  if (auto fault = outside(header, "B.DIM")) return fault;
  auto& dimension = header.dimension[command.dimension];
  if (dimension)
    return refuse(FaultCode::bundle_control, rule::dimension_twice,
                  "B.DIM: LB" + std::to_string(command.dimension) + " is " + std::to_string(*dimension) + " already");
  dimension = static_cast<std::uint16_t>(gpr[command.gpr] + command.immediate);
  return {};
}

MaybeFault latch(Header& header, const BIot& command) {
  if (command.size_code > 10) return reserved("B.IOT", "SizeCode", command.size_code);
  if (auto fault = beyond_field(command)) return fault;
  const PeMask mask = pe_masks[command.pe_mode];
  if (mask == 0) {
    header.zero_participation = header.zero_participation || header.active;
    return {};
  }
  if (auto fault = outside(header, "B.IOT")) return fault;
  if (!header.tiles.empty() && header.tiles.back().fields.last)
    return refuse(FaultCode::bundle_control, rule::iot_after_last, "B.IOT after the one with L = 1");
  if (!header.tiles.empty() && header.tiles.back().mask != mask)
    return refuse(FaultCode::tile_legality, rule::iot_mask,
                  "B.IOT: PEMode " + std::to_string(command.pe_mode) + " after PEMode " +
                      std::to_string(header.tiles.back().fields.pe_mode));
  if (header.tiles.size() == max_tile_bindings)
    return refuse(FaultCode::tile_legality, rule::iot_count,
                  "B.IOT: more than " + std::to_string(max_tile_bindings) + " in a bundle");
  header.tiles.push_back({command, mask});
  return {};
}

MaybeFault latch(Header& header, const BIor& command) {
  for (const unsigned code : {command.destination, command.source[0], command.source[1], command.source[2]})
    if (auto fault = reserved_gpr("B.IOR", code)) return fault;
  if (auto fault = outside(header, "B.IOR")) return fault;
  if (header.ior) return refuse(FaultCode::bundle_control, rule::ior_twice, "B.IOR: the bundle has one already");
  header.ior = command;
  return {};
}

MaybeFault latch(Header& header, const BIos& command) {
  if (command.size_code > 12) return reserved("B.IOS", "SizeCode", command.size_code);
  if (command.pe_mode >= pe_masks.size()) return reserved("B.IOS", "PEMode", command.pe_mode);
  const PeMask mask = pe_masks[command.pe_mode];
  if (mask == 0) {
    header.zero_participation = header.zero_participation || header.active;
    return {};
  }
  if (auto fault = outside(header, "B.IOS")) return fault;
  const auto same = [&](const SharedBinding& other) { return other.fields.shared_tile == command.shared_tile; };
  if (std::any_of(header.shared.begin(), header.shared.end(), same))
    return refuse(FaultCode::bundle_control, rule::ios_twice,
                  "B.IOS: S" + std::to_string(command.shared_tile) + " a second time in a bundle");
  if (header.shared.size() == max_shared_bindings)
    return refuse(FaultCode::bundle_control, rule::ios_count,
                  "B.IOS: more than " + std::to_string(max_shared_bindings) + " in a bundle");
  header.shared.push_back({command, mask});
  return {};
}

MaybeFault latch(Header& header, const BCatr& command) {
  if (auto fault = outside(header, "B.CATR")) return fault;
  if (header.catr) return refuse(FaultCode::bundle_control, rule::catr_twice, "B.CATR: the bundle has one already");
  header.catr = command;
  return {};
}

MaybeFault admits_scalar(const Header& header) {
  if (!header.active) return {};
  return refuse(FaultCode::bundle_control, rule::header_scalar, "a scalar instruction inside a bundle");
}

MaybeFault check_close(const Header& header, std::uint64_t next_pc) {
  if (!header.active) return refuse(FaultCode::bundle_control, rule::close_no_bundle, "BSTOP with no bundle open");
  if (next_pc % 2 != 0)
    return refuse(FaultCode::instruction_pc, rule::close_pc, "the bundle continues at an odd address");
  if (header.catr && header.catr->dr && is_matrix(header.start.operation))
    return refuse(FaultCode::bundle_control, rule::close_dr, "B.CATR.DR is set on a CUBE bundle");
  return {};
}

MaybeFault check_committed(const Header& committed) {
  if (!committed.catr || !committed.catr->trap) return {};
  BundleFault fault = refuse(FaultCode::bundle_post_commit, rule::post_commit, "B.CATR.trap: the bundle has committed");
  fault.step = 15;
  return fault;
}

}  // namespace tilevp::cube
