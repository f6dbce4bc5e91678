#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/isa.hpp"

namespace tilevp::cube {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

// A name, or the number of a code that has none.
std::string named(std::string_view name, unsigned code) { return name.empty() ? number(code) : std::string(name); }

std::string gpr(unsigned code) { return named(gpr_name(code), code); }

std::string type_text(unsigned code) {
  if (code == datr_inherits_type) return "DTYPE_NONE";
  return std::string(name(static_cast<DataType>(code)));
}

// "T#1"
std::string tile_text(unsigned selector) {
  constexpr std::string_view letters = "TUMN";
  return std::string(1, letters[selector / tiles_per_hand]) + "#" + number(selector % tiles_per_hand + 1);
}

std::string mask_text(unsigned pe_mode) {
  const PeMask mask = pe_masks.at(pe_mode);
  std::string text = "mask=";
  for (unsigned pe = 0; pe < pes; ++pe) text += selects(mask, pe) ? '1' : '0';
  return text;
}

// "<128B>", "<2KB>"
std::string size_text(unsigned code) {
  const std::uint32_t bytes = size_code_bytes(code);
  return bytes < 1024 ? "<" + number(bytes) + "B>" : "<" + number(bytes / 1024) + "KB>";
}

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

std::string text(const BStart& c) {
  return "BSTART." + std::string(name(c.operation)) + " " + std::string(name(c.type));
}

// The short form where only what matters to a matrix instruction is not zero.
std::string text(const BDatr& c) {
  const std::string rounding(rounding_mode_name(c.rounding));
  if (c.layout == 0 && c.pad == 0 && c.cmode == 0 && !c.canonicalize)
    return "B.DATR " + type_text(c.type) + ", " + rounding + (c.saturate ? ", Sat" : "");
  return "B.DATR {" + named(data_layout_name(c.layout), c.layout) + ", " + type_text(c.type) + ", " +
         std::string(pad_name(c.pad)) + ", " + number(c.cmode) + ", " + rounding + ", " + (c.saturate ? "1" : "0") +
         ", " + (c.canonicalize ? "1" : "0") + "}";
}

std::string text(const BFpatr& c) {
  std::string out = "B.FPATR " + std::string(prequant_name(c.prequant)) + ", " + std::string(relu_name(c.relu));
  if (c.group_n_code != 0) append(out, "GroupN=" + number(group_columns.at(c.group_n_code)));
  if (c.row_max) append(out, "RowMaxEn");
  if (c.group_max) append(out, "GroupMaxEn");
  if (c.row_max_init) append(out, "RowMaxInit");
  if (c.max_abs) append(out, "MaxAbsEn");
  if (c.trans_a) append(out, "TransA");
  if (c.trans_b) append(out, "TransB");
  if (c.cscale) append(out, "CScaleEn");
  return out;
}

std::string text(const BDim& c) {
  const std::string target = number(c.immediate) + ", ->LB" + number(c.dimension);
  return c.compressed ? "C.B.DIMI " + target : "B.DIM " + gpr(c.gpr) + ", " + target;
}

std::string text(const BIot& c) {
  std::string operands;
  for (std::size_t i = 0; i < c.sources; ++i) append(operands, tile_text(c.source[i]));
  append(operands, mask_text(c.pe_mode));
  if (c.last) append(operands, "last");
  constexpr std::string_view letters = "TUMN";
  if (c.size_code != 0)
    append(operands, std::string("->") + letters[static_cast<std::size_t>(c.destination)] + size_text(c.size_code));
  return "B.IOT " + operands;
}

std::string text(const BIor& c) {
  std::size_t count = c.source.size();
  while (count > 1 && c.source[count - 1] == 0) --count;
  std::string operands;
  for (std::size_t i = 0; i < count; ++i) append(operands, gpr(c.source[i]));
  if (c.destination != 0) append(operands, "->" + gpr(c.destination));
  return "B.IOR " + operands;
}

std::string text(const BIos& c) {
  const std::string tile = "S" + number(c.shared_tile);
  if (c.size_code == 0) return "B.IOS " + tile + ", " + mask_text(c.pe_mode);
  return "B.IOS " + mask_text(c.pe_mode) + ", ->" + tile + size_text(c.size_code);
}

std::string text(const BCatr& c) {
  std::string flags;
  if (c.trap) append(flags, "trap");
  if (c.atom) append(flags, "atomic");
  if (c.aq) append(flags, "aq");
  if (c.rl) append(flags, "rl");
  if (c.far) append(flags, "far");
  if (c.dr) append(flags, "dr");
  return "B.CATR {" + flags + "}";
}

std::string text(const BStop& c) {
  switch (c.form) {
    case StopForm::c_bstop:
      return "C.BSTOP";
    case StopForm::l_bstop:
      return "L.BSTOP";
    case StopForm::bstop:
      break;
  }
  return "BSTOP";
}

std::string right_text(const Scalar& c) {
  constexpr std::array<std::string_view, 4> modifiers{".sw", ".uw", ".neg", ""};
  std::string out = gpr(c.right) + std::string(modifiers.at(static_cast<std::size_t>(c.modifier)));
  if (c.shift != 0) out += "<<" + number(c.shift);
  return out;
}

std::string text(const Scalar& c) {
  const std::string destination = ", ->" + gpr(c.destination);
  std::string mnemonic = std::string(name(c.op)) + " ";
  switch (c.op) {
    case ScalarOp::addi:
    case ScalarOp::subi:
    case ScalarOp::hl_addi:
    case ScalarOp::hl_subi:
      return mnemonic + gpr(c.left) + ", " + std::to_string(c.immediate) + destination;
    case ScalarOp::add:
    case ScalarOp::sub:
      return mnemonic + gpr(c.left) + ", " + right_text(c) + destination;
    case ScalarOp::lui:
    case ScalarOp::hl_lis:
      return mnemonic + std::to_string(c.immediate) + destination;
    case ScalarOp::hl_liu:
    case ScalarOp::hl_lui:
      return mnemonic + hex_text(static_cast<std::uint64_t>(c.immediate)) + destination;
  }
  return mnemonic;
}

// The instruction as bits, for what the text above would not say.
std::string bits_text(const Encoded& encoded) { return ".word " + hex_text(encoded.word); }

}  // namespace

std::string disassemble(const Command& command) {
  // A source-only B.IOT may carry a hand that it does not use.
  const auto* iot = std::get_if<BIot>(&command);
  if (iot != nullptr && iot->size_code == 0 && iot->destination != Hand::t) return bits_text(encode(command));
  return std::visit([](const auto& c) { return text(c); }, command);
}

}  // namespace tilevp::cube
