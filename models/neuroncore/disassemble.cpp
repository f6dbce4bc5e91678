#include <charconv>
#include <string>

#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/neuroncore/opcode_names.hpp"

namespace tilevp::neuroncore {
namespace {

const char* text(AluOp op) {
  switch (op) {
    case AluOp::add:
      return "add";
    case AluOp::subtract:
      return "subtract";
    case AluOp::multiply:
      return "multiply";
    case AluOp::max:
      return "max";
    case AluOp::min:
      return "min";
    case AluOp::bypass:
      return "bypass";
  }
  return "?";
}

std::string text(float value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

// `sbuf[0..127, 4096, 2:1x111x4] bf16`: partitions, byte offset (bank + byte in PSUM), steps and counts of the dims.
std::string text(const Operand& operand, unsigned partitions, numeric::DType dtype) {
  const unsigned first = operand.partition;
  std::string out = operand.space == Space::sbuf ? "sbuf[" : "psum[";
  out += std::to_string(first) + ".." + std::to_string(first + partitions - 1) + ", ";
  if (operand.space == Space::psum)
    out += "bank " + std::to_string(operand.offset >> psum_bank_shift) + " + " +
           std::to_string(operand.offset % psum_bank_bytes);
  else
    out += std::to_string(operand.offset);
  out += ", ";
  for (std::size_t d = 0; d < operand.dims.size(); ++d)
    out += (d == 0 ? "" : " ") + std::to_string(operand.dims[d].num) + ":" + std::to_string(operand.dims[d].step);
  return out + "] " + std::string(numeric::name(dtype));
}

std::string text(const Scalar& scalar) {
  return scalar.is_address ? "sbuf@" + std::to_string(scalar.address) : text(scalar.immediate);
}

std::string text(const Wait& wait) {
  return " wait sem " + std::to_string(wait.semaphore) + (wait.condition == Condition::ge ? " >= " : " == ") +
         std::to_string(wait.value);
}

std::string text(const Update& update) {
  const char* kind = update.kind == UpdateKind::add ? " += " : update.kind == UpdateKind::subtract ? " -= " : " = ";
  return ", sem " + std::to_string(update.semaphore) + kind + std::to_string(update.value);
}

std::string matmul_flags(unsigned flags) {
  std::string out;
  if ((flags & matmul_start) != 0) out += " START";
  if ((flags & matmul_accumulate) != 0) out += " ACCUMULATE";
  if ((flags & matmul_stop) != 0) out += " STOP";
  if ((flags & matmul_reuse) != 0) out += " REUSE";
  return out;
}

std::string body(const Instruction& i) {
  const auto destination = [&] { return " " + text(i.destination, i.partitions, i.dtype) + " = "; };
  const auto source0 = [&] { return text(i.source0, i.source_partitions, i.source0_dtype); };
  const auto source1 = [&] { return text(i.source1, i.source_partitions, i.source1_dtype); };
  switch (i.opcode) {
    case Opcode::matmul:
      return destination() + source1() + " x " + source0() + matmul_flags(i.flags);
    case Opcode::tensor_copy:
      return destination() + source0();
    case Opcode::tensor_tensor:
      return destination() + source0() + " " + text(i.op0) + " " + source1();
    case Opcode::tensor_scalar:
      return destination() + "(" + source0() + " " + text(i.op0) + " " + text(i.scalar0) + ") " + text(i.op1) + " " +
             text(i.scalar1);
    case Opcode::memset:
      return destination() + text(i.scalar0);
    case Opcode::activation:
      return destination() + (i.function == Function::relu ? "relu(" : "copy(") + source0() + " x " + text(i.scalar0) +
             " + " + text(i.scalar1) + ")";
    case Opcode::dma_trigger:
      return " queue " + std::to_string(i.queue) + " += " + std::to_string(i.descriptors);
    default:
      return {};
  }
}

}  // namespace

std::string disassemble(const Instruction& instruction) {
  std::string out = mnemonic(instruction.opcode) + body(instruction);
  for (const Wait& wait : instruction.waits)
    if (wait.condition != Condition::none) out += text(wait);
  if (instruction.update.kind != UpdateKind::none) out += text(instruction.update);
  return out;
}

}  // namespace tilevp::neuroncore
