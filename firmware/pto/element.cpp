#include "tilevp/pto/element.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/element.hpp"
#include "tilevp/numeric/narrow_float.hpp"

namespace tilevp::pto {

using cube::DataType;

namespace {

unsigned code_bits(DataType type) {
  if (type == DataType::e3m2 || type == DataType::e2m3) return 6;
  return cube::bits(type);
}

// From here on E5M2 rounds to infinity: halfway between its largest number and the one that would come next.
constexpr double e5m2_infinite = 61440;

// Of a float of at most eight bits: the code of the nearest number, of two equally near ones the even code.
std::optional<std::uint32_t> nearest_code(DataType type, double value) {
  const auto values = numeric::decoded(cube::float_format(type));
  std::optional<std::uint32_t> best;
  double distance = 0;
  double largest = 0;
  for (std::uint32_t code = 0; code < 1U << code_bits(type); ++code) {
    const double number = values[code];
    if (!std::isfinite(number)) continue;
    largest = std::max(largest, number);
    const double away = std::abs(number - value);
    if (!best || away < distance || (away == distance && code % 2 == 0 && *best % 2 == 1)) {
      best = code;
      distance = away;
    }
  }
  const bool in_range = type == DataType::e5m2 ? std::abs(value) < e5m2_infinite : std::abs(value) <= largest;
  return in_range ? best : std::nullopt;
}

// Of a float of at most eight bits: the code of NaN, or of the infinity of this sign, where the type has it.
std::optional<std::uint32_t> special_code(DataType type, double value) {
  const bool negative = std::signbit(value);
  switch (type) {
    case DataType::hif8:
      return std::isnan(value) ? 0x80 : negative ? 0xef : 0x6f;
    case DataType::e5m2:
      return std::isnan(value) ? 0x7e : negative ? 0xfc : 0x7c;
    case DataType::e4m3:
      return std::isnan(value) ? std::optional<std::uint32_t>(0x7f) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> integer_code(DataType type, double value) {
  const bool has_sign = numeric_class(type) == cube::NumericClass::signed_integer;
  const unsigned width = cube::bits(type);
  const double low = has_sign ? -std::ldexp(1.0, static_cast<int>(width) - 1) : 0;
  const double high = std::ldexp(1.0, static_cast<int>(width) - (has_sign ? 1 : 0)) - 1;
  if (!(value >= low && value <= high) || std::trunc(value) != value) return {};
  const auto code = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  return width == 32 ? code : code & ((1U << width) - 1);
}

// 11 bits of fraction, ties to even.
std::uint32_t to_hf32(float value) {
  const auto code = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) return code & 0xffff'f000;
  return (code + 0x7ff + (code >> 12 & 1)) & 0xffff'f000;
}

runtime::Element element_of(DataType type) {
  switch (type) {
    case DataType::fp16:
      return runtime::Element::f2;
    case DataType::s32:
      return runtime::Element::i4;
    case DataType::u32:
      return runtime::Element::u4;
    case DataType::s16:
      return runtime::Element::i2;
    case DataType::u16:
      return runtime::Element::u2;
    case DataType::s8:
    case DataType::s4x2:
      return runtime::Element::i1;
    case DataType::u8:
    case DataType::u4x2:
      return runtime::Element::u1;
    default:
      return runtime::Element::f4;
  }
}

}  // namespace

DataType parse_type(const std::string& where, const std::string& text) {
  std::string upper = text;
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (upper == "INT8") return DataType::s8;
  if (upper == "UINT8") return DataType::u8;
  std::string known;
  for (unsigned code = 0; code <= 28; ++code) {
    if (!cube::is_assigned(code) || !cube::is_ordinary(static_cast<DataType>(code))) continue;
    const std::string name(cube::name(static_cast<DataType>(code)));
    if (name == upper) return static_cast<DataType>(code);
    known += (known.empty() ? "" : ", ") + name;
  }
  throw UserError(where, "expected one of " + known + ", found '" + text + "'");
}

std::optional<std::uint32_t> encode(DataType type, double value) {
  if (numeric_class(type) != cube::NumericClass::floating) return integer_code(type, value);
  const auto single = static_cast<float>(value);
  switch (type) {
    case DataType::fp32:
      return std::bit_cast<std::uint32_t>(single);
    case DataType::tf32:
      return std::bit_cast<std::uint32_t>(numeric::to_tf32(single));
    case DataType::hf32:
      return to_hf32(single);
    case DataType::fp16:
      return numeric::to_fp16(single);
    case DataType::bf16:
      return numeric::to_bf16(single);
    default:
      if (const auto code = std::isfinite(value) ? nearest_code(type, value) : std::nullopt) return code;
      return special_code(type, value);
  }
}

double decode(DataType type, std::uint32_t code) {
  switch (numeric_class(type)) {
    case cube::NumericClass::floating:
      return cube::decode_float(type, code);
    case cube::NumericClass::unsigned_integer:
      return code;
    default:
      return static_cast<std::int32_t>(cube::decode_integer(type, code));
  }
}

Matrix::Matrix(DataType element, std::size_t row_count, std::size_t column_count)
    : type(element), rows(row_count), columns(column_count) {
  bytes.resize(rows * row_bytes());
}

void Matrix::put(std::size_t row, std::size_t column, std::uint32_t code) {
  cube::store_code(bytes.data() + row * row_bytes(), bits(type), column, code);
}

std::uint32_t Matrix::code(std::size_t row, std::size_t column) const {
  return cube::load_code(bytes.data() + row * row_bytes(), bits(type), column);
}

runtime::Tensor tensor_of(const Matrix& matrix, std::vector<std::size_t> shape) {
  runtime::Tensor tensor;
  tensor.shape = std::move(shape);
  tensor.element = element_of(matrix.type);
  const std::size_t size = runtime::size_bytes(tensor.element);
  tensor.data.resize(matrix.rows * matrix.columns * size);
  std::byte* out = tensor.data.data();
  const bool is_float = tensor.element == runtime::Element::f4;
  for (std::size_t row = 0; row < matrix.rows; ++row)
    for (std::size_t column = 0; column < matrix.columns; ++column, out += size) {
      const std::uint32_t code = matrix.code(row, column);
      std::uint32_t value = code;
      if (is_float)
        value = std::bit_cast<std::uint32_t>(static_cast<float>(decode(matrix.type, code)));
      else if (matrix.type == DataType::s4x2)
        value = static_cast<std::uint32_t>(static_cast<std::int32_t>(decode(matrix.type, code)));
      std::memcpy(out, &value, size);
    }
  return tensor;
}

}  // namespace tilevp::pto
