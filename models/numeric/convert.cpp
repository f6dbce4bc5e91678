#include "tilevp/numeric/convert.hpp"

#include "tilevp/numeric/row_conversions.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::numeric {
namespace {

const RowConversions& conversions() {
#ifdef TILEVP_X86_KERNELS
  if (simd_level() >= SimdLevel::avx2) return avx2::conversions;
#endif
  return baseline::conversions;
}

}  // namespace

void widen_bf16(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  conversions().widen_bf16(source, count, stride, out);
}

void widen_fp16(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  conversions().widen_fp16(source, count, stride, out);
}

void load_fp32(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out) {
  conversions().load_fp32(source, count, stride, out);
}

void narrow_bf16(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride) {
  conversions().narrow_bf16(values, count, out, stride);
}

void narrow_fp16(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride) {
  conversions().narrow_fp16(values, count, out, stride);
}

void store_fp32(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride) {
  conversions().store_fp32(values, count, out, stride);
}

}  // namespace tilevp::numeric
