#include "tilevp/pto/operand.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tilevp/base/errors.hpp"
#include "tilevp/runtime/npy.hpp"
#include "tilevp/runtime/value_text.hpp"

namespace tilevp::pto {
namespace {

constexpr double e1m2_divisor = 4;

double in_range(cube::DataType type, runtime::RandomKind kind, double value) {
  const auto number_class = numeric_class(type);
  if (number_class == cube::NumericClass::floating)
    return type == cube::DataType::e1m2x2 ? value / e1m2_divisor : value;
  const bool has_sign = number_class == cube::NumericClass::signed_integer;
  if (kind == runtime::RandomKind::integers) return has_sign ? value : std::abs(value);
  const double half = std::ldexp(1.0, static_cast<int>(bits(type)) - 1);
  const double spread = std::trunc(value * half / 8);
  return has_sign ? std::clamp(spread, -half, half - 1) : std::clamp(spread + half, 0.0, 2 * half - 1);
}

}  // namespace

Matrix file_matrix(const std::string& option, const std::string& file, const std::string& axes, cube::DataType type,
                   std::vector<std::string>& warnings) {
  const runtime::Tensor tensor = runtime::read_npy(file);
  const bool one_row = tensor.shape.size() == 1 && axes.starts_with("1,");
  if (!one_row && tensor.shape.size() != 2)
    throw UserError(option, file + ": expected axes " + axes + ", found shape " + runtime::shape_text(tensor.shape));
  const std::size_t rows = one_row ? 1 : tensor.shape[0];
  const std::size_t columns = tensor.shape.back();
  if (rows == 0 || columns == 0)
    throw UserError(option, file + ": expected no axis of length 0, found shape " + runtime::shape_text(tensor.shape));
  if (axes.starts_with("1,") && rows != 1)
    throw UserError(option,
                    file + ": expected one row (axes " + axes + "), found shape " + runtime::shape_text(tensor.shape));
  Matrix matrix(type, rows, columns);
  std::size_t rounded = 0;
  std::size_t overflowed = 0;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.value(i);
    const auto code = encode(type, value);
    if (!code)
      throw UserError(option, file + ": element " + runtime::index_text(runtime::index_of(tensor.shape, i)) + " is " +
                                  runtime::value_text(value) + ", which " + std::string(name(type)) + " does not hold");
    if (const double held = decode(type, *code); held != value && !std::isnan(value)) {
      ++rounded;
      if (std::isinf(held)) ++overflowed;
    }
    matrix.put(i / columns, i % columns, *code);
  }
  if (rounded > 0)
    warnings.push_back(file + ": " + runtime::rounding_text(rounded, overflowed, tensor.size(), name(type)));
  return matrix;
}

Matrix random_matrix(runtime::RandomKind kind, cube::DataType type, std::size_t rows, std::size_t columns,
                     std::uint64_t seed, const std::string& name) {
  runtime::RandomValues values(kind, seed, name);
  // Where the type ends before the value: zero.
  const auto code_of = [&](double value) { return encode(type, in_range(type, kind, value)).value_or(0); };
  constexpr int largest = 4;
  std::array<std::uint32_t, 2 * largest + 1> codes{};  // of the whole numbers
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = code_of(static_cast<double>(i) - largest);
  Matrix matrix(type, rows, columns);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      const float value = values.next();
      matrix.put(
          row, column,
          kind == runtime::RandomKind::integers ? codes[static_cast<std::size_t>(value + largest)] : code_of(value));
    }
  return matrix;
}

}  // namespace tilevp::pto
