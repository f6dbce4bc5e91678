#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
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

// The shortest digits that give the value again; a NaN with its bits.
std::string text(float value) {
  std::array<char, 32> digits{};
  if (std::isnan(value)) {
    std::snprintf(digits.data(), digits.size(), "nan(0x%08x)", std::bit_cast<std::uint32_t>(value));
    return digits.data();
  }
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

// `sbuf[0..127, 4096, 2:448 111:4] bf16`: partitions, byte offset (bank + byte in PSUM), COUNT:STEP of the dimensions
// from the first that is not 1:0.
std::string text(const Operand& operand, unsigned partitions, numeric::DType dtype) {
  const unsigned first = operand.partition;
  std::string out = operand.space == Space::sbuf ? "sbuf[" : "psum[";
  out += std::to_string(first) + ".." + std::to_string(first + partitions - 1) + ", ";
  if (operand.space == Space::psum)
    out += "bank " + std::to_string(operand.offset >> psum_bank_shift) + " + " +
           std::to_string(operand.offset % psum_bank_bytes);
  else
    out += std::to_string(operand.offset);
  bool any = false;
  for (const Dim& dim : operand.dims) {
    if (!any && dim == Dim{0, 1}) continue;
    out += (any ? " " : ", ") + std::to_string(dim.num) + ":" + std::to_string(dim.step);
    any = true;
  }
  return out + "] " + std::string(numeric::name(dtype));
}

std::string text(const Scalar& scalar) {
  return scalar.is_address ? "sbuf@" + std::to_string(scalar.address) : text(scalar.immediate);
}

std::string text(const Wait& wait) {
  if (wait.condition == Condition::none) return " wait none";
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
    case Opcode::transpose:
    case Opcode::tensor_copy:
      return destination() + source0();
    case Opcode::tensor_tensor:
      return destination() + source0() + " " + text(i.op0) + " " + source1();
    case Opcode::tensor_scalar:
      return destination() + "(" + source0() + " " + text(i.op0) + " " + text(i.scalar0) + ") " + text(i.op1) + " " +
             text(i.scalar1);
    case Opcode::memset:
      return destination() + text(i.scalar0);
    case Opcode::tensor_reduce:
      return destination() + text(i.op0) + " " + source0() + " over " + std::to_string(i.flags);
    case Opcode::activation:
      return destination() + (i.function == Function::relu ? "relu(" : "copy(") + source0() + " x " + text(i.scalar0) +
             " + " + text(i.scalar1) + ")";
    case Opcode::dma_trigger:
      return " queue " + std::to_string(i.queue) + " += " + std::to_string(i.descriptors);
    default:
      return {};
  }
}

bool has_source0(Opcode opcode) { return opcode >= Opcode::matmul && opcode != Opcode::memset; }
bool has_source1(Opcode opcode) { return opcode == Opcode::matmul || opcode == Opcode::tensor_tensor; }

// Fields that the record has, the opcode does not use and that are not as the assembler leaves them.
class UnusedFields {
 public:
  explicit UnusedFields(const Instruction& i) {
    const bool tiles = i.opcode >= Opcode::matmul;
    if (!tiles) add_count("partitions", i.partitions, 1);
    if (!has_source0(i.opcode)) add_count("source_partitions", i.source_partitions, tiles ? i.partitions : 1);
    if (!tiles) add_dtype("dtype", i.dtype);
    if (!has_source0(i.opcode)) add_dtype("source0_dtype", i.source0_dtype);
    if (!has_source1(i.opcode)) add_dtype("source1_dtype", i.source1_dtype);
    for (std::size_t w = 0; w < i.waits.size(); ++w)
      if (i.waits[w].condition == Condition::none)
        add_pair(w == 0 ? "wait0" : "wait1", i.waits[w].semaphore, i.waits[w].value);
    if (i.update.kind == UpdateKind::none) add_pair("update", i.update.semaphore, i.update.value);
  }
  std::string text() const { return items_.empty() ? "" : " unused(" + items_ + ")"; }

 private:
  void add_count(const char* field, unsigned value, unsigned usual) {
    if (value != usual) append(std::string(field) + " " + std::to_string(value));
  }
  void add_dtype(const char* field, numeric::DType dtype) {
    if (dtype != numeric::DType::fp32) append(std::string(field) + " " + std::string(numeric::name(dtype)));
  }
  void add_pair(const char* field, unsigned semaphore, std::int32_t value) {
    if (semaphore != 0 || value != 0)
      append(std::string(field) + " " + std::to_string(semaphore) + " " + std::to_string(value));
  }
  void append(const std::string& item) { items_ += (items_.empty() ? "" : ", ") + item; }

  std::string items_;
};

}  // namespace

std::string disassemble(const Instruction& instruction) {
  std::string out = mnemonic(instruction.opcode) + body(instruction);
  const auto& [first, second] = instruction.waits;
  if (first.condition != Condition::none || second.condition != Condition::none) out += text(first);
  if (second.condition != Condition::none) out += text(second);
  if (instruction.update.kind != UpdateKind::none) out += text(instruction.update);
  return out + UnusedFields(instruction).text();
}

std::string operand_text(const Operand& operand, unsigned partitions, numeric::DType dtype) {
  return text(operand, partitions, dtype);
}

}  // namespace tilevp::neuroncore
