#include "tilevp/neuron/conv2d/program.hpp"

#include <algorithm>

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/buffers.hpp"
#include "tilevp/neuron/conv2d/request.hpp"
#include "tilevp/neuron/driver.hpp"
#include "tilevp/neuron/verify.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::neuron::conv2d {
namespace {

std::vector<std::size_t> output_shape(const PlanRequest& request) {
  const Sizes sizes = in_memory(output_sizes(request.problem), permutation(request.layouts.output));
  return {sizes.begin(), sizes.end()};
}

class Conv2d final : public runtime::Program {
 public:
  std::string_view name() const override { return "neuron/conv2d"; }
  std::string_view summary() const override { return "2-D convolution on one NeuronCore: a family of kernels"; }
  std::string_view machine() const override { return "neuroncore"; }
  std::vector<runtime::OptionDescription> options() const override { return option_descriptions(); }

  void prepare(const runtime::RunRequest& request) override {
    run_ = request;
    request_ = read_request(request.options);
  }

  std::vector<runtime::VariantDescription> variants() const override {
    std::vector<runtime::VariantDescription> list;
    for (const VariantInfo& info : conv2d::variants()) {
      std::vector<std::string> tokens = decoded(info.full_name);
      for (const std::string& token : decoded(info.dispatcher))
        if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
      const std::string caller = info.dispatcher.empty() ? "" : ", called by " + std::string(info.dispatcher);
      list.push_back({std::string(info.name), std::string(info.full_name) + caller,
                      std::string(info.summary) + "; " + std::string(info.takes), std::move(tokens)});
    }
    return list;
  }

  std::string describe(runtime::Host& host) override {
    const auto convolution = request_.variant->make(request_.plan, Driver(host).machine());
    return "variant " + std::string(request_.variant->name) + ": " + std::string(request_.variant->full_name) + "\n" +
           convolution->text() + selection_text(request_.plan, *request_.variant);
  }

  runtime::ProgramResult run(runtime::Host& host) override {
    Driver driver(host);
    const auto convolution = request_.variant->make(request_.plan, driver.machine());

    // Room for all first: values that do not fit are neither drawn nor written.
    const Places at =
        convolution->place([&](const std::string& name, std::uint64_t bytes) { return driver.allocate(name, bytes); });
    request_.draw(run_->seed);
    runtime::Tensor output = runtime::make_tensor(output_shape(request_.plan));
    host.write(at.image, request_.image);
    host.write(at.filter, request_.filter);
    for (const auto& [address, bytes] : at.zeros) host.write(address, std::vector<std::byte>(bytes));
    report("kernel", 0.1);
    const Schedule schedule = build(driver.machine(), *convolution);
    report("running", 0.2);
    const std::uint64_t kernel_ps = driver.run(schedule);
    report("reading back", 0.9);

    runtime::ProgramResult result;
    result.warnings = request_.warnings;
    result.variant = request_.variant->name;
    fill_result(result, driver, schedule, *convolution);
    result.kernel_ps = kernel_ps;
    result.result["kernel_ps"] = kernel_ps;
    result.result["buffers"] = std::move(buffers_);
    host.read(at.output, output.data);
    if (!run_->arithmetic) return result;  // what was read takes its time and means nothing
    output_ = std::move(output);
    check(*convolution, result);
    if (!request_.output_file.empty()) result.files["output"] = request_.output_file;
    return result;
  }

  void write_outputs() override {
    if (request_.output_file.empty() || !output_) return;
    runtime::write_npy(request_.output_file, *output_);
  }

 private:
  Schedule build(const Machine& machine, Convolution& convolution) {
    Kernel kernel(machine);
    convolution.emit(kernel);
    buffers_ = buffers_of(kernel);
    return schedule(kernel);
  }

  void report(std::string_view what, double share) const {
    if (run_->progress) run_->progress(what, share);
  }

  // Counted by the machine, and what the plan predicts.
  void fill_result(runtime::ProgramResult& result, const Driver& driver, const Schedule& schedule,
                   const Convolution& convolution) const {
    const WorkCounters counted = driver.counters();
    const Prediction predicted = convolution.prediction();
    result.result = {{"variant", result.variant},
                     {"macs", counted.macs},
                     {"matmuls", counted.matmuls},
                     {"pe_cycles", counted.pe_cycles},
                     {"image_dma_bytes", driver.class_bytes(schedule, QueueClass::inputs)},
                     {"image_dma_minimum_bytes", request_.image_bytes()},
                     {"filter_dma_bytes", driver.class_bytes(schedule, QueueClass::weights)},
                     {"output_dma_bytes", driver.class_bytes(schedule, QueueClass::outputs)},
                     {"useful_macs", request_.plan.problem.useful_macs()},
                     {"instructions", schedule.instructions()},
                     {"predicted", boost::json::object{{"macs", predicted.macs},
                                                       {"matmuls", predicted.matmuls},
                                                       {"pe_cycles", predicted.pe_cycles},
                                                       {"image_dma_bytes", predicted.image_bytes},
                                                       {"image_halo_bytes", predicted.halo_bytes},
                                                       {"filter_dma_bytes", predicted.filter_bytes}}}};
    for (const auto& figure : convolution.figures()) result.result.insert(figure);
  }

  void check(const Convolution& convolution, runtime::ProgramResult& result) {
    verify(
        run_->check, *output_, "output",
        [&] { return convolution.reference(Accuracy::in_order, request_.image, request_.filter); },
        [&] { return convolution.reference(Accuracy::in_double, request_.image, request_.filter); }, result);
  }

  std::optional<runtime::RunRequest> run_;
  Request request_;
  std::optional<runtime::Tensor> output_;
  boost::json::array buffers_;  // not on the stack of run(): nobody unwinds it where a time limit ends the run
};

}  // namespace

std::unique_ptr<runtime::Program> make_program() { return std::make_unique<Conv2d>(); }

}  // namespace tilevp::neuron::conv2d
