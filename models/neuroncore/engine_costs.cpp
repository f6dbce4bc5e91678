#include "tilevp/neuroncore/engine_costs.hpp"

#include <algorithm>
#include <bit>

#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::neuroncore {
namespace {

constexpr std::int64_t full_rate_stride_bytes = 16;

bool has_source0(const Instruction& i) { return i.opcode != Opcode::memset; }
bool has_source1(const Instruction& i) { return i.opcode == Opcode::tensor_tensor; }

bool is_slow(const Operand& tile, numeric::DType dtype) {
  return std::abs(inner_stride_bytes(tile, static_cast<std::uint32_t>(numeric::size_bytes(dtype)))) >
         full_rate_stride_bytes;
}

bool is_fast_bf16(const Operand& tile, numeric::DType dtype) {
  const std::int64_t stride = inner_stride_bytes(tile, 1);
  return dtype == numeric::DType::bf16 && tile.space == Space::sbuf && (stride == 1 || tile.elements() == 1);
}

bool runs_at_full_rate(const Instruction& i) {
  if (i.source0.space == Space::psum || i.source1.space == Space::psum) return true;
  return is_fast_bf16(i.destination, i.dtype) && is_fast_bf16(i.source0, i.source0_dtype) &&
         is_fast_bf16(i.source1, i.source1_dtype) &&
         (i.op0 == AluOp::add || i.op0 == AluOp::subtract || i.op0 == AluOp::multiply);
}

// AWS Neuron documentation, nki.isa of release 2.26: bf16 in and out, add or max.
bool reduces_at_double_rate(const Instruction& i) {
  return i.dtype == numeric::DType::bf16 && i.source0_dtype == numeric::DType::bf16 &&
         (i.op0 == AluOp::add || i.op0 == AluOp::max);
}

std::uint64_t element_cycles(const Instruction& i) {
  const std::uint64_t elements = i.destination.elements();
  switch (i.opcode) {
    case Opcode::tensor_tensor:
      return runs_at_full_rate(i) ? elements : 2 * elements;
    case Opcode::memset:
      if (std::bit_cast<std::uint32_t>(i.scalar0.immediate) == 0 &&
          (i.dtype == numeric::DType::bf16 || i.dtype == numeric::DType::fp16))
        return (elements + 1) / 2;
      return elements;
    case Opcode::tensor_reduce: {
      const std::uint64_t read = i.source0.elements();
      return reduces_at_double_rate(i) ? (read + 1) / 2 : read;
    }
    case Opcode::transpose:
      return i.source0.elements();
    default:
      return elements;
  }
}

}  // namespace

std::uint64_t cost_cycles(const Instruction& i, const EngineParameters& parameters, std::uint32_t generation) {
  std::uint64_t cycles = element_cycles(i);
  if (generation == 2 && (is_slow(i.destination, i.dtype) || (has_source0(i) && is_slow(i.source0, i.source0_dtype)) ||
                          (has_source1(i) && is_slow(i.source1, i.source1_dtype))))
    cycles *= 2;
  return std::max<std::uint64_t>(parameters.min_interval_cycles, cycles);
}

}  // namespace tilevp::neuroncore
