#pragma once
// One bf16 convolution on any host, put together from the firmware's parts, so that a test can spoil the schedule and
// knows where everything lies.
#include <cstdint>
#include <functional>
#include <vector>

#include "system/conv_run.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/scheduler.hpp"
#include "tilevp/runtime/host.hpp"

namespace tilevp::test {

struct KernelOutcome {
  neuron::conv2d::Addresses addresses{};
  neuron::Schedule schedule{};
  neuron::conv2d::Prediction predicted{};
  std::uint64_t zero_bytes = 0;  // at addresses.zeros
  // By the counters of the DMA queues.
  std::uint64_t image_bytes = 0, filter_bytes = 0, output_bytes = 0;
  std::vector<float> output;  // in the run's output layout

  std::uint64_t descriptors() const;
};

// `change` may spoil the schedule before it runs.
KernelOutcome run_kernel(runtime::Host& host, const ConvRun& run,
                         const std::function<void(neuron::Schedule&)>& change = {});

}  // namespace tilevp::test
