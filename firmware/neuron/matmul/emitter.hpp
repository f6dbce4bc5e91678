#pragma once
#include <cstdint>

#include "tilevp/neuron/kernel.hpp"
#include "tilevp/neuron/matmul/plan.hpp"

namespace tilevp::neuron::matmul {

// In HBM: lhs_t [K, M] and rhs [K, N] of plan.dtype, out [M, N] fp32.
struct Addresses {
  std::uint64_t lhs_t = 0;
  std::uint64_t rhs = 0;
  std::uint64_t out = 0;
};

// Appends the product to the kernel's trace. UserError where the plan does not fit SBUF.
void emit(Kernel& kernel, const Plan& plan, const Addresses& addresses);

}  // namespace tilevp::neuron::matmul
