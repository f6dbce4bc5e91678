#pragma once
// What a product should be, computed on the host in the machine's order, independently of its model.
#include "tilevp/pto/element.hpp"
#include "tilevp/pto/matmul/plan.hpp"

namespace tilevp::pto::matmul {

// How the machine sums, as its registers say.
enum class Sum : std::uint8_t { two_roundings = 0, fused = 1 };

// D with k increasing: from zero, or from the bias where the plan starts from it. `bias`: null, or 1 x N of the
// accumulator's type.
Matrix reference_in_order(const Plan& plan, const Matrix& a, const Matrix& b, const Matrix* bias, Sum sum);
// Sums in double, rounded once; without post-processing.
std::vector<float> reference_in_double(const Matrix& a, const Matrix& b, const Matrix* bias);

}  // namespace tilevp::pto::matmul
