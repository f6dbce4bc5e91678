#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "tilevp/neuron/matmul/plan.hpp"

namespace tilevp::neuron::matmul {

// out[m][n] on the host, from the operands as the machine gets them. In fp32 and the machine's order (128 terms from
// +0, then one addition into PSUM), or in double rounded at the end.
std::vector<float> reference_in_order(const Plan& plan, std::span<const std::byte> lhs_t,
                                      std::span<const std::byte> rhs);
std::vector<float> reference_in_double(const Plan& plan, std::span<const std::byte> lhs_t,
                                       std::span<const std::byte> rhs);

}  // namespace tilevp::neuron::matmul
