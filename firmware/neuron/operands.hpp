#pragma once
// Input tensors of a program: from a file, or random.
#include <cstdint>
#include <string>
#include <vector>

#include "tilevp/numeric/dtype.hpp"
#include "tilevp/runtime/random_values.hpp"
#include "tilevp/runtime/tensor.hpp"

namespace tilevp::neuron {

using runtime::parse_random;
using runtime::RandomKind;

// One of the element types the PE array takes here: bf16, fp16, fp32. UserError(`--dtype`) else.
numeric::DType parse_matmul_dtype(const std::string& text);

// `elements` numbers as the machine holds them. The same for a seed and name on every host.
std::vector<std::byte> random_operand(RandomKind kind, numeric::DType dtype, std::size_t elements, std::uint64_t seed,
                                      const std::string& name);

// A file's tensor as the machine holds it; `axes` for messages: "C,H,W,N". UserError where the file has another rank.
// Appends to `warnings` when values had to be rounded to the type.
struct FileOperand {
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};
FileOperand file_operand(const std::string& option, const std::string& file, const std::string& axes,
                         numeric::DType dtype, std::vector<std::string>& warnings);

}  // namespace tilevp::neuron
