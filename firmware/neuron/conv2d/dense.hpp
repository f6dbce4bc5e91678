#pragma once
// The dense convolutions: every filter sees every channel of every image.
#include <memory>
#include <string>

#include "tilevp/neuron/conv2d/convolution.hpp"
#include "tilevp/neuron/transposition.hpp"

namespace tilevp::neuron::conv2d {

// Why a problem is not dense; empty: it is.
std::string dense_refusal(const Problem& problem);

// The report's `transposes`.
boost::json::object transpose_figures(const TranspositionWork& work);

// `request.variant` says how it is cut.
std::unique_ptr<Convolution> make_dense(const PlanRequest& request, const Machine& machine);

}  // namespace tilevp::neuron::conv2d
