#include "tilevp/neuroncore/tile_operations.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tilevp/neuroncore/tile_elements.hpp"
#include "tilevp/neuroncore/transpose.hpp"

namespace tilevp::neuroncore {
namespace {

// The operation is chosen once a row, so that the loops stay plain.
template <class Fn>
void with_operation(AluOp op, Fn&& fn) {
  const auto either_nan = [](float a, float b) { return a != a || b != b; };
  switch (op) {
    case AluOp::add:
      return fn([](float a, float b) { return a + b; });
    case AluOp::subtract:
      return fn([](float a, float b) { return a - b; });
    case AluOp::multiply:
      return fn([](float a, float b) { return a * b; });
    case AluOp::max:
      return fn([=](float a, float b) {
        return either_nan(a, b) ? std::numeric_limits<float>::quiet_NaN() : a > b ? a : b;
      });
    case AluOp::min:
      return fn([=](float a, float b) {
        return either_nan(a, b) ? std::numeric_limits<float>::quiet_NaN() : a < b ? a : b;
      });
    case AluOp::bypass:
      return fn([](float a, float) { return a; });
  }
}

void combine(AluOp op, const float* a, const float* b, float* out, std::size_t count) {
  with_operation(op, [&](auto f) {
    for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
  });
}

void combine_scalar(AluOp op, const float* a, float b, float* out, std::size_t count) {
  with_operation(op, [&](auto f) {
    for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i], b);
  });
}

void reduce(AluOp op, const float* a, std::size_t run, float* out, std::size_t count) {
  with_operation(op, [&](auto f) {
    for (std::size_t i = 0; i < count; ++i, a += run) {
      float result = a[0];
      for (std::size_t r = 1; r < run; ++r) result = f(result, a[r]);
      out[i] = result;
    }
  });
}

// One partition's elements as fp32: where they are, if they lie there as such, else in `buffer`.
const float* row_of(const numeric::StridedTile& tile, std::size_t partition, std::vector<float>& buffer) {
  const std::byte* const at = tile.base + static_cast<std::ptrdiff_t>(partition) * tile.partition_stride_bytes;
  const bool dense = tile.dim_count == 0 || (tile.dim_count == 1 && tile.dims[0].stride == 1);
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % alignof(float) == 0;
  if (tile.dtype == numeric::DType::fp32 && dense && aligned) return reinterpret_cast<const float*>(at);
  numeric::gather_row(tile, partition, buffer.data());
  return buffer.data();
}

float scalar_of(const ScalarView& scalar, std::size_t partition) {
  if (scalar.base == nullptr) return scalar.immediate;
  float value;
  std::memcpy(&value, scalar.base + static_cast<std::ptrdiff_t>(partition) * scalar.partition_stride_bytes,
              sizeof value);
  return value;
}

template <class Word>
void copy_words(const TileOperation& operation, std::size_t partition, std::byte* buffer) {
  std::byte* to = buffer;
  for_each_element(operation.source0, partition, [&](const std::byte* at) {
    std::memcpy(to, at, sizeof(Word));
    to += sizeof(Word);
  });
  const std::byte* from = buffer;
  for_each_element(operation.destination, partition, [&](std::byte* at) {
    std::memcpy(at, from, sizeof(Word));
    from += sizeof(Word);
  });
}

void copy_bytes(const TileOperation& operation, std::size_t partition, OperationBuffers& buffers) {
  auto* const buffer = reinterpret_cast<std::byte*>(buffers.a.data());
  switch (numeric::size_bytes(operation.destination.dtype)) {
    case 4:
      return copy_words<std::uint32_t>(operation, partition, buffer);
    case 2:
      return copy_words<std::uint16_t>(operation, partition, buffer);
    default:
      return copy_words<std::uint8_t>(operation, partition, buffer);
  }
}

std::uint32_t apply_integer(AluOp op, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a);
  const auto sb = static_cast<std::int32_t>(b);
  switch (op) {
    case AluOp::add:
      return a + b;
    case AluOp::subtract:
      return a - b;
    case AluOp::multiply:
      return a * b;
    case AluOp::max:
      return sa > sb ? a : b;
    case AluOp::min:
      return sa < sb ? a : b;
    case AluOp::bypass:
      break;
  }
  return a;
}

void combine_integers(const TileOperation& operation, std::size_t partition, OperationBuffers& buffers) {
  const auto gather = [&](const numeric::StridedTile& tile, std::vector<float>& out) {
    auto* to = reinterpret_cast<std::byte*>(out.data());
    for_each_element(tile, partition, [&](const std::byte* at) {
      std::memcpy(to, at, sizeof(std::uint32_t));
      to += sizeof(std::uint32_t);
    });
  };
  gather(operation.source0, buffers.a);
  gather(operation.source1, buffers.b);
  const auto* a = reinterpret_cast<const std::byte*>(buffers.a.data());
  const auto* b = reinterpret_cast<const std::byte*>(buffers.b.data());
  for_each_element(operation.destination, partition, [&](std::byte* at) {
    std::uint32_t left;
    std::uint32_t right;
    std::memcpy(&left, a, sizeof left);
    std::memcpy(&right, b, sizeof right);
    const std::uint32_t result = apply_integer(operation.op0, left, right);
    std::memcpy(at, &result, sizeof result);
    a += sizeof left;
    b += sizeof right;
  });
}

void activate(const TileOperation& operation, std::size_t partition, const float* x, float* out, std::size_t count) {
  const float scale = scalar_of(operation.scalar0, partition);
  const float bias = scalar_of(operation.scalar1, partition);
  for (std::size_t i = 0; i < count; ++i) out[i] = x[i] * scale + bias;
  if (operation.function == Function::relu)
    for (std::size_t i = 0; i < count; ++i) out[i] = out[i] > 0.0F || out[i] != out[i] ? out[i] : 0.0F;
}

// One row of the result, in buffers.out, before it is rounded into its type.
void compute(const TileOperation& operation, std::size_t p, OperationBuffers& buffers, std::size_t count) {
  float* const out = buffers.out.data();
  if (operation.opcode == Opcode::memset) {
    std::fill_n(out, count, operation.scalar0.immediate);
    return;
  }
  const float* const a = row_of(operation.source0, p, buffers.a);
  switch (operation.opcode) {
    case Opcode::tensor_tensor:
      return combine(operation.op0, a, row_of(operation.source1, p, buffers.b), out, count);
    case Opcode::tensor_scalar:
      combine_scalar(operation.op0, a, scalar_of(operation.scalar0, p), out, count);
      return combine_scalar(operation.op1, out, scalar_of(operation.scalar1, p), out, count);
    case Opcode::tensor_reduce:
      return reduce(operation.op0, a, operation.reduced, out, count);
    case Opcode::activation:
      return activate(operation, p, a, out, count);
    default:  // tensor_copy: the cast alone; through the buffer, for the tile may be its own destination
      std::copy_n(a, count, out);
  }
}

}  // namespace

float apply(AluOp op, float a, float b) {
  float result = a;
  combine_scalar(op, &result, b, &result, 1);
  return result;
}

void execute(const TileOperation& operation, std::size_t first, std::size_t count, OperationBuffers& buffers) {
  if (operation.opcode == Opcode::transpose)
    return transpose_bits(operation.source0, operation.destination, buffers.transposed);
  const std::size_t elements = operation.destination.free_size();
  const std::size_t widest = std::max(elements, operation.source0.free_size());
  for (auto* buffer : {&buffers.a, &buffers.b, &buffers.out})
    if (buffer->size() < widest) buffer->resize(widest);
  for (std::size_t p = first; p < first + count; ++p) {
    if (operation.bit_exact) {
      copy_bytes(operation, p, buffers);
    } else if (operation.integer) {
      combine_integers(operation, p, buffers);
    } else {
      compute(operation, p, buffers, elements);
      numeric::scatter_row(operation.destination, p, buffers.out.data());
    }
  }
}

}  // namespace tilevp::neuroncore
