#pragma once
// The convolution kernel: follows a plan and writes the trace.
#include <cstdint>

#include "tilevp/neuron/conv2d/plan.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron::conv2d {

// Where the tensors lie in HBM. Image and filter of plan.dtype in the plan's layouts (filter: C, Hf, Wf, O), the output
// fp32. `zeros`: zero_elements(plan) elements of plan.dtype that are 0; rows outside the image are copied from there.
struct Addresses {
  std::uint64_t image = 0;
  std::uint64_t filter = 0;
  std::uint64_t output = 0;
  std::uint64_t zeros = 0;
};

std::int64_t zero_elements(const Plan& plan);

// Appends the convolution to the kernel's trace. UserError where the plan does not fit SBUF, with who holds what.
void emit(Kernel& kernel, const Plan& plan, const Addresses& addresses);

}  // namespace tilevp::neuron::conv2d
