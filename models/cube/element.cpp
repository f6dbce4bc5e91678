#include "tilevp/cube/element.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/convert.hpp"
#include "tilevp/numeric/narrow_float.hpp"

namespace tilevp::cube {
namespace {

using numeric::FloatFormat;

FloatFormat format_of(DataType type) {
  switch (type) {
    case DataType::fp32:
      return FloatFormat::fp32;
    case DataType::tf32:
      return FloatFormat::tf32;
    case DataType::hf32:
      return FloatFormat::hf32;
    case DataType::fp16:
      return FloatFormat::fp16;
    case DataType::bf16:
      return FloatFormat::bf16;
    case DataType::hif8:
      return FloatFormat::hif8;
    case DataType::e4m3:
      return FloatFormat::e4m3;
    case DataType::e5m2:
      return FloatFormat::e5m2;
    case DataType::e3m2:
      return FloatFormat::e3m2;
    case DataType::e2m3:
      return FloatFormat::e2m3;
    case DataType::e2m1x2:
      return FloatFormat::e2m1;
    case DataType::e1m2x2:
      return FloatFormat::e1m2;
    default:
      throw Defect("no float to decode: " + std::string(name(type)));
  }
}

}  // namespace

float decode_float(DataType type, std::uint32_t code) { return numeric::decode(format_of(type), code); }

std::uint32_t decode_integer(DataType type, std::uint32_t code) {
  const unsigned width = bits(type);
  const std::uint32_t kept = width == 32 ? code : code & ((1U << width) - 1);
  if (numeric_class(type) == NumericClass::signed_integer && width < 32 && (kept >> (width - 1) & 1) != 0)
    return kept | ~std::uint32_t{0} << width;
  return kept;
}

void decode_floats(DataType type, const std::byte* codes, std::size_t count, float* out) {
  switch (type) {
    case DataType::fp32:
      numeric::load_fp32(codes, count, 1, out);
      return;
    case DataType::fp16:
      numeric::widen_fp16(codes, count, 1, out);
      return;
    case DataType::bf16:
      numeric::widen_bf16(codes, count, 1, out);
      return;
    default:
      break;
  }
  const FloatFormat format = format_of(type);
  const unsigned width = bits(type);
  if (width == 32) {
    for (std::size_t i = 0; i < count; ++i) out[i] = numeric::decode(format, load_code(codes, width, i));
    return;
  }
  const std::span<const float, 256> values = numeric::decoded(format);
  for (std::size_t i = 0; i < count; ++i) out[i] = values[load_code(codes, width, i)];
}

void decode_integers(DataType type, const std::byte* codes, std::size_t count, std::uint32_t* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = decode_integer(type, load_code(codes, bits(type), i));
}

}  // namespace tilevp::cube
