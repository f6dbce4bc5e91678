#include "tilevp/neuroncore/isa.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/isa_codec.hpp"

namespace tilevp::neuroncore {
namespace {

static_assert(std::endian::native == std::endian::little, "records are read and written in place");

constexpr std::uint8_t length_in_dwords = 0x10;
constexpr std::size_t destination_at = 16;
constexpr std::size_t source0_at = 32;
constexpr std::size_t source1_at = 48;
constexpr std::size_t wait_bytes = 8;
constexpr std::size_t queue_at = 32;
constexpr std::size_t descriptors_at = 36;
constexpr std::uint32_t psum_partition_bytes = psum_banks * psum_bank_bytes;
constexpr std::uint32_t psum_window_bytes = max_partitions << psum_partition_shift;

// Which fields of the record an opcode has.
enum Field : unsigned {
  has_destination = 1,
  has_source0 = 2,
  has_source1 = 4,
  has_scalar0 = 8,
  has_scalar1 = 16,
  has_op0 = 32,
  has_op1 = 64,
  has_function = 128,
  has_waits = 256,
  has_queue = 512,
  has_matmul_flags = 1024,
  has_reduced_dims = 2048,
  is_unknown = 4096,
};

unsigned fields_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::nop:
    case Opcode::halt:
    case Opcode::drain:
      return 0;
    case Opcode::semaphore:
      return has_waits;
    case Opcode::dma_trigger:
      return has_waits | has_queue;
    case Opcode::matmul:
      return has_destination | has_source0 | has_source1 | has_matmul_flags;
    case Opcode::transpose:
    case Opcode::tensor_copy:
      return has_destination | has_source0;
    case Opcode::tensor_tensor:
      return has_destination | has_source0 | has_source1 | has_op0;
    case Opcode::tensor_scalar:
      return has_destination | has_source0 | has_scalar0 | has_scalar1 | has_op0 | has_op1;
    case Opcode::memset:
      return has_destination | has_scalar0;
    case Opcode::tensor_reduce:
      return has_destination | has_source0 | has_op0 | has_reduced_dims;
    case Opcode::activation:
      return has_destination | has_source0 | has_scalar0 | has_scalar1 | has_function;
  }
  return is_unknown;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

bool all_zero(const std::byte* at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (at[i] != std::byte{0}) return false;
  return true;
}

void encode_operand(const Operand& operand, const char* what, std::byte* at) {
  const std::uint32_t limit = operand.space == Space::sbuf ? 1U << sbuf_partition_shift : psum_partition_bytes;
  if (operand.partition >= max_partitions)
    throw UserError(what, "expected a partition below 128, found " + std::to_string(operand.partition));
  if (operand.offset >= limit)
    throw UserError(
        what, "expected an offset below " + std::to_string(limit) + " bytes, found " + std::to_string(operand.offset));
  const std::uint32_t partition = operand.partition;
  store(at, operand.space == Space::sbuf ? (partition << sbuf_partition_shift) | operand.offset
                                         : psum_address | (partition << psum_partition_shift) | operand.offset);
  for (std::size_t d = 0; d < operand.dims.size(); ++d) {
    store(at + 4 + 4 * d, operand.dims[d].step);
    store(at + 6 + 4 * d, operand.dims[d].num);
  }
}

bool decode_operand(const std::byte* at, Operand& operand) {
  const auto address = load<std::uint32_t>(at);
  if (address < psum_address) {
    operand.space = Space::sbuf;
    operand.partition = static_cast<std::uint8_t>(address >> sbuf_partition_shift);
    operand.offset = address & ((1U << sbuf_partition_shift) - 1);
  } else {
    if (address >= psum_address + psum_window_bytes) return false;
    operand.space = Space::psum;
    operand.partition = static_cast<std::uint8_t>((address - psum_address) >> psum_partition_shift);
    operand.offset = address & ((1U << psum_partition_shift) - 1);
    if (operand.offset >= psum_partition_bytes) return false;
  }
  for (std::size_t d = 0; d < operand.dims.size(); ++d)
    operand.dims[d] = {load<std::int16_t>(at + 4 + 4 * d), load<std::uint16_t>(at + 6 + 4 * d)};
  return true;
}

void encode_scalar(const Scalar& scalar, std::byte* at) {
  if (scalar.is_address)
    store(at, scalar.address);
  else
    store(at, scalar.immediate);
}

void decode_scalar(const std::byte* at, bool is_address, Scalar& scalar) {
  scalar = Scalar{};
  scalar.is_address = is_address;
  if (is_address)
    scalar.address = load<std::uint32_t>(at);
  else
    scalar.immediate = load<float>(at);
}

bool decode_dtype(std::byte code, numeric::DType& dtype) {
  if (std::to_integer<std::size_t>(code) >= std::size(numeric::all_dtypes)) return false;
  dtype = static_cast<numeric::DType>(code);
  return true;
}

bool decode_op(std::byte code, AluOp& op) {
  if (code > std::byte{static_cast<std::uint8_t>(AluOp::bypass)}) return false;
  op = static_cast<AluOp>(code);
  return true;
}

void encode_waits(const Instruction& instruction, std::byte* record) {
  for (std::size_t w = 0; w < instruction.waits.size(); ++w) {
    std::byte* at = record + destination_at + w * wait_bytes;
    at[0] = std::byte{instruction.waits[w].semaphore};
    at[1] = static_cast<std::byte>(instruction.waits[w].condition);
    store(at + 4, instruction.waits[w].value);
  }
}

const char* decode_waits(const std::byte* record, Instruction& instruction) {
  for (std::size_t w = 0; w < instruction.waits.size(); ++w) {
    const std::byte* at = record + destination_at + w * wait_bytes;
    if (at[1] > static_cast<std::byte>(Condition::eq)) return "unknown wait condition";
    if (load<std::uint16_t>(at + 2) != 0) return "reserved bits of a wait are not zero";
    instruction.waits[w] = {static_cast<Condition>(at[1]), std::to_integer<std::uint8_t>(at[0]),
                            load<std::int32_t>(at + 4)};
  }
  return nullptr;
}

const char* decode_header(const std::byte* record, unsigned fields, Instruction& instruction) {
  instruction.partitions = std::to_integer<std::uint8_t>(record[3]);
  instruction.source_partitions = std::to_integer<std::uint8_t>(record[13]);
  if (instruction.partitions - 1U >= max_partitions || instruction.source_partitions - 1U >= max_partitions)
    return "partition count outside 1 to 128";
  if (!decode_dtype(record[4], instruction.dtype) || !decode_dtype(record[5], instruction.source0_dtype) ||
      !decode_dtype(record[6], instruction.source1_dtype))
    return "unknown dtype";
  if ((fields & has_op0) != 0) {
    if (!decode_op(record[7], instruction.op0)) return "unknown op 0";
  } else if ((fields & has_function) != 0) {
    if (record[7] > static_cast<std::byte>(Function::relu)) return "unknown function";
    instruction.function = static_cast<Function>(record[7]);
  } else if (record[7] != std::byte{0}) {
    return "op 0 of an opcode without one is not zero";
  }
  if ((fields & has_op1) != 0) {
    if (!decode_op(record[12], instruction.op1)) return "unknown op 1";
  } else if (record[12] != std::byte{0}) {
    return "op 1 of an opcode without one is not zero";
  }
  if (record[9] > static_cast<std::byte>(UpdateKind::write)) return "unknown semaphore update";
  instruction.update = {static_cast<UpdateKind>(record[9]), std::to_integer<std::uint8_t>(record[8]),
                        load<std::int16_t>(record + 10)};
  if (load<std::uint16_t>(record + 14) != 0) return "reserved header bits are not zero";
  return nullptr;
}

const char* decode_flags(const std::byte* record, unsigned fields, Instruction& instruction) {
  const auto flags = std::to_integer<unsigned>(record[2]);
  if ((fields & has_reduced_dims) != 0) {
    if (flags - 1U >= instruction.source0.dims.size()) return "count of reduced dimensions outside 1 to 3";
    instruction.flags = static_cast<std::uint8_t>(flags);
    return nullptr;
  }
  unsigned known = 0;
  if ((fields & has_matmul_flags) != 0) known = matmul_start | matmul_stop | matmul_accumulate | matmul_reuse;
  if ((fields & has_scalar1) != 0) known = scalar0_is_address | scalar1_is_address;
  if ((flags & ~known) != 0) return "unknown flags";
  if ((fields & has_matmul_flags) != 0) instruction.flags = static_cast<std::uint8_t>(flags);
  if ((fields & has_scalar0) != 0)
    decode_scalar(record + source1_at, (flags & scalar0_is_address) != 0, instruction.scalar0);
  if ((fields & has_scalar1) != 0)
    decode_scalar(record + source1_at + 4, (flags & scalar1_is_address) != 0, instruction.scalar1);
  return nullptr;
}

const char* decode_body(const std::byte* record, unsigned fields, Instruction& instruction) {
  constexpr const char* not_zero = "bytes the opcode does not use are not zero";
  if ((fields & has_destination) != 0) {
    if (!decode_operand(record + destination_at, instruction.destination)) return "destination address is none";
  } else if ((fields & has_waits) != 0) {
    if (const char* problem = decode_waits(record, instruction)) return problem;
  } else if (!all_zero(record + destination_at, 16)) {
    return not_zero;
  }
  if ((fields & has_source0) != 0) {
    if (!decode_operand(record + source0_at, instruction.source0)) return "address of source 0 is none";
  } else if ((fields & has_queue) != 0) {
    instruction.queue = std::to_integer<std::uint8_t>(record[queue_at]);
    instruction.descriptors = load<std::uint32_t>(record + descriptors_at);
    if (!all_zero(record + queue_at + 1, 3) || !all_zero(record + descriptors_at + 4, 8)) return not_zero;
  } else if (!all_zero(record + source0_at, 16)) {
    return not_zero;
  }
  if ((fields & has_source1) != 0) {
    if (!decode_operand(record + source1_at, instruction.source1)) return "address of source 1 is none";
    return nullptr;
  }
  const std::size_t used = (fields & has_scalar1) != 0 ? 8 : (fields & has_scalar0) != 0 ? 4 : 0;
  return all_zero(record + source1_at + used, 16 - used) ? nullptr : not_zero;
}

// NaN immediates differ from themselves; their bits travel unchanged all the same.
Instruction without_nan(Instruction instruction) {
  if (instruction.scalar0.immediate != instruction.scalar0.immediate) instruction.scalar0.immediate = 0;
  if (instruction.scalar1.immediate != instruction.scalar1.immediate) instruction.scalar1.immediate = 0;
  return instruction;
}

}  // namespace

const char* name(Engine engine) {
  switch (engine) {
    case Engine::pe:
      return "pe";
    case Engine::scalar:
      return "scalar";
    case Engine::gpsimd:
      return "gpsimd";
    case Engine::vector:
      return "vector";
    case Engine::sync:
      return "sync";
  }
  return "?";
}

const char* try_decode(std::span<const std::byte, instruction_bytes> record, Instruction& instruction) {
  instruction = Instruction{};
  const unsigned fields = fields_of(static_cast<Opcode>(record[0]));
  if (fields == is_unknown) return "unknown opcode";
  if (record[1] != std::byte{length_in_dwords}) return "length is not 0x10 dwords";
  instruction.opcode = static_cast<Opcode>(record[0]);
  if (const char* problem = decode_header(record.data(), fields, instruction)) return problem;
  if (const char* problem = decode_flags(record.data(), fields, instruction)) return problem;
  return decode_body(record.data(), fields, instruction);
}

std::array<std::byte, instruction_bytes> encode(const Instruction& instruction) {
  std::array<std::byte, instruction_bytes> record{};
  const unsigned fields = fields_of(instruction.opcode);
  std::byte* at = record.data();
  at[0] = static_cast<std::byte>(instruction.opcode);
  at[1] = std::byte{length_in_dwords};
  at[2] = std::byte{instruction.flags};
  if ((fields & has_scalar1) != 0)
    at[2] = static_cast<std::byte>((instruction.scalar0.is_address ? scalar0_is_address : 0) |
                                   (instruction.scalar1.is_address ? scalar1_is_address : 0));
  at[3] = std::byte{instruction.partitions};
  at[4] = static_cast<std::byte>(instruction.dtype);
  at[5] = static_cast<std::byte>(instruction.source0_dtype);
  at[6] = static_cast<std::byte>(instruction.source1_dtype);
  if ((fields & has_op0) != 0) at[7] = static_cast<std::byte>(instruction.op0);
  if ((fields & has_function) != 0) at[7] = static_cast<std::byte>(instruction.function);
  at[8] = std::byte{instruction.update.semaphore};
  at[9] = static_cast<std::byte>(instruction.update.kind);
  store(at + 10, instruction.update.value);
  if ((fields & has_op1) != 0) at[12] = static_cast<std::byte>(instruction.op1);
  at[13] = std::byte{instruction.source_partitions};
  if ((fields & has_destination) != 0) encode_operand(instruction.destination, "destination", at + destination_at);
  if ((fields & has_source0) != 0) encode_operand(instruction.source0, "source 0", at + source0_at);
  if ((fields & has_source1) != 0) encode_operand(instruction.source1, "source 1", at + source1_at);
  if ((fields & has_scalar0) != 0) encode_scalar(instruction.scalar0, at + source1_at);
  if ((fields & has_scalar1) != 0) encode_scalar(instruction.scalar1, at + source1_at + 4);
  if ((fields & has_waits) != 0) encode_waits(instruction, at);
  if ((fields & has_queue) != 0) {
    at[queue_at] = std::byte{instruction.queue};
    store(at + descriptors_at, instruction.descriptors);
  }
  Instruction back;
  const char* problem = try_decode(record, back);
  if (problem != nullptr) throw UserError("instruction record", problem);
  if (!(without_nan(back) == without_nan(instruction)))
    throw UserError("instruction record", "a field that the opcode does not have is set: " + disassemble(instruction));
  return record;
}

Instruction decode(std::span<const std::byte, instruction_bytes> record, const std::string& place) {
  Instruction instruction;
  if (const char* problem = try_decode(record, instruction))
    throw Fault("isa.decode", place + ": the record is no instruction: " + problem);
  return instruction;
}

}  // namespace tilevp::neuroncore
