#pragma once
// The inner loops of convert.hpp, one set an instruction set. Used by convert.cpp only.
//
// <cstddef> only, as in gemm_kernel.hpp and for its reason.
#include <cstddef>

namespace tilevp::numeric {

// As in convert.hpp.
struct RowConversions {
  using Load = void (*)(const std::byte* source, std::size_t count, std::ptrdiff_t stride, float* out);
  using Store = void (*)(const float* values, std::size_t count, std::byte* out, std::ptrdiff_t stride);
  Load widen_bf16;
  Load widen_fp16;
  Load load_fp32;
  Store narrow_bf16;
  Store narrow_fp16;
  Store store_fp32;
};

namespace baseline {
extern const RowConversions conversions;
}
namespace avx2 {
extern const RowConversions conversions;
}

}  // namespace tilevp::numeric
