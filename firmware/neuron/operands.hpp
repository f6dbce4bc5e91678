#pragma once
// Input tensors of a program: from a file, or random.
#include <cstdint>
#include <string>
#include <vector>

#include "tilevp/numeric/dtype.hpp"
#include "tilevp/runtime/tensor.hpp"

namespace tilevp::neuron {

// integers: whole numbers from -4 to 4, whose sums of products are exact in fp32 up to a million terms. normal: nearly
// normal with mean 0 and variance 1 (the sum of twelve uniform numbers less 6).
enum class RandomKind : std::uint8_t { integers, normal };

// UserError(`where`) for another text.
RandomKind parse_random(const std::string& where, const std::string& text);

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
