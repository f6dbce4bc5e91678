#pragma once
// Operands of a program: from a file, or random.
#include <string>
#include <vector>

#include "tilevp/pto/element.hpp"
#include "tilevp/runtime/random_values.hpp"

namespace tilevp::pto {

// A file's tensor with one row where it has one axis. `axes` for messages: "K,N"; one axis less may be given where
// `axes` begins with "1,". Values are rounded to the type, with a warning; UserError(option) where one has no number
// near it or the shape is another.
Matrix file_matrix(const std::string& option, const std::string& file, const std::string& axes, cube::DataType type,
                   std::vector<std::string>& warnings);

// Whole numbers from -4 to 4 (0 to 4 for unsigned types, quarters of them for E1M2X2), or nearly normal ones, for
// integer types spread over an eighth of their range.
Matrix random_matrix(runtime::RandomKind kind, cube::DataType type, std::size_t rows, std::size_t columns,
                     std::uint64_t seed, const std::string& name);

}  // namespace tilevp::pto
