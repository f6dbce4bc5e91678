#pragma once
// Conversions of whole rows, built for the compiler to vectorise: the same values as rounding.hpp gives one at a time.
//
// Sources and destinations are raw bytes of tile memories, little-endian, of any alignment. A stride counts elements of
// the type and may be zero or negative. Source and destination must not overlap.
#include <cstddef>

#include "tilevp/numeric/rounding.hpp"

namespace tilevp::numeric {

// out[i] = element i * stride, for i < count. Exact; NaN keep their payload.
void widen_bf16(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out);
void widen_fp16(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out);
void load_fp32(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out);

// Element i * stride = values[i] rounded to nearest, ties to even; overflow to infinity; NaN canonical.
void narrow_bf16(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride);
void narrow_fp16(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride);
// Element i * stride = values[i], NaN canonical.
void store_fp32(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride);

}  // namespace tilevp::numeric
