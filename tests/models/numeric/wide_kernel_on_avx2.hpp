#pragma once
#include "tilevp/numeric/gemm_kernel.hpp"

namespace tilevp::numeric::wide_on_avx2 {
extern const GemmKernel kernel;
}
