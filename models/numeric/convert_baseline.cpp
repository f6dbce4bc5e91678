// Whatever every processor of the target has: SSE2 on x86-64.
#include "tilevp/numeric/rounding.hpp"
#include "tilevp/numeric/row_conversions.hpp"

namespace tilevp::numeric::baseline {
namespace {

#include "tilevp/numeric/convert_rows.inc"

}  // namespace

const RowConversions conversions{widen_bf16, widen_fp16, load_fp32, narrow_bf16, narrow_fp16, store_fp32};

}  // namespace tilevp::numeric::baseline
