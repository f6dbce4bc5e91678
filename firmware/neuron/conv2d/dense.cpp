#include "tilevp/neuron/conv2d/dense.hpp"

#include <cstring>

#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/conv2d/layout_emitter.hpp"
#include "tilevp/neuron/conv2d/reference.hpp"

namespace tilevp::neuron::conv2d {
namespace {

class Dense final : public Convolution {
 public:
  Dense(const PlanRequest& request, const Machine& machine) : plan_(make_plan(request, machine)) {}

  std::string text() const override { return plan_.text(); }

  Places place(const Allocate& allocate) override {
    at_ = place_tensors(plan_.problem, plan_.dtype, plan_.given, allocate);
    const auto bytes = static_cast<std::uint64_t>(zero_elements(plan_) * plan_.element_bytes());
    zeros_ = allocate("zeros", bytes);
    return {at_.given_image, at_.given_filter, at_.given_output, {{zeros_, bytes}}};
  }

  void emit(Kernel& kernel) override {
    transposes_ = emit_inputs(kernel, plan_.problem, plan_.dtype, plan_.given, at_);
    conv2d::emit(kernel, plan_, {.image = at_.image, .filter = at_.filter, .output = at_.output, .zeros = zeros_});
    transposes_ += emit_output(kernel, plan_.problem, plan_.given, at_);
  }

  Prediction prediction() const override {
    Prediction sum = predict(plan_);
    sum.pe_cycles += transposes_.pe_cycles;
    return sum;
  }

  std::vector<float> reference(Accuracy accuracy, std::span<const std::byte> image,
                               std::span<const std::byte> filter) const override {
    const auto size = numeric::size_bytes(plan_.dtype);
    const Problem& p = plan_.problem;
    const auto x =
        reordered(image, size, image_sizes(p), permutation(plan_.given.image), permutation(plan_.image_layout));
    const auto f =
        reordered(filter, size, filter_sizes(p), permutation(plan_.given.filter), permutation(FilterLayout::chwo));
    const std::vector<float> result =
        accuracy == Accuracy::in_order ? reference_in_order(plan_, x, f) : reference_in_double(plan_, x, f);
    const auto bytes = reordered(std::as_bytes(std::span(result)), sizeof(float), output_sizes(p),
                                 permutation(plan_.output_layout), permutation(plan_.given.output));
    std::vector<float> given(result.size());
    std::memcpy(given.data(), bytes.data(), bytes.size());
    return given;
  }

  boost::json::object figures() const override {
    if (!layout_passes(plan_.problem, plan_.given).any()) return {};
    return {{"transposes", transpose_figures(transposes_)}};
  }

 private:
  Plan plan_;
  LayoutAddresses at_{};
  std::uint64_t zeros_ = 0;
  TranspositionWork transposes_{};
};

}  // namespace

boost::json::object transpose_figures(const TranspositionWork& work) {
  return {{"on_pe", work.pe_transposes}, {"on_vector", work.vector_transposes}, {"by_dma", work.dma_transposes},
          {"copies", work.copies},       {"pe_cycles", work.pe_cycles},         {"dma_bytes", work.dma_bytes}};
}

std::string dense_refusal(const Problem& problem) {
  if (problem.groups > 1) return "dense: groups " + std::to_string(problem.groups) + ", expected 1";
  if (problem.batch_groups > 1) return "dense: batch groups " + std::to_string(problem.batch_groups) + ", expected 1";
  return "";
}

std::unique_ptr<Convolution> make_dense(const PlanRequest& request, const Machine& machine) {
  return std::make_unique<Dense>(request, machine);
}

}  // namespace tilevp::neuron::conv2d
