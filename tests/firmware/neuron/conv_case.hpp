#pragma once
// One convolution through plan, kernel, scheduler and the reference machine, against the definition.
#include <cstdint>
#include <functional>
#include <string>

#include "support/naive_conv.hpp"
#include "tilevp/neuron/conv2d/variants.hpp"
#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {

struct ConvCase {
  ConvShape shape{};
  neuron::conv2d::Variant variant = neuron::conv2d::Variant::standard;
  neuron::conv2d::Layouts layouts{};
  numeric::DType dtype = numeric::DType::bf16;
  neuron::Machine machine{};
  std::uint64_t seed = 1;
  std::string text() const;
  neuron::conv2d::PlanRequest request() const;
};

neuron::conv2d::Plan plan_of(const ConvCase& test_case);

struct ConvOutcome {
  std::uint64_t wrong = 0;  // elements that differ from the definition
  std::uint64_t matmuls = 0, macs = 0, pe_cycles = 0;
  std::uint64_t image_bytes = 0, filter_bytes = 0, local_bytes = 0;  // by the queues' counters
  std::uint64_t transposes = 0;
  neuron::conv2d::Prediction predicted{};
  boost::json::object figures{};  // of the variant
};

// By any convolution whose tensors lie as the case says.
ConvOutcome run_case(const ConvCase& test_case, neuron::conv2d::Convolution& convolution,
                     const std::function<void(neuron::Schedule&)>& change = {});
// The variant by its name instead of `test_case.variant`.
ConvOutcome run_case(const ConvCase& test_case, std::string_view variant,
                     const std::function<void(neuron::Schedule&)>& change = {});
// `change` may spoil the schedule before it runs. MachineError as ReferenceMachine::run.
ConvOutcome run_case(const ConvCase& test_case, const std::function<void(neuron::Schedule&)>& change = {});

}  // namespace tilevp::test
