#pragma once
// The options of neuron/conv2d and what they ask for.
#include <string>
#include <vector>

#include "tilevp/neuron/conv2d/plan.hpp"
#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron::conv2d {

std::vector<runtime::OptionDescription> option_descriptions();

struct Request {
  PlanRequest plan{};
  std::vector<std::byte> image{};   // plan.dtype, in the image layout
  std::vector<std::byte> filter{};  // plan.dtype, C, Hf, Wf, O
  std::string output_file{};        // empty: none
  std::vector<std::string> warnings{};
};

// Reads the options and files. UserError names the option, what was expected and what was found. Without `values` the
// tensors of random problems are left empty (`describe` needs none).
Request read_request(const runtime::OptionValues& options, std::uint64_t seed, bool values);

}  // namespace tilevp::neuron::conv2d
