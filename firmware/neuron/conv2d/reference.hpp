#pragma once
// The same convolution on the host, by plain loops.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tilevp/neuron/conv2d/plan.hpp"

namespace tilevp::neuron::conv2d {

// `image` and `filter` as the program gives them to the machine: plan.dtype, in the plan's layouts. The result is in
// the plan's output layout.
//
// In fp32 and in the machine's order of accumulation (inside a matmul over the partitions, then over the filter
// columns, then over outer and channel tiles; products and sums rounded each), so every bit is the machine's.
std::vector<float> reference_in_order(const Plan& plan, std::span<const std::byte> image,
                                      std::span<const std::byte> filter);
// In double precision, rounded to fp32 at the end: what the sum should be, whatever the order.
std::vector<float> reference_in_double(const Plan& plan, std::span<const std::byte> image,
                                       std::span<const std::byte> filter);

}  // namespace tilevp::neuron::conv2d
