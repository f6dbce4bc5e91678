#pragma once
// The options of neuron/conv2d and what they ask for.
#include <string>
#include <vector>

#include "tilevp/neuron/conv2d/plan.hpp"
#include "tilevp/neuron/conv2d/variants.hpp"
#include "tilevp/neuron/operands.hpp"
#include "tilevp/runtime/program.hpp"

namespace tilevp::neuron::conv2d {

std::vector<runtime::OptionDescription> option_descriptions();

struct Request {
  PlanRequest plan{};
  const VariantInfo* variant = nullptr;  // chosen; not null after read_request()
  std::vector<std::byte> image{};        // plan.dtype, in plan.layouts.image
  std::vector<std::byte> filter{};       // plan.dtype, in plan.layouts.filter
  std::string output_file{};             // empty: none
  std::vector<std::string> warnings{};
  RandomKind random = RandomKind::integers;

  std::uint64_t image_bytes() const;
  std::uint64_t filter_bytes() const;
  // Makes the tensors of a random problem; those of files stay.
  void draw(std::uint64_t seed);
};

// Reads the options and files; the tensors of random problems are left empty. UserError names the option, what was
// expected and what was found.
Request read_request(const runtime::OptionValues& options);

}  // namespace tilevp::neuron::conv2d
