#pragma once
// The arithmetic of the vector, scalar and gpsimd engines on the bytes of tiles, without SystemC.
//
// Everything is computed in fp32: operands are cast to fp32, the result is rounded to nearest even into its type, a NaN
// is stored as the canonical one (AWS Neuron documentation, Trainium/Inferentia2 architecture guide; rounding modes).
// Where the documentation is silent, this is the definition:
//   max, min     NaN if an operand is NaN, else a > b ? a : b and a < b ? a : b (equal operands, zeros of either sign
//                among them, give b)
//   relu         x > 0 ? x : +0, NaN stays NaN
//   activation   f(x * scale + bias) with two roundings
//   tensor_copy  between equal types the bytes as they are (vector, gpsimd); the scalar engine goes through fp32
//   tensor_reduce  from the first element on, in the order of the pattern, each step rounded to fp32
//   gpsimd tensor_tensor on int32: 32-bit integer arithmetic, modulo 2^32
#include <cstddef>
#include <vector>

#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/numeric/strided_tile.hpp"

namespace tilevp::neuroncore {

// A scalar operand: an immediate (base null) or one fp32 a partition.
struct ScalarView {
  const std::byte* base = nullptr;
  std::ptrdiff_t partition_stride_bytes = 0;
  float immediate = 0.0F;
};

struct TileOperation {
  Opcode opcode = Opcode::memset;
  AluOp op0 = AluOp::bypass;
  AluOp op1 = AluOp::bypass;
  Function function = Function::copy;
  bool bit_exact = false;   // tensor_copy: move bytes
  bool integer = false;     // tensor_tensor: 32-bit integers
  std::size_t reduced = 1;  // tensor_reduce: elements of source 0 that make one of the destination
  numeric::MutableStridedTile destination;
  numeric::StridedTile source0;
  numeric::StridedTile source1;
  ScalarView scalar0;
  ScalarView scalar1;
};

// Rows of the widest tile so far; reused.
struct OperationBuffers {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> out;
  std::vector<std::byte> transposed;
};

// Rows [first, first + count) of the tiles. Each is read whole before it is written, so a tile may be its own
// destination.
void execute(const TileOperation& operation, std::size_t first, std::size_t count, OperationBuffers& buffers);

float apply(AluOp op, float a, float b);

}  // namespace tilevp::neuroncore
