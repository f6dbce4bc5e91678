#include "tilevp/cube/matmul.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/dot_kernel.hpp"
#include "tilevp/cube/element.hpp"
#include "tilevp/cube/m_rows.hpp"
#include "tilevp/cube/ordered_sum.hpp"
#include "tilevp/numeric/narrow_float.hpp"
#include "tilevp/numeric/simd.hpp"

#ifdef TILEVP_X86_KERNELS
#include <cpuid.h>
#endif

namespace tilevp::cube {
namespace {

#ifdef TILEVP_X86_KERNELS
// cpuid leaf 1, ecx bit 29; clang 16 does not know the name for __builtin_cpu_supports.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

const DotKernels& kernels() {
#ifdef TILEVP_X86_KERNELS
  static const bool f16c = has_f16c();
  if (f16c && numeric::simd_level() >= numeric::SimdLevel::avx2) return avx2::kernels;
#endif
  return baseline::kernels;
}

template <typename T>
T* grown(std::vector<T>& memory, std::size_t count) {
  if (memory.size() < count) memory.resize(count);
  return memory.data();
}

// The sums are kept as bits; floats are looked at through this.
float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

bool sums_floats(const MatrixOperation& operation) {
  return operation.accumulator == DataType::fp32 && operation.accumulate != Accumulate::raw_asl;
}

void reserve(Lanes& lanes, bool floats, std::size_t count) {
  if (floats)
    grown(lanes.floats, count);
  else
    grown(lanes.words, count);
}

std::byte* bytes_of(Lanes& lanes, bool floats) {
  return floats ? reinterpret_cast<std::byte*>(lanes.floats.data()) : reinterpret_cast<std::byte*>(lanes.words.data());
}

void decode_lanes(DataType type, const std::byte* codes, std::size_t count, bool floats, Lanes& out, std::size_t at) {
  if (floats)
    decode_floats(type, codes, count, out.floats.data() + at);
  else
    decode_integers(type, codes, count, out.words.data() + at);
}

// CScale: C * 2^-scale to the nearest, subnormals kept; zero, infinity and NaN pass (asl/tile/model/execution/
// matrix-scale.asl).
std::uint32_t scaled(std::uint32_t sum, unsigned scale, std::uint8_t& flags) {
  const double value = static_cast<double>(as_float(sum));
  if (value == 0.0 || !std::isfinite(value)) return sum;
  const numeric::Encoded result =
      numeric::encode(numeric::FloatFormat::fp32, std::ldexp(value, -static_cast<int>(scale)), numeric::Rounding::rne,
                      numeric::Overflow::infinite);
  if (result.inexact) flags |= flag_inexact;
  if (result.underflow) flags |= flag_underflow;
  return result.code;
}

// The first term of every sum. Of floats -0 becomes +0: adding the first product would make it so.
std::uint8_t initial_sums(const MatrixOperation& op, const MatrixOperands& operands, Workspace& space) {
  std::uint32_t* sums = grown(space.sums, op.m * space.sums_stride);
  if (!op.c) {
    std::fill_n(sums, op.m * space.sums_stride, 0U);
    return 0;
  }
  std::uint8_t flags = 0;
  std::byte* row = grown(space.codes, gathered_bytes(op.m_layout, 32, op.n));
  for (std::uint32_t m = 0; m < op.m; ++m) {
    gather_row(op.m_layout, 32, operands.c.bytes, m, op.n, row);
    std::uint32_t* out = sums + m * space.sums_stride;
    std::memcpy(out, row, std::size_t{op.n} * 4);
    std::fill(out + op.n, out + space.sums_stride, 0U);
    if (op.cscale) {
      const std::uint32_t scale =
          load_code(operands.cscale.bytes.data(), 8, stored_position(Layout::cube_m32, 8, m, 0, 0));
      for (std::uint32_t n = 0; n < op.n; ++n) out[n] = scaled(out[n], scale, flags);
    }
    if (sums_floats(op))
      for (std::uint32_t n = 0; n < op.n; ++n) out[n] = as_bits(as_float(out[n]) + 0.0F);
  }
  return flags;
}

void decode_left(const MatrixOperation& op, const MatrixOperands& operands, Workspace& space) {
  const unsigned width = bits(op.a_type);
  const bool floats = sums_floats(op);
  reserve(space.left, floats, std::size_t{op.m} * op.k);
  std::byte* row = grown(space.codes, gathered_bytes(op.m_layout, width, op.k));
  for (std::uint32_t m = 0; m < op.m; ++m) {
    gather_row(op.m_layout, width, operands.a.bytes, m, op.k, row);
    decode_lanes(op.a_type, row, op.k, floats, space.left, std::size_t{m} * op.k);
  }
}

// How B lies: column blocks of eight, each with all of K.
struct Blocks {
  unsigned width = 0;      // bits of an element
  std::size_t stride = 0;  // bytes from a block to the next
  std::size_t count = 0;
};

Blocks blocks_of(const MatrixOperation& op, const TileView& b) {
  const unsigned width = bits(op.b_type);
  const CellShape cell = cell_shape(Layout::cube_n8, width);
  if (cell.rows == 0) throw Defect("no cells of " + std::to_string(width) + " bits");
  const Blocks blocks{width, std::size_t{cell_bytes} * ceil_div(b.rows, cell.rows), ceil_div(op.n, cell.columns)};
  if (b.rows < op.k || b.bytes.size() < blocks.stride * blocks.count)
    throw Defect("B of " + std::to_string(b.rows) + " rows in " + std::to_string(b.bytes.size()) + " bytes read as " +
                 std::to_string(op.k) + " x " + std::to_string(op.n));
  return blocks;
}

DotKernels::Dot kernel_for(const DotKernels& set, bool floats, DataType type) {
  switch (type) {
    case DataType::fp32:
      return floats ? set.fp32 : set.word;
    case DataType::fp16:
      return floats ? set.fp16 : set.u16;
    case DataType::bf16:
      return floats ? set.bf16 : set.u16;
    case DataType::s16:
      return set.s16;
    case DataType::u16:
      return set.u16;
    case DataType::s8:
      return set.s8;
    case DataType::u8:
      return set.u8;
    default:
      return nullptr;
  }
}

// Into space.right from element `at`.
void decode_block(const MatrixOperation& op, const TileView& b, const Blocks& blocks, std::size_t block, bool floats,
                  Workspace& space, std::size_t at) {
  decode_lanes(op.b_type, b.bytes.data() + block * blocks.stride, std::size_t{op.k} * block_columns, floats,
               space.right, at);
}

// So much of B is decoded at a time, for a near cache to hold it; but as many blocks as a kernel takes together.
constexpr std::size_t decoded_bytes = 65'536;
constexpr std::size_t row_blocks = 8;

void sum_in_vectors(const MatrixOperation& op, const MatrixOperands& operands, const Blocks& blocks, Workspace& space) {
  const bool floats = sums_floats(op);
  DotProduct product{.a = bytes_of(space.left, floats),
                     .a_stride = op.k,
                     .b = operands.b.bytes.data(),
                     .b_stride = blocks.stride,
                     .sums = reinterpret_cast<std::byte*>(space.sums.data()),
                     .sums_stride = space.sums_stride,
                     .rows = op.m,
                     .depth = op.k,
                     .blocks = blocks.count};
  if (const auto dot = kernel_for(kernels(), floats, op.b_type)) {
    dot(product);
    return;
  }
  const auto dot = floats ? kernels().fp32 : kernels().word;
  const std::size_t words = std::size_t{op.k} * block_columns;
  const std::size_t most = std::max<std::size_t>(decoded_bytes / 4 / words, row_blocks);
  reserve(space.right, floats, words * std::min(most, blocks.count));
  product.b = bytes_of(space.right, floats);
  product.b_stride = 4 * words;
  for (std::size_t first = 0; first < blocks.count; first += most) {
    product.blocks = std::min(most, blocks.count - first);
    for (std::size_t block = 0; block < product.blocks; ++block)
      decode_block(op, operands.b, blocks, first + block, floats, space, block * words);
    dot(product);
    product.sums += 4 * block_columns * product.blocks;
  }
}

// One output element, from its first term.
float sum_in_order(const OrderedSum& rule, float first, const float* left, const float* right, std::uint32_t depth) {
  float sum = first;
  for (std::uint32_t k = 0; k < depth; ++k) sum = rule.add_product(sum, left[k], right[std::size_t{k} * block_columns]);
  return sum;
}

// Element by element: all, or only those that the vectors left as infinity or NaN, from `first` on.
template <typename Chosen>
void sum_one_by_one(const MatrixOperation& op, const MatrixOperands& operands, const Blocks& blocks, Workspace& space,
                    const std::uint32_t* first, const Chosen& chosen) {
  const OrderedSum rule(op.accumulate, op.rounding, op.saturate);
  reserve(space.right, true, std::size_t{op.k} * block_columns);
  for (std::size_t block = 0; block < blocks.count; ++block) {
    bool decoded = false;
    for (std::uint32_t m = 0; m < op.m; ++m)
      for (std::size_t n = block * block_columns; n < std::min<std::size_t>(op.n, (block + 1) * block_columns); ++n) {
        std::uint32_t& sum = space.sums[m * space.sums_stride + n];
        if (!chosen(sum)) continue;
        if (!decoded) decode_block(op, operands.b, blocks, block, true, space, 0);
        decoded = true;
        sum = as_bits(sum_in_order(rule, as_float(first[m * space.sums_stride + n]),
                                   space.left.floats.data() + std::size_t{m} * op.k,
                                   space.right.floats.data() + n % block_columns, op.k));
      }
  }
}

bool is_finite(std::uint32_t sum) { return (sum & 0x7f800000) != 0x7f800000; }

void sum_floats(const MatrixOperation& op, const MatrixOperands& operands, const Blocks& blocks, Workspace& space) {
  const bool vectors = op.rounding == numeric::Rounding::rne &&
                       (op.accumulate == Accumulate::two_round || products_are_exact(op.a_type, op.b_type));
  if (!vectors) {
    sum_one_by_one(op, operands, blocks, space, space.sums.data(), [](std::uint32_t) { return true; });
    return;
  }
  if (!op.saturate) {
    sum_in_vectors(op, operands, blocks, space);
    return;
  }
  // Infinity and NaN stay what they are to the end, so a finite sum never overflowed.
  const std::size_t count = op.m * space.sums_stride;
  std::copy_n(space.sums.data(), count, grown(space.first, count));
  sum_in_vectors(op, operands, blocks, space);
  sum_one_by_one(op, operands, blocks, space, space.first.data(), [](std::uint32_t sum) { return !is_finite(sum); });
}

void add_bias(const MatrixOperation& op, const TileView& bias, Workspace& space) {
  if (bias.bytes.size() < std::size_t{op.n} * 4) throw Defect("Bias is shorter than N = " + std::to_string(op.n));
  const bool floats = sums_floats(op);
  for (std::uint32_t n = 0; n < op.n; ++n) {
    const std::uint32_t term = load_code(bias.bytes.data(), 32, n);
    for (std::uint32_t m = 0; m < op.m; ++m) {
      std::uint32_t& sum = space.sums[m * space.sums_stride + n];
      sum = floats ? as_bits(as_float(sum) + as_float(term)) : sum + term;
    }
  }
}

}  // namespace

std::uint8_t accumulate(const MatrixOperation& operation, const MatrixOperands& operands, Workspace& space) {
  space.sums_stride = std::size_t{ceil_div(operation.n, block_columns)} * block_columns;
  const std::uint8_t flags = initial_sums(operation, operands, space);
  decode_left(operation, operands, space);
  const Blocks blocks = blocks_of(operation, operands.b);
  if (sums_floats(operation))
    sum_floats(operation, operands, blocks, space);
  else
    sum_in_vectors(operation, operands, blocks, space);
  if (operation.bias) add_bias(operation, operands.bias, space);
  if (sums_floats(operation))
    for (std::size_t i = 0; i < operation.m * space.sums_stride; ++i)
      if (space.sums[i] << 1 > 0xff000000U) space.sums[i] = numeric::canonical_nan_fp32;
  return flags;
}

}  // namespace tilevp::cube
