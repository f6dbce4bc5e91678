#include "tilevp/cube/element.hpp"

#include <bit>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/convert.hpp"

namespace tilevp::cube {

using numeric::FloatFormat;

namespace {

// out[i] = decode_code(code i); a loop a width, for the compiler to vectorise.
template <typename Element, typename Out, typename DecodeCode>
void decode_each(const std::byte* codes, std::size_t count, Out* out, const DecodeCode& decode_code) {
  for (std::size_t i = 0; i < count; ++i) {
    Element code;
    std::memcpy(&code, codes + i * sizeof(Element), sizeof(Element));
    out[i] = decode_code(std::uint32_t{code});
  }
}

template <typename Out, typename DecodeCode>
void decode_nibbles(const std::byte* codes, std::size_t count, Out* out, const DecodeCode& decode_code) {
  for (std::size_t i = 0; i < count / 2; ++i) {
    const auto pair = std::to_integer<std::uint32_t>(codes[i]);
    out[2 * i] = decode_code(pair & 0xf);
    out[2 * i + 1] = decode_code(pair >> 4);
  }
  if (count % 2 != 0) out[count - 1] = decode_code(std::to_integer<std::uint32_t>(codes[count / 2]) & 0xf);
}

template <typename Out, typename DecodeCode>
void decode_all(unsigned width, const std::byte* codes, std::size_t count, Out* out, const DecodeCode& decode_code) {
  switch (width) {
    case 4:
      return decode_nibbles(codes, count, out, decode_code);
    case 8:
      return decode_each<std::uint8_t>(codes, count, out, decode_code);
    case 16:
      return decode_each<std::uint16_t>(codes, count, out, decode_code);
    default:
      return decode_each<std::uint32_t>(codes, count, out, decode_code);
  }
}

}  // namespace

FloatFormat float_format(DataType type) {
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

float decode_float(DataType type, std::uint32_t code) { return numeric::decode(float_format(type), code); }

std::uint32_t decode_integer(DataType type, std::uint32_t code) {
  // Shifted up and back: the way back fills in zeros or copies of the sign.
  const unsigned unused = 32 - bits(type);
  const std::uint32_t top = code << unused;
  if (numeric_class(type) != NumericClass::signed_integer) return top >> unused;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(top) >> unused);
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
  const FloatFormat format = float_format(type);
  if (type == DataType::tf32 || type == DataType::hf32) {
    const std::uint32_t kept = type == DataType::tf32 ? ~0x1fffU : ~0xfffU;
    decode_all(32, codes, count, out, [=](std::uint32_t code) { return std::bit_cast<float>(code & kept); });
    return;
  }
  const float* values = numeric::decoded(format).data();
  decode_all(bits(type), codes, count, out, [=](std::uint32_t code) { return values[code]; });
}

void decode_integers(DataType type, const std::byte* codes, std::size_t count, std::uint32_t* out) {
  const unsigned unused = 32 - bits(type);
  if (numeric_class(type) == NumericClass::signed_integer)
    decode_all(bits(type), codes, count, out, [=](std::uint32_t code) {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(code << unused) >> unused);
    });
  else
    decode_all(bits(type), codes, count, out, [](std::uint32_t code) { return code; });
}

}  // namespace tilevp::cube
