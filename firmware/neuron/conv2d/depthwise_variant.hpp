#pragma once
// The depthwise kernels as variants of the convolution.
#include <memory>
#include <string>

#include "tilevp/neuron/conv2d/convolution.hpp"
#include "tilevp/neuron/conv2d/depthwise.hpp"

namespace tilevp::neuron::conv2d {

DepthwiseRequest depthwise_request(const PlanRequest& request, DepthwiseKind kind);
std::unique_ptr<Convolution> make_depthwise(const PlanRequest& request, DepthwiseKind kind, const Machine& machine);

}  // namespace tilevp::neuron::conv2d
