#include "tilevp/numeric/convert.hpp"

#include <bit>
#include <cstring>

namespace tilevp::numeric {
namespace {

static_assert(std::endian::native == std::endian::little, "tile memories are little-endian");

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void store(T value, std::byte* at) {
  std::memcpy(at, &value, sizeof(T));
}

template <typename T>
std::ptrdiff_t offset(std::size_t index, std::ptrdiff_t stride) {
  return static_cast<std::ptrdiff_t>(index) * stride * static_cast<std::ptrdiff_t>(sizeof(T));
}

// Calls body(index, byte offset); unit stride gets a loop of its own, which is what makes it vectorise.
template <typename T, typename Body>
void for_elements(std::size_t count, std::ptrdiff_t stride, const Body& body) {
  if (stride == 1) {
    for (std::size_t i = 0; i < count; ++i) body(i, offset<T>(i, 1));
  } else {
    for (std::size_t i = 0; i < count; ++i) body(i, offset<T>(i, stride));
  }
}

// Sixteen-bit elements. Stride 2 (every other column: a convolution of stride 2) loads pairs and keeps the low, even
// one; the last element is loaded alone, for its partner may lie beyond the row.
template <typename Widen>
void widen_rows(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out, const Widen& widen) {
  if (stride == 2 && count > 0) {
    for (std::size_t i = 0; i + 1 < count; ++i) out[i] = widen(load<std::uint32_t>(source + 4 * i) & 0xffffU);
    out[count - 1] = widen(load<std::uint16_t>(source + 4 * (count - 1)));
    return;
  }
  for_elements<std::uint16_t>(count, stride, [&](std::size_t i, std::ptrdiff_t at) {
    out[i] = widen(std::uint32_t{load<std::uint16_t>(source + at)});
  });
}

// Both values are computed and a mask chooses: a conditional expression around float arithmetic becomes a branch, which
// keeps gcc from vectorising the loop (-ftrapping-math).
std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

// The fraction and exponent moved to their fp32 places make a number 2^112 too small, subnormals included; the product
// is exact. Infinity and NaN then get the exponent of their kind.
float widen_one_fp16(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fff;
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * 0x1p112F);
  return std::bit_cast<float>(scaled | select(magnitude >= 0x7c00, 0x7f800000, 0) | ((bits & 0x8000) << 16));
}

std::uint16_t narrow_one_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<std::uint16_t>(select((bits & 0x7fffffff) > 0x7f800000, canonical_nan_bf16, rounded));
}

std::uint16_t narrow_one_fp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  // Normal result: rebias the exponent by 112, round away the low 13 bits.
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Below 2^-14 the result is a multiple of 2^-24, the last place of a float in [0.5, 1): adding 0.5 rounds to it.
  const float shifted = std::bit_cast<float>(select(magnitude < 0x38800000, magnitude, 0)) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000;
  std::uint32_t result = select(magnitude < 0x38800000, subnormal, normal);
  result = select(magnitude >= 0x477ff000, 0x7c00, result);  // 65520, the middle between 65504 and 2^16, and above
  result |= (bits >> 16) & 0x8000;
  return static_cast<std::uint16_t>(select(magnitude > 0x7f800000, canonical_nan_fp16, result));
}

}  // namespace

void widen_bf16(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  widen_rows(source, count, stride, out, [](std::uint32_t bits) { return std::bit_cast<float>(bits << 16); });
}

void widen_fp16(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  widen_rows(source, count, stride, out, [](std::uint32_t bits) { return widen_one_fp16(bits); });
}

void load_fp32(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  if (stride == 1) {
    if (count > 0) std::memcpy(out, source, count * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = load<float>(source + offset<float>(i, stride));
}

void narrow_bf16(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride) {
  for_elements<std::uint16_t>(count, stride,
                              [&](std::size_t i, std::ptrdiff_t at) { store(narrow_one_bf16(values[i]), out + at); });
}

void narrow_fp16(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride) {
  for_elements<std::uint16_t>(count, stride,
                              [&](std::size_t i, std::ptrdiff_t at) { store(narrow_one_fp16(values[i]), out + at); });
}

void store_fp32(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride) {
  for_elements<float>(count, stride, [&](std::size_t i, std::ptrdiff_t at) { store(canonical(values[i]), out + at); });
}

}  // namespace tilevp::numeric
