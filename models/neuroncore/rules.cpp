#include "tilevp/neuroncore/rules.hpp"

#include <array>

namespace tilevp::neuroncore {
namespace {

constexpr char architecture[] = "AWS Neuron documentation, Trainium/Inferentia2 architecture guide";
constexpr char nki_isa[] = "AWS Neuron documentation, nki.isa";
constexpr char compiler[] = "public reverse engineering of the Neuron compiler (GrigoryEvko/nvopen-tools)";
constexpr char dma_overview[] = "AWS Neuron documentation, NKI DMA overview";
constexpr char encoding[] = "TileVP: encoding of the instruction records (isa.hpp)";
constexpr char platform[] = "TileVP: what only a platform can find";

constexpr std::array table{
    Rule{rule::isa_decode, "A fetched record is an instruction: known codes, reserved bits zero.", encoding},
    Rule{rule::engine_opcode, "The engine executes the opcode (NC-v2: no tensor_copy on the scalar engine).", nki_isa},
    Rule{rule::operand_space,
         "The engine reaches the operand's memory: the PE array reads SBUF and writes PSUM, gpsimd reaches SBUF only.",
         architecture},
    Rule{rule::operand_empty, "Every dimension of an access pattern has at least one element.", nki_isa},
    Rule{rule::operand_elements, "Operands of one instruction have equal element counts a partition.", nki_isa},
    Rule{rule::operand_alignment, "An operand starts at a multiple of its element size.", platform},
    Rule{rule::operand_free_size,
         "Vector, scalar and gpsimd operands have at most 65536 elements a partition in SBUF, 4096 in PSUM.",
         architecture},
    Rule{rule::operand_dtype,
         "The engine computes on the operands' types (gpsimd tensor_tensor: int32 only; transpose: source and "
         "destination of one type).",
         nki_isa},
    Rule{rule::operand_op,
         "The instruction has the operation (tensor_tensor: no bypass; tensor_reduce: add, multiply, max or min).",
         nki_isa},
    Rule{rule::operand_transpose_size,
         "A transpose is of at most 128 x 128 elements on the PE array, of 32 x 32 on the vector engine.", nki_isa},
    Rule{rule::partition_count,
         "Source and destination have equal partition counts (matmul: M stationary columns; transpose: elements of the "
         "source).",
         nki_isa},
    Rule{rule::partition_range, "A tile ends within the 128 partitions.", architecture},
    Rule{rule::partition_start,
         "65 to 128 partitions start at 0; 33 to 64 at 0 or 64; 1 to 32 at 0, 32, 64 or 96. DMA is free of it.",
         architecture},
    Rule{rule::sbuf_bounds, "A tile stays within the usable bytes of its SBUF partitions.", architecture},
    Rule{rule::sbuf_undefined_read, "An engine reads no SBUF byte that nobody wrote.", platform},
    Rule{rule::psum_bounds, "A tile stays within the 16 KiB of its PSUM partitions.", architecture},
    Rule{rule::psum_undefined_read, "An engine reads no PSUM byte that nobody wrote.", platform},
    Rule{rule::psum_bank_span, "The destination of a matmul lies in one 2 KiB bank.", nki_isa},
    Rule{rule::psum_two_inputs, "At most one input of tensor_tensor lies in PSUM.", nki_isa},
    Rule{rule::psum_accumulate_unstarted, "A matmul adds only to cells that a matmul wrote last.", nki_isa},
    Rule{rule::psum_read_open_group, "A bank is read after the STOP of its accumulation group.", compiler},
    Rule{rule::psum_second_group, "A bank holds one accumulation group at a time.", architecture},
    Rule{rule::pe_moving_free_size, "The moving operand has at most 512 columns.", nki_isa},
    Rule{rule::pe_stationary_free_size, "The stationary operand has at most 128 columns.", nki_isa},
    Rule{rule::pe_partition_start, "Operands of the PE array start at SBUF partition 0 (row tiling is not modelled).",
         nki_isa},
    Rule{
        rule::pe_dtype,
        "Matmul operands are fp32 both, or bf16 or fp16 each; the result is fp32. A transpose there is of one of these "
        "types.",
        nki_isa},
    Rule{rule::pe_flags, "A matmul carries START or ACCUMULATE, one of them.", encoding},
    Rule{rule::pe_reuse_fp32, "fp32 weights are loaded for every matmul.", compiler},
    Rule{rule::pe_reuse_not_loaded, "A matmul with REUSE names the stationary tile that is loaded.", encoding},
    Rule{rule::semaphore_reserved, "Semaphores 253 to 255 belong to the runtime.", compiler},
    Rule{rule::semaphore_overflow, "A semaphore stays within 32 signed bits.", platform},
    Rule{rule::race_access,
         "Of two accesses to a byte, one of them a write, one happens before the other, by semaphores or in one engine.",
         platform},
    Rule{rule::race_ambiguous_wait,
         "What raises a semaphore to the count of a wait is ordered before whatever raises it further.", platform},
    Rule{rule::dma_queue, "A DMA trigger names one of the 16 queues.", dma_overview},
    Rule{rule::dma_descriptors, "A DMA trigger releases at least one descriptor.", platform},
    Rule{rule::stream_end, "A stream ends with halt.", encoding},
    Rule{rule::stream_alignment, "A stream starts at a multiple of 64 bytes.", encoding},
    Rule{rule::stream_running, "A sequencer is started when it is not running.", encoding},
};

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace tilevp::neuroncore
