#include "tilevp/neuroncore/tile_operations.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

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

void combine(AluOp op, float* a, const float* b, std::size_t count) {
  with_operation(op, [&](auto f) {
    for (std::size_t i = 0; i < count; ++i) a[i] = f(a[i], b[i]);
  });
}

void combine_scalar(AluOp op, float* a, float b, std::size_t count) {
  with_operation(op, [&](auto f) {
    for (std::size_t i = 0; i < count; ++i) a[i] = f(a[i], b);
  });
}

float scalar_of(const ScalarView& scalar, std::size_t partition) {
  if (scalar.base == nullptr) return scalar.immediate;
  float value;
  std::memcpy(&value, scalar.base + static_cast<std::ptrdiff_t>(partition) * scalar.partition_stride_bytes,
              sizeof value);
  return value;
}

// Calls fn(address) for each element of one partition in order.
template <class Byte, class Fn>
void for_each_element(const numeric::BasicStridedTile<Byte>& tile, std::size_t partition, Fn&& fn) {
  std::array<numeric::FreeDim, 3> dims{};
  const auto used = static_cast<std::size_t>(tile.dim_count);
  for (std::size_t d = 0; d < used; ++d) dims[dims.size() - used + d] = tile.dims[d];
  const auto size = static_cast<std::ptrdiff_t>(numeric::size_bytes(tile.dtype));
  Byte* const row = tile.base + static_cast<std::ptrdiff_t>(partition) * tile.partition_stride_bytes;
  for (std::size_t i = 0; i < dims[0].count; ++i)
    for (std::size_t j = 0; j < dims[1].count; ++j) {
      Byte* at =
          row +
          (static_cast<std::ptrdiff_t>(i) * dims[0].stride + static_cast<std::ptrdiff_t>(j) * dims[1].stride) * size;
      for (std::size_t k = 0; k < dims[2].count; ++k, at += dims[2].stride * size) fn(at);
    }
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

void activate(const TileOperation& operation, std::size_t partition, float* x, std::size_t count) {
  const float scale = scalar_of(operation.scalar0, partition);
  const float bias = scalar_of(operation.scalar1, partition);
  for (std::size_t i = 0; i < count; ++i) x[i] = x[i] * scale + bias;
  if (operation.function == Function::relu)
    for (std::size_t i = 0; i < count; ++i) x[i] = x[i] > 0.0F || x[i] != x[i] ? x[i] : 0.0F;
}

void compute(const TileOperation& operation, std::size_t p, OperationBuffers& buffers, std::size_t count) {
  float* const a = buffers.a.data();
  if (operation.opcode == Opcode::memset) {
    std::fill_n(a, count, operation.scalar0.immediate);
    return;
  }
  numeric::gather_row(operation.source0, p, a);
  switch (operation.opcode) {
    case Opcode::tensor_tensor:
      numeric::gather_row(operation.source1, p, buffers.b.data());
      return combine(operation.op0, a, buffers.b.data(), count);
    case Opcode::tensor_scalar:
      combine_scalar(operation.op0, a, scalar_of(operation.scalar0, p), count);
      return combine_scalar(operation.op1, a, scalar_of(operation.scalar1, p), count);
    case Opcode::activation:
      return activate(operation, p, a, count);
    default:  // tensor_copy: the cast alone
      return;
  }
}

}  // namespace

float apply(AluOp op, float a, float b) {
  float result = a;
  combine_scalar(op, &result, b, 1);
  return result;
}

void execute(const TileOperation& operation, OperationBuffers& buffers) {
  const std::size_t count = operation.destination.free_size();
  if (buffers.a.size() < count) buffers.a.resize(count);
  if (buffers.b.size() < count) buffers.b.resize(count);
  for (std::size_t p = 0; p < operation.destination.partitions; ++p) {
    if (operation.bit_exact) {
      copy_bytes(operation, p, buffers);
    } else if (operation.integer) {
      combine_integers(operation, p, buffers);
    } else {
      compute(operation, p, buffers, count);
      numeric::scatter_row(operation.destination, p, buffers.a.data());
    }
  }
}

}  // namespace tilevp::neuroncore
