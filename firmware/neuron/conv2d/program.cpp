#include "tilevp/neuron/conv2d/program.hpp"

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/conv2d/reference.hpp"
#include "tilevp/neuron/conv2d/request.hpp"
#include "tilevp/neuron/driver.hpp"
#include "tilevp/neuron/verify.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::neuron::conv2d {
namespace {

std::vector<std::size_t> output_shape(const Plan& plan) {
  const Problem& p = plan.problem;
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  if (plan.output_layout == OutputLayout::nchw) return {size(p.N), size(p.O), size(p.K0()), size(p.K1())};
  return {size(p.O), size(p.K0()), size(p.K1()), size(p.N)};
}

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
    Addresses addresses;
    addresses.image = driver.allocate("image", request_.image_bytes());
    addresses.filter = driver.allocate("filter", request_.filter_bytes());
    addresses.zeros = driver.allocate("zeros", zeros.size());
    addresses.output = driver.allocate("output", output_elements(plan) * sizeof(float));
    request_.draw(run_->seed);
    runtime::Tensor output = runtime::make_tensor(output_shape(plan));
    host.write(addresses.image, request_.image);
    host.write(addresses.filter, request_.filter);
    host.write(addresses.zeros, zeros);
    report("kernel", 0.1);
    const Schedule schedule = build(driver.machine(), plan, addresses);
    report("running", 0.2);
    const std::uint64_t kernel_ps = driver.run(schedule);
    report("reading back", 0.9);

    runtime::ProgramResult result;
    result.warnings = request_.warnings;
    result.variant = conv2d::name(plan.variant);
    fill_result(result, driver, schedule, plan);
    result.kernel_ps = kernel_ps;
    result.result["kernel_ps"] = kernel_ps;
    host.read(addresses.output, output.data);
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
  static std::size_t output_elements(const Plan& plan) {
    std::size_t total = 1;
    for (const std::size_t extent : output_shape(plan)) total *= extent;
    return total;
  }

  static Schedule build(const Machine& machine, const Plan& plan, const Addresses& addresses) {
    Kernel kernel(machine);
    emit(kernel, plan, addresses);
    return schedule(kernel);
  }

  void report(std::string_view what, double share) const {
    if (run_->progress) run_->progress(what, share);
  }

  // Counted by the machine, and what the plan predicts.
  void fill_result(runtime::ProgramResult& result, const Driver& driver, const Schedule& schedule, const Plan& plan) {
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
                                                       {"pe_cycles", predicted.pe_cycles},
                                                       {"image_dma_bytes", predicted.image_bytes},
                                                       {"image_halo_bytes", predicted.halo_bytes},
                                                       {"filter_dma_bytes", predicted.filter_bytes}}}};
  }

  void check(const Plan& plan, runtime::ProgramResult& result) {
    verify(
        run_->check, *output_, "output", [&] { return reference_in_order(plan, request_.image, request_.filter); },
        [&] { return reference_in_double(plan, request_.image, request_.filter); }, result);
  }

  std::optional<runtime::RunRequest> run_;
  Request request_;
  std::optional<runtime::Tensor> output_;
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Conv2d>(); }

}  // namespace tilevp::neuron::conv2d
