#include "tilevp/cube/word_fields.hpp"

namespace tilevp::cube {
namespace {

using std::uint64_t;

Encoded word_of(const BStart& c) {
  const auto code = word::operation_codes.at(static_cast<std::size_t>(c.operation));
  return {word::bstart.match | word::bstart_engine.put(code.engine) | word::bstart_function.put(code.function) |
              word::bstart_type.put(static_cast<uint64_t>(c.type)),
          4};
}

Encoded word_of(const BDatr& c) {
  return {word::datr.match | word::datr_cmode.put(c.cmode) | word::datr_pad.put(c.pad) |
              word::datr_saturate.put(c.saturate) | word::datr_canonicalize.put(c.canonicalize) |
              word::datr_type.put(c.type) | word::datr_rounding.put(c.rounding) | word::datr_layout.put(c.layout),
          4};
}

Encoded word_of(const BFpatr& c) {
  return {word::fpatr.match | word::fpatr_prequant.put(c.prequant) | word::fpatr_relu.put(c.relu) |
              word::fpatr_group_n.put(c.group_n_code) | word::fpatr_row_max.put(c.row_max) |
              word::fpatr_group_max.put(c.group_max) | word::fpatr_row_max_init.put(c.row_max_init) |
              word::fpatr_max_abs.put(c.max_abs) | word::fpatr_cscale.put(c.cscale) |
              word::fpatr_trans_b.put(c.trans_b) | word::fpatr_trans_a.put(c.trans_a),
          4};
}

Encoded word_of(const BDim& c) {
  if (c.dimension > 2) throw Defect("B.DIM: there is no LB" + std::to_string(c.dimension));
  if (c.compressed) {
    if (c.gpr != 0) throw Defect("C.B.DIMI has no GPR");
    return {word::dimi.match | word::dimi_dimension.put(c.dimension) | word::dimi_immediate.put(c.immediate), 2};
  }
  return {word::dim.match | word::dim_dimension.put(c.dimension) | word::dim_gpr.put(c.gpr) |
              word::dim_low.put(c.immediate & word::dim_low.mask()) |
              word::dim_high.put(c.immediate >> word::dim_low.width),
          4};
}

Encoded word_of(const BIot& c) {
  if (c.sources > 2) throw Defect("B.IOT has at most two sources");
  const unsigned kind = word::io_no_source - c.sources;
  uint64_t sources = 0;
  for (std::size_t i = 0; i < c.sources; ++i) sources |= word::iot_sources[i].put(c.source[i]);
  return {word::io.match | word::io_kind.put(kind) | sources | word::iot_last.put(c.last) |
              word::iot_size.put(c.size_code) | word::iot_pe_mode.put(c.pe_mode) |
              word::iot_destination.put(static_cast<uint64_t>(c.destination)),
          4};
}

Encoded word_of(const BIor& c) {
  uint64_t sources = 0;
  for (std::size_t i = 0; i < c.source.size(); ++i) sources |= word::ior_sources[i].put(c.source[i]);
  return {word::ior.match | word::ior_destination.put(c.destination) | sources, 4};
}

Encoded word_of(const BIos& c) {
  return {word::ios.match | word::ios_tile.put(c.shared_tile) | word::ios_size.put(c.size_code) |
              word::ios_pe_mode.put(c.pe_mode),
          4};
}

Encoded word_of(const BCatr& c) {
  return {word::catr.match | word::catr_dr.put(c.dr) | word::catr_trap.put(c.trap) | word::catr_far.put(c.far) |
              word::catr_atom.put(c.atom) | word::catr_aq.put(c.aq) | word::catr_rl.put(c.rl),
          4};
}

Encoded word_of(const BStop& c) {
  switch (c.form) {
    case StopForm::c_bstop:
      return {word::c_bstop, 2};
    case StopForm::l_bstop:
      return {word::l_bstop, 8};
    case StopForm::bstop:
      break;
  }
  return {word::bstop, 4};
}

uint64_t with_immediate(const Scalar& c, unsigned function, uint64_t immediate) {
  return word::scalar_immediate.match | word::scalar_function.put(function) |
         word::scalar_destination.put(c.destination) | word::scalar_left.put(c.left) |
         word::scalar_uimm12.put(immediate);
}

uint64_t with_register(const Scalar& c, unsigned function) {
  return word::scalar_register.match | word::scalar_function.put(function) |
         word::scalar_destination.put(c.destination) | word::scalar_left.put(c.left) | word::scalar_right.put(c.right) |
         word::scalar_modifier.put(static_cast<uint64_t>(c.modifier)) | word::scalar_shift.put(c.shift);
}

// A signed immediate as the bits of its field. Throws Defect where it does not fit.
uint64_t signed_bits(std::int64_t value, unsigned width) {
  const std::int64_t half = std::int64_t{1} << (width - 1);
  if (value < -half || value >= half)
    throw Defect("a signed field of " + std::to_string(width) + " bits was given " + std::to_string(value));
  return static_cast<uint64_t>(value) & (static_cast<uint64_t>(half) * 2 - 1);
}

// 48 bits: a word of 32 with the low part of the immediate, behind 12 bits of its high part.
Encoded long_word(uint64_t word32, uint64_t high) {
  return {word::long_prefix.match | word::long_high.put(high) | word32 << word::long_shift, 6};
}

Encoded long_immediate(const Scalar& c, unsigned function) {
  const auto value = static_cast<uint64_t>(c.immediate);
  return long_word(with_immediate(c, function, value & word::scalar_uimm12.mask()), value >> word::scalar_uimm12.width);
}

Encoded long_load(const Scalar& c, unsigned opcode, uint64_t bits) {
  const uint64_t low = bits & word::scalar_imm20.mask();
  return long_word(opcode | word::scalar_destination.put(c.destination) | word::scalar_imm20.put(low),
                   bits >> word::scalar_imm20.width);
}

Encoded word_of(const Scalar& c) {
  const auto unsigned_immediate = static_cast<uint64_t>(c.immediate);
  switch (c.op) {
    case ScalarOp::addi:
      return {with_immediate(c, word::function_add, unsigned_immediate), 4};
    case ScalarOp::subi:
      return {with_immediate(c, word::function_sub, unsigned_immediate), 4};
    case ScalarOp::add:
      return {with_register(c, word::function_add), 4};
    case ScalarOp::sub:
      return {with_register(c, word::function_sub), 4};
    case ScalarOp::lui:
      return {word::scalar_lui.match | word::scalar_destination.put(c.destination) |
                  word::scalar_imm20.put(signed_bits(c.immediate, word::scalar_imm20.width)),
              4};
    case ScalarOp::hl_addi:
      return long_immediate(c, word::function_add);
    case ScalarOp::hl_subi:
      return long_immediate(c, word::function_sub);
    case ScalarOp::hl_liu:
      return long_load(c, word::long_opcode_liu, unsigned_immediate);
    case ScalarOp::hl_lis:
      return long_load(c, word::long_opcode_lis, signed_bits(c.immediate, 32));
    case ScalarOp::hl_lui:
      return long_load(c, word::long_opcode_lui, unsigned_immediate);
  }
  throw Defect("no such scalar instruction");
}

}  // namespace

Encoded encode(const Command& command) {
  return std::visit([](const auto& c) { return word_of(c); }, command);
}

}  // namespace tilevp::cube
