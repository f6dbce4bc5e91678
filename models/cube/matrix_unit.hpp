#pragma once
// What a matrix bundle computes, as a function on the payloads of one PE: D = C + A.B + Bias in the order that the
// operation states, post-processing, reductions. Knows nothing of time, registers or faults.
//
// Per output element, in this order (PTO-ISA/pto-spec, asl/tile/model/execution/cube.asl):
//   P = C, or +0            CScale'd before where B.FPATR says so
//   P = P + A[m,k] * B[k,n] for k = 0, 1, ... K-1
//   P = P + Bias[n]
//   RowMax, GroupMax        of P
//   D = post(P)             PreQuant, ReLU
// Sums of floats are kept in fp32 (matmul.hpp), of integers modulo 2^32.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilevp/cube/matrix_operation.hpp"

namespace tilevp::cube {

// Payloads are in the stored order of layout.hpp, with the operation's types and layouts: A, C and D in m_layout, B in
// CUBE_N8, CScale (U8) in CUBE_M32, all others row major. Where the operation names no such operand it is not looked
// at.
struct TileView {
  std::span<const std::byte> bytes{};
  std::uint32_t rows = 0;     // B: K or what it is padded to
  std::uint32_t columns = 0;  // row major: elements from a row to the next
};

struct MatrixOperands {
  TileView a{}, b{};
  TileView c{}, bias{}, cscale{};
  TileView row_max_in{}, quant_vector{}, slope_vector{};  // the last two U64 [1, N]
};

struct TileTarget {
  std::span<std::byte> bytes{};
  std::uint32_t columns = 0;  // row major: elements from a row to the next
};

struct MatrixResults {
  TileTarget d{};
  TileTarget row_max{}, group_max{};  // of the accumulator's type, [M, 1] and [M, ceil(N / GroupN)]
};

// Computes every element of the results inside [M, N] ([M, 1], [M, groups]) and writes nothing else. Returns the
// numeric flags (isa.hpp) that the bundle raises. The operation must have passed its preflight: sizes of the payloads
// are asserted as Defect, parameter words are taken as legal. Results must not overlap operands.
std::uint8_t execute(const MatrixOperation& operation, const MatrixOperands& operands, const MatrixResults& results);

}  // namespace tilevp::cube
