#include "tilevp/numeric/dtype.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/convert.hpp"

namespace tilevp::numeric {
namespace {

template <typename T>
std::ptrdiff_t offset(std::size_t index, std::ptrdiff_t stride) {
  return static_cast<std::ptrdiff_t>(index) * stride * static_cast<std::ptrdiff_t>(sizeof(T));
}

template <typename Int>
void load_integers(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    Int value;
    std::memcpy(&value, source + offset<Int>(i, stride), sizeof(Int));
    out[i] = static_cast<float>(value);
  }
}

template <typename Int>
Int clamp_to_integer(float value, Rounding rounding) {
  if (value != value) return 0;
  const double rounded = to_integer(value, rounding);
  return static_cast<Int>(
      std::clamp<double>(rounded, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max()));
}

// Element i = convert(values[i]), of type T.
template <typename T, typename Convert>
void store_each(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride, const Convert& convert) {
  for (std::size_t i = 0; i < count; ++i) {
    const T element = convert(values[i]);
    std::memcpy(out + offset<T>(i, stride), &element, sizeof(T));
  }
}

template <typename Int>
void store_integers(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride, Rounding rounding) {
  store_each<Int>(values, count, out, stride, [=](float value) { return clamp_to_integer<Int>(value, rounding); });
}

constexpr std::string_view names[] = {"fp32", "bf16", "fp16", "int32", "int16", "int8", "uint8"};

}  // namespace

std::string_view name(DType dtype) { return names[static_cast<std::size_t>(dtype)]; }

DType parse_dtype(std::string_view text) {
  std::string known;
  for (const DType dtype : all_dtypes) {
    if (name(dtype) == text) return dtype;
    known += (known.empty() ? "" : ", ") + std::string(name(dtype));
  }
  throw UserError("", "unknown element type '" + std::string(text) + "', expected one of " + known);
}

void load_as_fp32(DType dtype, const std::byte* source, std::size_t count, std::ptrdiff_t stride_elements, float* out) {
  switch (dtype) {
    case DType::fp32:
      return load_fp32(source, count, stride_elements, out);
    case DType::bf16:
      return widen_bf16(source, count, stride_elements, out);
    case DType::fp16:
      return widen_fp16(source, count, stride_elements, out);
    case DType::int32:
      return load_integers<std::int32_t>(source, count, stride_elements, out);
    case DType::int16:
      return load_integers<std::int16_t>(source, count, stride_elements, out);
    case DType::int8:
      return load_integers<std::int8_t>(source, count, stride_elements, out);
    case DType::uint8:
      return load_integers<std::uint8_t>(source, count, stride_elements, out);
  }
}

void store_from_fp32(DType dtype, const float* values, std::size_t count, std::byte* out,
                     std::ptrdiff_t stride_elements, Rounding rounding) {
  switch (dtype) {
    case DType::fp32:
      return store_fp32(values, count, out, stride_elements);
    case DType::bf16:
      if (rounding == Rounding::rne) return narrow_bf16(values, count, out, stride_elements);
      return store_each<std::uint16_t>(values, count, out, stride_elements,
                                       [=](float value) { return to_bf16(value, rounding); });
    case DType::fp16:
      if (rounding == Rounding::rne) return narrow_fp16(values, count, out, stride_elements);
      return store_each<std::uint16_t>(values, count, out, stride_elements,
                                       [=](float value) { return to_fp16(value, rounding); });
    case DType::int32:
      return store_integers<std::int32_t>(values, count, out, stride_elements, rounding);
    case DType::int16:
      return store_integers<std::int16_t>(values, count, out, stride_elements, rounding);
    case DType::int8:
      return store_integers<std::int8_t>(values, count, out, stride_elements, rounding);
    case DType::uint8:
      return store_integers<std::uint8_t>(values, count, out, stride_elements, rounding);
  }
}

float load_element(DType dtype, const std::byte* source) {
  float value = 0;
  load_as_fp32(dtype, source, 1, 1, &value);
  return value;
}

void store_element(DType dtype, float value, std::byte* out, Rounding rounding) {
  store_from_fp32(dtype, &value, 1, out, 1, rounding);
}

}  // namespace tilevp::numeric
