#include "tilevp/neuron/conv2d/program.hpp"

#include <cstring>
#include <span>

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/conv2d/layout_emitter.hpp"
#include "tilevp/neuron/conv2d/reference.hpp"
#include "tilevp/neuron/conv2d/request.hpp"
#include "tilevp/neuron/driver.hpp"
#include "tilevp/neuron/verify.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::neuron::conv2d {
namespace {

std::vector<std::size_t> output_shape(const Plan& plan) {
  const Sizes sizes = in_memory(output_sizes(plan.problem), permutation(plan.given.output));
  return {sizes.begin(), sizes.end()};
}

// A program's trace and what the transposes in it do.
struct Built {
  Schedule schedule;
  TranspositionWork transposes;
};

class Conv2d final : public runtime::Program {
 public:
  std::string_view name() const override { return "neuron/conv2d"; }
  std::string_view summary() const override { return "dense 2-D convolution on one NeuronCore's PE array"; }
  std::string_view machine() const override { return "neuroncore"; }
  std::vector<runtime::OptionDescription> options() const override { return option_descriptions(); }

  void prepare(const runtime::RunRequest& request) override {
    run_ = request;
    request_ = read_request(request.options);
  }

  std::string describe(runtime::Host& host) override { return make_plan(request_.plan, Driver(host).machine()).text(); }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    const Plan plan = make_plan(request_.plan, driver.machine());

    const std::vector<std::byte> zeros(static_cast<std::size_t>(zero_elements(plan) * plan.element_bytes()));
    // Room for all first: values that do not fit are neither drawn nor written.
    const LayoutAddresses at =
        place_tensors(plan.problem, plan.dtype, plan.given,
                      [&](const std::string& name, std::uint64_t bytes) { return driver.allocate(name, bytes); });
    const std::uint64_t zeros_at = driver.allocate("zeros", zeros.size());
    request_.draw(run_->seed);
    runtime::Tensor output = runtime::make_tensor(output_shape(plan));
    host.write(at.given_image, request_.image);
    host.write(at.given_filter, request_.filter);
    host.write(zeros_at, zeros);
    report("kernel", 0.1);
    const Built built = build(driver.machine(), plan, at, zeros_at);
    report("running", 0.2);
    const std::uint64_t kernel_ps = driver.run(built.schedule);
    report("reading back", 0.9);

    runtime::ProgramResult result;
    result.warnings = request_.warnings;
    result.variant = conv2d::name(plan.variant);
    fill_result(result, driver, built, plan);
    result.kernel_ps = kernel_ps;
    result.result["kernel_ps"] = kernel_ps;
    host.read(at.given_output, output.data);
    if (!run_->arithmetic) return result;  // what was read takes its time and means nothing
    output_ = std::move(output);
    check(plan, result);
    if (!request_.output_file.empty()) result.files["output"] = request_.output_file;
    return result;
  }

  void write_outputs() override {
    if (request_.output_file.empty() || !output_) return;
    runtime::write_npy(request_.output_file, *output_);
  }

 private:
  static Built build(const Machine& machine, const Plan& plan, const LayoutAddresses& at, std::uint64_t zeros) {
    Kernel kernel(machine);
    TranspositionWork transposes = emit_inputs(kernel, plan.problem, plan.dtype, plan.given, at);
    emit(kernel, plan, {.image = at.image, .filter = at.filter, .output = at.output, .zeros = zeros});
    transposes += emit_output(kernel, plan.problem, plan.given, at);
    return {schedule(kernel), transposes};
  }

  void report(std::string_view what, double share) const {
    if (run_->progress) run_->progress(what, share);
  }

  // Counted by the machine, and what the plan predicts.
  void fill_result(runtime::ProgramResult& result, const Driver& driver, const Built& built, const Plan& plan) {
    const Schedule& schedule = built.schedule;
    const WorkCounters counted = driver.counters();
    const Prediction predicted = predict(plan);
    result.result = {{"variant", result.variant},
                     {"macs", counted.macs},
                     {"matmuls", counted.matmuls},
                     {"pe_cycles", counted.pe_cycles},
                     {"image_dma_bytes", driver.class_bytes(schedule, QueueClass::inputs)},
                     {"filter_dma_bytes", driver.class_bytes(schedule, QueueClass::weights)},
                     {"output_dma_bytes", driver.class_bytes(schedule, QueueClass::outputs)},
                     {"useful_macs", plan.problem.useful_macs()},
                     {"instructions", schedule.instructions()},
                     {"predicted", boost::json::object{{"macs", predicted.macs},
                                                       {"matmuls", predicted.matmuls},
                                                       {"pe_cycles", predicted.pe_cycles + built.transposes.pe_cycles},
                                                       {"image_dma_bytes", predicted.image_bytes},
                                                       {"image_halo_bytes", predicted.halo_bytes},
                                                       {"filter_dma_bytes", predicted.filter_bytes}}}};
    if (layout_passes(plan.problem, plan.given).any())
      result.result["transposes"] = {{"on_pe", built.transposes.pe_transposes},
                                     {"on_vector", built.transposes.vector_transposes},
                                     {"copies", built.transposes.copies},
                                     {"pe_cycles", built.transposes.pe_cycles},
                                     {"dma_bytes", built.transposes.dma_bytes}};
  }

  void check(const Plan& plan, runtime::ProgramResult& result) {
    verify(
        run_->check, *output_, "output", [&] { return reference(plan, reference_in_order); },
        [&] { return reference(plan, reference_in_double); }, result);
  }

  // Of the tensors as the user has them.
  template <class Reference>
  std::vector<float> reference(const Plan& plan, Reference&& of) const {
    const auto size = numeric::size_bytes(plan.dtype);
    const Problem& p = plan.problem;
    const auto image =
        reordered(request_.image, size, image_sizes(p), permutation(plan.given.image), permutation(plan.image_layout));
    const auto filter = reordered(request_.filter, size, filter_sizes(p), permutation(plan.given.filter),
                                  permutation(FilterLayout::chwo));
    const std::vector<float> result = of(plan, image, filter);
    const auto bytes = reordered(std::as_bytes(std::span(result)), sizeof(float), output_sizes(p),
                                 permutation(plan.output_layout), permutation(plan.given.output));
    std::vector<float> given(result.size());
    std::memcpy(given.data(), bytes.data(), bytes.size());
    return given;
  }

  std::optional<runtime::RunRequest> run_;
  Request request_;
  std::optional<runtime::Tensor> output_;
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Conv2d>(); }

}  // namespace tilevp::neuron::conv2d
