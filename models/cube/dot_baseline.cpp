// 128-bit vectors, which every x86-64 has. Operands narrower than 32 bits are decoded before (matmul.cpp): without the
// conversions of later instruction sets that is faster than here.
#include "tilevp/cube/dot_kernel.hpp"

namespace tilevp::cube::baseline {
namespace {

constexpr std::size_t lanes = 4;
constexpr std::size_t tile_rows = 2;
constexpr std::size_t tile_blocks = 2;
constexpr std::size_t row_blocks = 4;

#include "tilevp/cube/dot_kernel.inc"

}  // namespace

const DotKernels kernels{.fp32 = dot<Fp32>, .word = dot<Word>};

}  // namespace tilevp::cube::baseline
