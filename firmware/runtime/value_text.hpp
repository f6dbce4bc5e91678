#pragma once
// Values of tensors in messages.
#include <cstddef>
#include <string>
#include <string_view>

namespace tilevp::runtime {

// described::number_text, and "nan", "inf", "-inf".
std::string value_text(double value);

// What a warning says of `rounded` > 0 elements: "2 of 9 values rounded to fp16, 1 beyond it became infinite".
// `overflowed`: those of `rounded` that became infinite.
std::string rounding_text(std::size_t rounded, std::size_t overflowed, std::size_t size, std::string_view type);

}  // namespace tilevp::runtime
