#pragma once
// The instruction set of the NeuronCore as its programmer sees it: 64-byte records, little endian.
//
// The records are an encoding of ours: what an instruction does, its limits and its costs follow the public
// documentation of the hardware, the bit positions do not. What the hardware's own records share with them: 64 bytes,
// opcode in byte 0, the length in dwords (0x10) in byte 1, up to two semaphore waits and one update a record, and an
// address that names partition and offset.
//
// Common header (16 bytes)
//    0 u8  opcode                                     1 u8  0x10
//    2 u8  flags (per opcode)                         3 u8  partitions of the destination, 1..128 (matmul: M;
//                                                           transpose: elements a partition of the source)
//    4 u8  dtype of the destination                   5 u8  dtype of source 0 (matmul: moving)
//    6 u8  dtype of source 1 (matmul: stationary)     7 u8  op 0                          12 u8  op 1
//    8 u8  semaphore updated at completion            9 u8  kind of that update           10 i16 value of that update
//   13 u8  partitions of the sources where they differ (matmul: K; transpose)             14 u16 zero
// Flags of tensor_reduce: how many of source 0's dimensions, innermost first, are reduced, 1 to 3.
// Three operands of 16 bytes at 16 (destination), 32 (source 0), 48 (source 1); see Operand.
// Where there is no source 1: 48 f32 or u32 scalar 0, 52 f32 or u32 scalar 1, 56 u64 zero.
// semaphore, dma_trigger: 16 two waits of 8 bytes {u8 semaphore, u8 condition, u16 zero, i32 value}; dma_trigger also
// 32 u8 queue, 36 u32 descriptors.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tilevp/numeric/dtype.hpp"

namespace tilevp::neuroncore {

inline constexpr std::size_t instruction_bytes = 64;

enum class Engine : std::uint8_t { pe = 0, scalar = 1, gpsimd = 2, vector = 3, sync = 4 };
inline constexpr unsigned engines = 5;
const char* name(Engine engine);

enum class Opcode : std::uint8_t {
  nop = 0x00,
  halt = 0x01,       // ends the stream; raises the sequencer's interrupt once everything it issued has completed
  drain = 0x02,      // waits until everything this sequencer issued has completed
  semaphore = 0x03,  // up to two waits, then one update
  dma_trigger = 0x04,
  matmul = 0x10,
  transpose = 0x11,  // partitions become elements and elements partitions
  tensor_copy = 0x20,
  tensor_tensor = 0x21,
  tensor_scalar = 0x22,
  memset = 0x23,
  tensor_reduce = 0x24,
  activation = 0x30,
};

// Memory of an on-chip address.
enum class Space : std::uint8_t { sbuf, psum };

// On-chip addresses, 32 bits. SBUF: partition << 18 | byte offset (128 partitions of 256 KiB of address space). PSUM:
// 0x02000000 | partition << 15 | bank << 11 | byte in the bank.
inline constexpr std::uint32_t psum_address = 0x0200'0000;
inline constexpr unsigned sbuf_partition_shift = 18;
inline constexpr unsigned psum_partition_shift = 15;
inline constexpr unsigned psum_bank_shift = 11;
inline constexpr unsigned max_partitions = 128;
inline constexpr unsigned psum_banks = 8;
inline constexpr unsigned psum_bank_bytes = 2048;
inline constexpr unsigned max_stationary_free = 128;
inline constexpr unsigned max_moving_free = 512;
inline constexpr unsigned max_transpose_pe = 128;     // rows and columns
inline constexpr unsigned max_transpose_vector = 32;  // rows and columns

// One level of a free-axis access pattern: `num` steps of `step` elements. A step of 0 broadcasts.
struct Dim {
  std::int16_t step = 1;
  std::uint16_t num = 1;
  bool operator==(const Dim&) const = default;
};

// A tile: the same free-axis pattern in every partition from `partition` on. Dims are outermost first; unused ones are
// {0, 1}.
//    0 u32 address    4 3 x {i16 step in elements, u16 num}
struct Operand {
  Space space = Space::sbuf;
  std::uint8_t partition = 0;  // first partition
  std::uint32_t offset = 0;    // bytes within the partition
  std::array<Dim, 3> dims{Dim{0, 1}, Dim{0, 1}, Dim{0, 1}};
  std::uint32_t elements() const { return std::uint32_t{dims[0].num} * dims[1].num * dims[2].num; }  // a partition
  bool operator==(const Operand&) const = default;
};

enum MatmulFlags : std::uint8_t {
  matmul_start = 1,       // overwrite: first of an accumulation group
  matmul_stop = 2,        // last of its group: the result may be read
  matmul_accumulate = 4,  // add; a record carries START or ACCUMULATE, never both
  matmul_reuse = 8,       // the stationary tile is still loaded: no weight load (never for fp32)
};
enum ScalarFlags : std::uint8_t { scalar0_is_address = 1, scalar1_is_address = 2 };

enum class AluOp : std::uint8_t { add = 0, subtract = 1, multiply = 2, max = 3, min = 4, bypass = 5 };
enum class Function : std::uint8_t { copy = 0, relu = 1 };

enum class UpdateKind : std::uint8_t { none = 0, add = 1, subtract = 2, write = 3 };
struct Update {
  UpdateKind kind = UpdateKind::none;
  std::uint8_t semaphore = 0;
  std::int16_t value = 0;
  bool operator==(const Update&) const = default;
};

enum class Condition : std::uint8_t { none = 0, ge = 1, eq = 2 };
struct Wait {
  Condition condition = Condition::none;
  std::uint8_t semaphore = 0;
  std::int32_t value = 0;
  bool operator==(const Wait&) const = default;
};

// A scalar operand of tensor_scalar or activation: an immediate, or one fp32 a partition at an SBUF offset.
struct Scalar {
  bool is_address = false;
  float immediate = 0.0F;
  std::uint32_t address = 0;
  bool operator==(const Scalar&) const = default;
};

struct Instruction {
  Opcode opcode = Opcode::nop;
  std::uint8_t flags = 0;              // MatmulFlags; tensor_reduce: dimensions reduced
  std::uint8_t partitions = 1;         // of the destination (matmul: M)
  std::uint8_t source_partitions = 1;  // of the sources (matmul: K; transpose); all others: equal to `partitions`
  numeric::DType dtype = numeric::DType::fp32;
  numeric::DType source0_dtype = numeric::DType::fp32;
  numeric::DType source1_dtype = numeric::DType::fp32;
  AluOp op0 = AluOp::bypass;
  AluOp op1 = AluOp::bypass;
  Function function = Function::copy;  // activation; encoded in op 0
  Operand destination;
  Operand source0;                // matmul: moving
  Operand source1;                // tensor_tensor; matmul: stationary
  Scalar scalar0;                 // tensor_scalar; activation: scale; memset: value (immediate)
  Scalar scalar1;                 // tensor_scalar; activation: bias
  std::array<Wait, 2> waits{};    // semaphore, dma_trigger
  std::uint8_t queue = 0;         // dma_trigger
  std::uint32_t descriptors = 0;  // dma_trigger: added to the tail of that queue on every DMA engine of the core
  Update update;
  bool operator==(const Instruction&) const = default;
};

// tensor_reduce: elements of source 0 that make one of the destination.
constexpr std::uint32_t reduced_elements(const Instruction& reduce) {
  std::uint32_t elements = 1;
  for (std::size_t d = reduce.source0.dims.size() - reduce.flags; d < reduce.source0.dims.size(); ++d)
    elements *= reduce.source0.dims[d].num;
  return elements;
}

// Throws UserError when a field does not fit its encoding (partition 200, offset beyond the space, wait value).
std::array<std::byte, instruction_bytes> encode(const Instruction& instruction);
// Throws Fault `isa.decode` with `place` ("vector #12") when the record is none: unknown opcode, length, dtype, op,
// condition or reserved bits that are not zero. decode(encode(x)) == x for every instruction that encode takes.
Instruction decode(std::span<const std::byte, instruction_bytes> record, const std::string& place);
// One line that says every field, as the assembler reads it (docs/assembler.md): `matmul psum[0..63, bank 2 + 16,
// 444:1] fp32 = sbuf[0..31, 0, 64:1] bf16 x sbuf[0..31, 4096, 2:226 222:1] bf16 START, sem 3 += 1`.
std::string disassemble(const Instruction& instruction);
// One operand of it: `psum[0..127, bank 2 + 0, 1:0 111:4 4:1] fp32`.
std::string operand_text(const Operand& operand, unsigned partitions, numeric::DType dtype);

}  // namespace tilevp::neuroncore
