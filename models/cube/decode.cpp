#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/word_fields.hpp"

namespace tilevp::cube {
namespace {

using std::uint64_t;

// A command, or what is wrong with the word.
using Read = std::variant<Command, std::string>;

std::string reserved(std::string_view what, unsigned code) {
  return std::string(what) + " " + std::to_string(code) + " is reserved";
}

Read read_bstart(uint64_t w) {
  const unsigned engine = word::bstart_engine.get(w);
  const unsigned function = word::bstart_function.get(w);
  if (word::bstart_fixed.get(w) != 0) return "BSTART: bits 26:25 must be zero, found " + hex_text(w);
  if (engine != word::engine_tlsu && engine != word::engine_cube)
    return "BSTART: engine " + std::to_string(engine) + " is not of this core (2 moves tiles, 6 is the CUBE)";
  for (std::size_t op = 0; op < word::operation_codes.size(); ++op) {
    if (word::operation_codes[op].engine != engine || word::operation_codes[op].function != function) continue;
    const auto operation = static_cast<Operation>(op);
    const unsigned type = word::bstart_type.get(w);
    if (!is_assigned(type)) return reserved("BSTART." + std::string(name(operation)) + ": DataType", type);
    return BStart{operation, static_cast<DataType>(type)};
  }
  if (engine == word::engine_cube) return reserved("BSTART: function of the CUBE", function);
  return "BSTART: of what moves tiles, this core has TLOAD (0) and TSTORE (1); found function " +
         std::to_string(function);
}

// Bit n: whether Layout n is assigned (asl/block/attributes/B.DATR.asl).
constexpr std::uint32_t assigned_layouts = 0b0101'1111'1111'0110'0000'0011'0101'1011;
constexpr unsigned max_cmode = 5;

Read read_datr(uint64_t w) {
  if (!word::datr.fits(w)) return "B.DATR: bits 19:18 must be zero, found " + hex_text(w);
  BDatr c;
  c.cmode = word::datr_cmode.get<std::uint8_t>(w);
  c.pad = word::datr_pad.get<std::uint8_t>(w);
  c.saturate = word::datr_saturate.get<bool>(w);
  c.canonicalize = word::datr_canonicalize.get<bool>(w);
  c.type = word::datr_type.get<std::uint8_t>(w);
  c.rounding = word::datr_rounding.get<std::uint8_t>(w);
  c.layout = word::datr_layout.get<std::uint8_t>(w);
  if (c.cmode > max_cmode) return reserved("B.DATR: CMode", c.cmode);
  if (c.type != datr_inherits_type && !is_assigned(c.type)) return reserved("B.DATR: DataType", c.type);
  if ((assigned_layouts >> c.layout & 1) == 0) return reserved("B.DATR: Layout", c.layout);
  return c;
}

Read read_fpatr(uint64_t w) {
  if (!word::fpatr.fits(w)) return "B.FPATR: bits 11:10 must be zero, found " + hex_text(w);
  BFpatr c;
  c.prequant = word::fpatr_prequant.get<std::uint8_t>(w);
  c.relu = word::fpatr_relu.get<std::uint8_t>(w);
  c.group_n_code = word::fpatr_group_n.get<std::uint8_t>(w);
  c.row_max = word::fpatr_row_max.get<bool>(w);
  c.group_max = word::fpatr_group_max.get<bool>(w);
  c.row_max_init = word::fpatr_row_max_init.get<bool>(w);
  c.max_abs = word::fpatr_max_abs.get<bool>(w);
  c.cscale = word::fpatr_cscale.get<bool>(w);
  c.trans_b = word::fpatr_trans_b.get<bool>(w);
  c.trans_a = word::fpatr_trans_a.get<bool>(w);
  if (prequant_name(c.prequant).empty()) return reserved("B.FPATR: PreQuantMode", c.prequant);
  if (relu_name(c.relu).empty()) return reserved("B.FPATR: ReluMode", c.relu);
  if (c.group_n_code >= group_columns.size()) return reserved("B.FPATR: GroupNCode", c.group_n_code);
  return c;
}

Read read_catr(uint64_t w) {
  if (!word::catr.fits(w)) return "B.CATR: bits 31:27, 25:20 and 11:7 must be zero, found " + hex_text(w);
  BCatr c;
  c.dr = word::catr_dr.get<bool>(w);
  c.trap = word::catr_trap.get<bool>(w);
  c.far = word::catr_far.get<bool>(w);
  c.atom = word::catr_atom.get<bool>(w);
  c.aq = word::catr_aq.get<bool>(w);
  c.rl = word::catr_rl.get<bool>(w);
  return c;
}

Read read_attributes(uint64_t w) {
  constexpr word::Field kind{12, 3};
  switch (kind.get(w)) {
    case 0:
      return read_catr(w);
    case 1:
      return read_datr(w);
    case 2:
      return read_fpatr(w);
    default:
      return "no instruction: " + hex_text(w);
  }
}

Read read_dim(uint64_t w) {
  BDim c;
  c.dimension = word::dim_dimension.get<std::uint8_t>(w);
  c.gpr = word::dim_gpr.get<std::uint8_t>(w);
  c.immediate = word::dim_low.get<std::uint32_t>(w) | word::dim_high.get<std::uint32_t>(w) << word::dim_low.width;
  if (c.dimension > 2) return "no instruction: " + hex_text(w);
  if (c.gpr >= gprs) return reserved("B.DIM: RegSrc", c.gpr);
  return c;
}

Read read_dimi(uint64_t w) {
  BDim c;
  c.dimension = word::dimi_dimension.get<std::uint8_t>(w);
  c.immediate = word::dimi_immediate.get<std::uint32_t>(w);
  c.compressed = true;
  if (c.dimension > 2) return reserved("C.B.DIMI: LoopNest", c.dimension);
  return c;
}

Read read_ior(uint64_t w) {
  if (!word::ior.fits(w)) return "B.IOR: bits 26:25 must be zero, found " + hex_text(w);
  BIor c;
  c.destination = word::ior_destination.get<std::uint8_t>(w);
  if (c.destination >= gprs) return reserved("B.IOR: RegDst", c.destination);
  for (std::size_t i = 0; i < c.source.size(); ++i) {
    c.source[i] = word::ior_sources[i].get<std::uint8_t>(w);
    if (c.source[i] >= gprs) return reserved("B.IOR: RegSrc" + std::to_string(i), c.source[i]);
  }
  return c;
}

Read read_ios(uint64_t w) {
  if (!word::ios.fits(w)) return "B.IOS: bits 31:28, 19 and 8:7 must be zero, found " + hex_text(w);
  const BIos c{word::ios_tile.get<std::uint8_t>(w), word::ios_size.get<std::uint8_t>(w),
               word::ios_pe_mode.get<std::uint8_t>(w)};
  if (c.size_code > word::max_shared_size_code) return reserved("B.IOS: SizeCode", c.size_code);
  return c;
}

Read read_iot(uint64_t w, unsigned kind) {
  BIot c;
  c.sources = static_cast<std::uint8_t>(word::io_no_source - kind);
  for (std::size_t i = 0; i < c.source.size(); ++i) {
    const auto selector = word::iot_sources[i].get<std::uint8_t>(w);
    if (i < c.sources)
      c.source[i] = selector;
    else if (selector != 0)
      return "B.IOT: SrcTile" + std::to_string(i) + " must be zero in a form without it, found " +
             std::to_string(selector);
  }
  c.last = word::iot_last.get<bool>(w);
  c.size_code = word::iot_size.get<std::uint8_t>(w);
  c.pe_mode = word::iot_pe_mode.get<std::uint8_t>(w);
  c.destination = word::iot_destination.get<Hand>(w);
  if (c.size_code > word::max_local_size_code) return reserved("B.IOT: SizeCode", c.size_code);
  if (c.size_code == 0 && c.sources == 0) return "B.IOT: SizeCode 0 in the form that has only a destination";
  return c;
}

Read read_io(uint64_t w) {
  const unsigned kind = word::io_kind.get(w);
  switch (kind) {
    case word::io_ior:
      return read_ior(w);
    case word::io_ios:
      return read_ios(w);
    case word::io_two_sources:
    case word::io_one_source:
    case word::io_no_source:
      return read_iot(w, kind);
    default:
      return "no instruction: " + hex_text(w);
  }
}

// ---- Scalar instructions

// What is wrong with a source or destination of `mnemonic`; empty: nothing.
std::string queue_refused(ScalarOp op, const char* operand, unsigned code) {
  if (code < gprs) return {};
  return std::string(name(op)) + ": " + operand + " " + std::to_string(code) +
         " is a queue of scalars, of which this core has none";
}

Read checked(const Scalar& c) {
  for (const auto& [operand, code] :
       {std::pair{"RegDst", c.destination}, std::pair{"SrcL", c.left}, std::pair{"SrcR", c.right}})
    if (auto refused = queue_refused(c.op, operand, code); !refused.empty()) return refused;
  return c;
}

Scalar registers_of(ScalarOp op, uint64_t w) {
  Scalar c{.op = op};
  c.destination = word::scalar_destination.get<std::uint8_t>(w);
  c.left = word::scalar_left.get<std::uint8_t>(w);
  return c;
}

Read read_with_immediate(uint64_t w, ScalarOp add, ScalarOp sub, uint64_t high) {
  const unsigned function = word::scalar_function.get(w);
  if (function > word::function_sub) return "no instruction: " + hex_text(w);
  Scalar c = registers_of(function == word::function_add ? add : sub, w);
  c.immediate = static_cast<std::int64_t>(word::scalar_uimm12.get<uint64_t>(w) | high << word::scalar_uimm12.width);
  return checked(c);
}

Read read_with_register(uint64_t w) {
  const unsigned function = word::scalar_function.get(w);
  if (function > word::function_sub) return "no instruction: " + hex_text(w);
  Scalar c = registers_of(function == word::function_add ? ScalarOp::add : ScalarOp::sub, w);
  c.right = word::scalar_right.get<std::uint8_t>(w);
  c.modifier = word::scalar_modifier.get<Modifier>(w);
  c.shift = word::scalar_shift.get<std::uint8_t>(w);
  return checked(c);
}

std::int64_t sign_extended(uint64_t bits, unsigned width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  return static_cast<std::int64_t>((bits ^ sign) - sign);
}

Read read_lui(uint64_t w) {
  Scalar c{.op = ScalarOp::lui};
  c.destination = word::scalar_destination.get<std::uint8_t>(w);
  c.immediate = sign_extended(word::scalar_imm20.get<uint64_t>(w), word::scalar_imm20.width);
  return checked(c);
}

Read read_long_load(uint64_t w, ScalarOp op, uint64_t high) {
  Scalar c{.op = op};
  c.destination = word::scalar_destination.get<std::uint8_t>(w);
  const uint64_t bits = word::scalar_imm20.get<uint64_t>(w) | high << word::scalar_imm20.width;
  c.immediate = op == ScalarOp::hl_lis ? sign_extended(bits, 32) : static_cast<std::int64_t>(bits);
  return checked(c);
}

// ---- By length

Read read16(uint64_t w) {
  if (w == word::c_bstop) return BStop{StopForm::c_bstop};
  if (word::dimi.fits(w)) return read_dimi(w);
  return "no instruction: " + hex_text(w);
}

Read read32(uint64_t w) {
  if (w == word::bstop) return BStop{};
  if (word::bstart.fits(w)) return read_bstart(w);
  if (word::io.fits(w)) return read_io(w);
  if (word::dim.fits(w)) return read_dim(w);
  if (word::scalar_immediate.fits(w)) return read_with_immediate(w, ScalarOp::addi, ScalarOp::subi, 0);
  if (word::scalar_register.fits(w)) return read_with_register(w);
  if (word::scalar_lui.fits(w)) return read_lui(w);
  constexpr unsigned attributes = 0x23;
  if (word::opcode.get(w) == attributes) return read_attributes(w);
  return "no instruction: " + hex_text(w);
}

Read read48(uint64_t w) {
  const uint64_t low = w >> word::long_shift;
  const uint64_t high = word::long_high.get<uint64_t>(w);
  switch (word::opcode.get(low)) {
    case word::long_opcode_immediate:
      return read_with_immediate(low, ScalarOp::hl_addi, ScalarOp::hl_subi, high);
    case word::long_opcode_liu:
      return read_long_load(low, ScalarOp::hl_liu, high);
    case word::long_opcode_lis:
      return read_long_load(low, ScalarOp::hl_lis, high);
    case word::long_opcode_lui:
      return read_long_load(low, ScalarOp::hl_lui, high);
    default:
      return "no instruction: " + hex_text(w);
  }
}

Read read64(uint64_t w) {
  if (w == word::l_bstop) return BStop{StopForm::l_bstop};
  return "no instruction: " + hex_text(w);
}

Read read(uint64_t w, unsigned bytes) {
  switch (bytes) {
    case 2:
      return read16(w);
    case 4:
      return read32(w);
    case 6:
      return read48(w);
    default:
      return read64(w);
  }
}

}  // namespace

std::variant<Decoded, DecodeError> decode(uint64_t word) {
  const unsigned bytes = instruction_bytes(static_cast<std::uint16_t>(word & 0xffff));
  const uint64_t bits = bytes == 8 ? word : word & ((uint64_t{1} << 8 * bytes) - 1);
  auto result = read(bits, bytes);
  if (auto* what = std::get_if<std::string>(&result)) return DecodeError{std::move(*what), bytes};
  return Decoded{std::get<Command>(result), bytes};
}

uint64_t result_of(const Scalar& scalar, uint64_t left, uint64_t right) {
  const auto immediate = static_cast<uint64_t>(scalar.immediate);
  const auto modified = [&]() -> uint64_t {
    switch (scalar.modifier) {
      case Modifier::sw:
        return static_cast<uint64_t>(sign_extended(right & 0xffff'ffff, 32));
      case Modifier::uw:
        return right & 0xffff'ffff;
      case Modifier::neg:
        return ~right + 1;
      case Modifier::none:
        break;
    }
    return right;
  };
  switch (scalar.op) {
    case ScalarOp::addi:
    case ScalarOp::hl_addi:
      return left + immediate;
    case ScalarOp::subi:
    case ScalarOp::hl_subi:
      return left - immediate;
    case ScalarOp::add:
      return left + (modified() << scalar.shift);
    case ScalarOp::sub:
      return left - (modified() << scalar.shift);
    case ScalarOp::lui:
      return immediate << 12;
    case ScalarOp::hl_liu:
    case ScalarOp::hl_lis:
      return immediate;
    case ScalarOp::hl_lui:
      return immediate << 32;
  }
  throw Defect("no such scalar instruction");
}

}  // namespace tilevp::cube
