#pragma once
// Element types of tiles and tensors, and how their bytes become fp32 and back.
//
// The vector and scalar engines compute in fp32 whatever the operands are: "cast to fp32, compute, cast to the output
// type" (AWS Neuron documentation, Trainium/Inferentia2 architecture guide).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tilevp/numeric/rounding.hpp"

namespace tilevp::numeric {

enum class DType : std::uint8_t { fp32, bf16, fp16, int32, int16, int8, uint8 };

inline constexpr DType all_dtypes[] = {DType::fp32,  DType::bf16, DType::fp16, DType::int32,
                                       DType::int16, DType::int8, DType::uint8};

constexpr std::size_t size_bytes(DType dtype) {
  switch (dtype) {
    case DType::fp32:
    case DType::int32:
      return 4;
    case DType::bf16:
    case DType::fp16:
    case DType::int16:
      return 2;
    case DType::int8:
    case DType::uint8:
      return 1;
  }
  return 0;
}

constexpr bool is_float(DType dtype) { return dtype == DType::fp32 || dtype == DType::bf16 || dtype == DType::fp16; }

// "fp32", "bf16", ...
std::string_view name(DType dtype);

// The inverse of name(). Throws UserError with the known names.
DType parse_dtype(std::string_view text);

// out[i] = element i * stride_elements of `source` as fp32, i < count. Exact, but for int32 beyond 2^24, which rounds
// to nearest even. Any alignment; the stride may be zero or negative. Source and out must not overlap.
void load_as_fp32(DType dtype, const std::byte* source, std::size_t count, std::ptrdiff_t stride_elements, float* out);

// Element i * stride_elements of `out` = values[i] rounded. NaN become the canonical NaN; overflow as Overflow::ieee.
// Integers: rounded to an integer by `rounding`, then clamped to the type's range; NaN gives 0.
void store_from_fp32(DType dtype, const float* values, std::size_t count, std::byte* out,
                     std::ptrdiff_t stride_elements, Rounding rounding = Rounding::rne);

// One element.
float load_element(DType dtype, const std::byte* source);
void store_element(DType dtype, float value, std::byte* out, Rounding rounding = Rounding::rne);

}  // namespace tilevp::numeric
