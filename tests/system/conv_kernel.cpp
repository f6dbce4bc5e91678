#include "system/conv_kernel.hpp"

#include <bit>
#include <span>

#include "tilevp/neuron/driver.hpp"

namespace tilevp::test {
namespace {

using neuron::QueueClass;

// Small integers lose nothing: bf16 is the upper half of fp32.
std::vector<std::uint16_t> as_bf16(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves;
  halves.reserve(values.size());
  for (const float value : values)
    halves.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
  return halves;
}

neuron::conv2d::PlanRequest request_of(const ConvRun& run) {
  using namespace neuron::conv2d;
  const ConvShape& s = run.shape;
  return {{s.N, s.C, s.H, s.W, s.O, s.Hf, s.Wf, s.sh, s.sw, s.pt, s.pb, s.pl, s.pr, s.dh, s.dw},
          numeric::DType::bf16,
          {.image = parse_image_layout("image", run.image_layout),
           .filter = parse_filter_layout("filter", run.filter_layout),
           .output = parse_output_layout("output", run.output_layout)},
          run.variant == "stride" ? Variant::strided : Variant::standard};
}

}  // namespace

std::uint64_t KernelOutcome::descriptors() const {
  std::uint64_t total = 0;
  for (const auto& engines : schedule.rings)
    for (const auto& ring : engines) total += ring.size();
  return total;
}

KernelOutcome run_kernel(runtime::Host& host, const ConvRun& run,
                         const std::function<void(neuron::Schedule&)>& change) {
  const ConvValues values = values_of(run);
  neuron::Driver driver(host);
  const neuron::conv2d::Plan plan = neuron::conv2d::make_plan(request_of(run), driver.machine());
  KernelOutcome outcome;
  const auto image = as_bf16(image_in_layout(run, values));
  const auto filter = as_bf16(filter_in_layout(run, values));
  const std::vector<std::uint16_t> zeros(static_cast<std::size_t>(zero_elements(plan)));
  outcome.output.resize(static_cast<std::size_t>(run.shape.N * run.shape.O * run.shape.out_h() * run.shape.out_w()));
  outcome.zero_bytes = zeros.size() * 2;
  outcome.addresses.image = driver.store("image", std::as_bytes(std::span(image)));
  outcome.addresses.filter = driver.store("filter", std::as_bytes(std::span(filter)));
  outcome.addresses.zeros = driver.store("zeros", std::as_bytes(std::span(zeros)));
  outcome.addresses.output = driver.allocate("output", outcome.output.size() * sizeof(float));

  neuron::Kernel kernel(driver.machine());
  emit(kernel, plan, outcome.addresses);
  outcome.schedule = neuron::schedule(kernel);
  if (change) change(outcome.schedule);
  driver.run(outcome.schedule);

  outcome.predicted = predict(plan);
  outcome.image_bytes = driver.class_bytes(outcome.schedule, QueueClass::inputs);
  outcome.filter_bytes = driver.class_bytes(outcome.schedule, QueueClass::weights);
  outcome.output_bytes = driver.class_bytes(outcome.schedule, QueueClass::outputs);
  host.read(outcome.addresses.output, std::as_writable_bytes(std::span(outcome.output)));
  return outcome;
}

}  // namespace tilevp::test
