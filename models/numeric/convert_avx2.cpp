// 256-bit vectors.
#include "tilevp/numeric/rounding.hpp"
#include "tilevp/numeric/row_conversions.hpp"

// NOLINTBEGIN(clang-diagnostic-unknown-pragmas): gcc's, and gcc compiles it
#pragma GCC push_options
#pragma GCC target("avx2")
namespace tilevp::numeric::avx2 {
namespace {

#include "tilevp/numeric/convert_rows.inc"

}  // namespace

const RowConversions conversions{widen_bf16, widen_fp16, load_fp32, narrow_bf16, narrow_fp16, store_fp32};

}  // namespace tilevp::numeric::avx2

#pragma GCC pop_options
// NOLINTEND(clang-diagnostic-unknown-pragmas)
