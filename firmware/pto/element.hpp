#pragma once
// Elements of the tile types as numbers: what a program converts on its way into memory and out of it.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilevp/cube/isa.hpp"
#include "tilevp/runtime/tensor.hpp"

namespace tilevp::pto {

// "fp16", "s4x2", ...: a type as options name it, upper or lower case; int8 and uint8 too. UserError(where).
cube::DataType parse_type(const std::string& where, const std::string& text);

// A value rounded to nearest even; what lies beyond a type with infinity becomes infinite (of HiF8 as soon as it
// exceeds the largest number). Nothing where the type holds no number near it: beyond the largest finite number of a
// type without infinity, no whole number or out of range for integers, NaN where there is none.
std::optional<std::uint32_t> encode(cube::DataType type, double value);
double decode(cube::DataType type, std::uint32_t code);

// A matrix as it lies in memory: rows of whole bytes, each of `row_bytes`.
struct Matrix {
  cube::DataType type = cube::DataType::fp32;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::byte> bytes{};

  Matrix() = default;
  // Zeros.
  Matrix(cube::DataType element, std::size_t row_count, std::size_t column_count);
  std::uint64_t row_bytes() const { return (std::uint64_t{columns} * bits(type) + 7) / 8; }
  void put(std::size_t row, std::size_t column, std::uint32_t code);
  std::uint32_t code(std::size_t row, std::size_t column) const;
  double value(std::size_t row, std::size_t column) const { return decode(type, code(row, column)); }
};

// The elements as a tensor of the numpy type that holds them: f4 for floats of other widths than 16, f2, or integers.
runtime::Tensor tensor_of(const Matrix& matrix, std::vector<std::size_t> shape);

}  // namespace tilevp::pto
