#include "tilevp/neuron/conv2d/depthwise_variant.hpp"

#include <cstring>

#include "tilevp/neuron/conv2d/dense.hpp"
#include "tilevp/neuron/conv2d/layout_emitter.hpp"

namespace tilevp::neuron::conv2d {
namespace {

constexpr FilterLayout filter_layout = FilterLayout::ochw;

class Depthwise final : public Convolution {
 public:
  Depthwise(const PlanRequest& request, DepthwiseKind kind, const Machine& machine)
      : given_(request.layouts), plan_(plan_depthwise(depthwise_request(request, kind), machine)) {}

  std::string text() const override { return plan_.text(); }

  Places place(const Allocate& allocate) override {
    at_ = place_tensors(plan_.problem, plan_.dtype, given_, allocate, filter_layout);
    return {.image = at_.given_image, .filter = at_.given_filter, .output = at_.given_output};
  }

  void emit(Kernel& kernel) override {
    transposes_ = emit_inputs(kernel, plan_.problem, plan_.dtype, given_, at_, filter_layout);
    conv2d::emit(kernel, plan_, DepthwiseAddresses{at_.image, at_.filter, at_.output});
    transposes_ += emit_output(kernel, plan_.problem, given_, at_);
  }

  Prediction prediction() const override {
    const DepthwisePrediction work = predict(plan_);
    return {.pe_cycles = transposes_.pe_cycles, .image_bytes = work.image_bytes, .filter_bytes = work.filter_bytes};
  }

  std::vector<float> reference(Accuracy accuracy, std::span<const std::byte> image,
                               std::span<const std::byte> filter) const override {
    const auto size = numeric::size_bytes(plan_.dtype);
    const Problem& p = plan_.problem;
    const auto x = reordered(image, size, image_sizes(p), permutation(given_.image), permutation(plan_.image));
    const auto f = reordered(filter, size, filter_sizes(p), permutation(given_.filter), permutation(filter_layout));
    const std::vector<float> result =
        accuracy == Accuracy::in_order ? depthwise_in_order(plan_, x, f) : depthwise_in_double(plan_, x, f);
    const auto bytes = reordered(std::as_bytes(std::span(result)), sizeof(float), output_sizes(p),
                                 permutation(plan_.output), permutation(given_.output));
    std::vector<float> given(result.size());
    std::memcpy(given.data(), bytes.data(), bytes.size());
    return given;
  }

  boost::json::object figures() const override {
    const DepthwisePrediction work = predict(plan_);
    boost::json::object figures{{"multiplications", work.multiplications}, {"reductions", work.reductions}};
    if (layout_passes(plan_.problem, given_, filter_layout).any())
      figures["transposes"] = transpose_figures(transposes_);
    return figures;
  }

 private:
  Layouts given_;
  DepthwisePlan plan_;
  LayoutAddresses at_{};
  TranspositionWork transposes_{};
};

}  // namespace

DepthwiseRequest depthwise_request(const PlanRequest& request, DepthwiseKind kind) {
  return {.problem = request.problem,
          .dtype = request.dtype,
          .image = staged(request.layouts.image),
          .output = stored(request.layouts.output),
          .kind = kind};
}

std::unique_ptr<Convolution> make_depthwise(const PlanRequest& request, DepthwiseKind kind, const Machine& machine) {
  return std::make_unique<Depthwise>(request, kind, machine);
}

}  // namespace tilevp::neuron::conv2d
