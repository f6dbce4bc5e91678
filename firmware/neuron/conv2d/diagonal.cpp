#include "tilevp/neuron/conv2d/diagonal.hpp"

#include <algorithm>
#include <sstream>

#include "tilevp/neuron/conv2d/dense.hpp"
#include "tilevp/neuron/conv2d/diagonal_operands.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/conv2d/reference.hpp"

namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t most_groups = 128;  // of a block

std::int64_t groups_of(const Problem& p) { return std::max(p.groups, p.batch_groups); }

// Orders in which the elements lie alike are alike.
bool lies_as(const PlanRequest& request, ImageLayout layout) {
  return same_order(image_sizes(request.problem), permutation(request.layouts.image), permutation(layout));
}
bool lies_as(const PlanRequest& request, FilterLayout layout) {
  return same_order(filter_sizes(request.problem), permutation(request.layouts.filter), permutation(layout));
}

// `groups` of them as a dense convolution: each an image and a filter.
PlanRequest dense_request(const PlanRequest& request, DiagonalKind kind, std::int64_t groups) {
  PlanRequest dense = request;
  Problem& p = dense.problem;
  p.N = p.O = groups;
  p.C = request.problem.filter_channels();
  p.groups = p.batch_groups = 1;
  const bool strides = p.stride_h > 1 || p.stride_w > 1;
  if (kind != DiagonalKind::one_image)
    dense.variant = Variant::packed;
  else
    dense.variant = strides ? Variant::strided : Variant::standard;
  dense.layouts = {.output = kind == DiagonalKind::one_image ? OutputLayout::nchw : OutputLayout::ohwn};
  return dense;
}

class Diagonal final : public Convolution {
 public:
  Diagonal(const PlanRequest& request, DiagonalKind kind, const Machine& machine)
      : request_(request), kind_(kind), groups_(groups_of(request.problem)), block_(std::min(groups_, most_groups)) {
    plans_.push_back(make_plan(dense_request(request, kind, block_), machine));
    if (const std::int64_t last = groups_ % block_; last > 0)
      plans_.push_back(make_plan(dense_request(request, kind, last), machine));
  }

  std::string text() const override {
    std::ostringstream out;
    out << "diagonal of " << groups_ << " groups in " << ceil_div(groups_, block_) << " dense "
        << (groups_ > block_ ? "blocks" : "block") << " of " << block_;
    if (plans_.size() > 1) out << ", the last of " << groups_ % block_;
    out << "; the dense convolution of a block:\n" << plans_[0].text();
    return out.str();
  }

  Places place(const Allocate& allocate) override {
    const Problem& p = request_.problem;
    const Problem& dense = plans_[0].problem;
    const auto size = static_cast<std::uint64_t>(plans_[0].element_bytes());
    const auto bytes = [](std::int64_t elements, std::uint64_t element) {
      return static_cast<std::uint64_t>(elements) * element;
    };
    const std::int64_t outputs = p.K0() * p.K1();
    image_.address = allocate("image", bytes(p.N * p.C * p.H * p.W, size));
    filter_.address = allocate("filter", bytes(p.O * p.filter_channels() * p.Hf * p.Wf, size));
    output_ = allocate("output", bytes(groups_ * outputs, sizeof(float)));
    at_.image = allocate("image of a block", bytes(dense.N * dense.C * p.H * p.W, size));
    at_.filter = allocate("filter of a block", bytes(dense.O * dense.C * p.Hf * p.Wf, size));
    at_.output = allocate("output of a block", bytes(block_ * block_ * outputs, sizeof(float)));
    std::int64_t most = 0;
    for (const Plan& plan : plans_) most = std::max(most, zero_elements(plan));
    const std::uint64_t zeros = bytes(most, size);
    at_.zeros = allocate("zeros", zeros);
    describe_operands();
    return {image_.address, filter_.address, output_, {{at_.zeros, zeros}}};
  }

  void emit(Kernel& kernel) override {
    transposes_ = {};
    for (std::int64_t first = 0; first < groups_; first += block_) {
      const std::int64_t count = std::min(block_, groups_ - first);
      transposes_ += emit_block(kernel, image_, first, count, at_.image);
      transposes_ += emit_block(kernel, filter_, first, count, at_.filter);
      kernel.barrier();
      conv2d::emit(kernel, plan_of(count), at_);
      kernel.barrier();
      emit_diagonal(kernel, first, count);
    }
  }

  Prediction prediction() const override {
    Prediction sum;
    for (std::int64_t first = 0; first < groups_; first += block_)
      sum += predict(plan_of(std::min(block_, groups_ - first)));
    sum.pe_cycles += transposes_.pe_cycles;
    return sum;
  }

  std::vector<float> reference(Accuracy accuracy, std::span<const std::byte> image,
                               std::span<const std::byte> filter) const override;

  boost::json::object figures() const override { return {{"transposes", transpose_figures(transposes_)}}; }

 private:
  const Plan& plan_of(std::int64_t count) const { return plans_[count == block_ ? 0 : 1]; }

  void describe_operands() {
    const Problem& p = request_.problem;
    const bool one_image = kind_ == DiagonalKind::one_image;
    image_.name = "image";
    image_.outer = one_image ? 1 : p.C;
    image_.rows = p.H;
    image_.columns = p.W;
    image_.groups_innermost = !lies_as(request_, ImageLayout::cnhw);
    filter_.name = "filter";
    filter_.outer = p.filter_channels();
    filter_.rows = p.Hf;
    filter_.columns = p.Wf;
    filter_.columns_first = kind_ == DiagonalKind::images_columns_first;
    filter_.groups_innermost = !filter_.columns_first && !lies_as(request_, FilterLayout::cohw);
    image_.dtype = filter_.dtype = request_.dtype;
    image_.groups = filter_.groups = groups_;
  }

  // One copy: plane i of image i of the block is plane first + i of the output.
  void emit_diagonal(Kernel& k, std::int64_t first, std::int64_t count) const {
    const std::int64_t plane = request_.problem.K0() * request_.problem.K1();
    const Tensor to = k.hbm("output", numeric::DType::fp32, output_, groups_, plane);
    const Tensor from = k.hbm("output of a block", numeric::DType::fp32, at_.output, count, count * plane);
    const bool planes = kind_ == DiagonalKind::one_image;
    k.dma_copy(to.ap({{plane, count}, {1, plane}}, first * plane),
               planes ? from.ap({{(count + 1) * plane, count}, {1, plane}})
                      : from.ap({{plane * count + 1, count}, {count, plane}}),
               QueueClass::outputs, Engine::scalar);
  }

  PlanRequest request_;
  DiagonalKind kind_;
  std::int64_t groups_;
  std::int64_t block_;
  std::vector<Plan> plans_;  // of a whole block, and of the last
  GroupedTensor image_{}, filter_{};
  std::uint64_t output_ = 0;
  Addresses at_{};  // of a block
  TranspositionWork transposes_{};
};

// Each group alone, in the order in which the block's plan adds up.
std::vector<float> Diagonal::reference(Accuracy accuracy, std::span<const std::byte> image,
                                       std::span<const std::byte> filter) const {
  const Problem& p = request_.problem;
  const auto size = static_cast<std::int64_t>(plans_[0].element_bytes());
  // [channel][group][pixel], where one of channels and groups is the user's channels.
  const auto x = reordered(image, static_cast<std::size_t>(size), image_sizes(p), permutation(request_.layouts.image),
                           permutation(ImageLayout::cnhw));
  const auto f = reordered(filter, static_cast<std::size_t>(size), filter_sizes(p),
                           permutation(request_.layouts.filter), permutation(FilterLayout::cohw));
  Plan single = plans_[0];
  single.problem.N = single.problem.O = 1;
  single.output_layout = OutputLayout::nchw;
  const auto group_of = [&](const std::vector<std::byte>& all, std::int64_t group, std::int64_t plane) {
    std::vector<std::byte> one;
    for (std::int64_t c = 0; c < single.problem.C; ++c) {
      const auto* from = all.data() + (c * groups_ + group) * plane * size;
      one.insert(one.end(), from, from + plane * size);
    }
    return one;
  };
  std::vector<float> result;
  for (std::int64_t group = 0; group < groups_; ++group) {
    const auto xs = group_of(x, group, p.H * p.W);
    const auto fs = group_of(f, group, p.Hf * p.Wf);
    const auto plane =
        accuracy == Accuracy::in_order ? reference_in_order(single, xs, fs) : reference_in_double(single, xs, fs);
    result.insert(result.end(), plane.begin(), plane.end());
  }
  return result;
}

std::string found(ImageLayout layout) { return ", found --image-layout " + std::string(name(layout)); }
std::string found(FilterLayout layout) { return ", found --filter-layout " + std::string(name(layout)); }

std::string one_image_refusal(const PlanRequest& request) {
  const Problem& p = request.problem;
  if (p.groups != p.C || p.groups != p.O || p.groups == 1)
    return "takes groups = C = O above 1, found " + std::to_string(p.groups) + ", " + std::to_string(p.C) + ", " +
           std::to_string(p.O);
  if (p.N != 1) return "takes one image, found " + std::to_string(p.N);
  if (!lies_as(request, ImageLayout::cnhw))
    return "takes an image with its channels outermost" + found(request.layouts.image);
  if (!lies_as(request, FilterLayout::cohw) && !lies_as(request, FilterLayout::chwo))
    return "takes a filter in chwo, ochw or cohw" + found(request.layouts.filter);
  return "";
}

std::string images_refusal(const PlanRequest& request, bool columns_first) {
  const Problem& p = request.problem;
  if (p.batch_groups != p.N || p.batch_groups != p.O || p.batch_groups == 1)
    return "takes batch groups = N = O above 1, found " + std::to_string(p.batch_groups) + ", " + std::to_string(p.N) +
           ", " + std::to_string(p.O);
  if (p.stride_h > 1 || p.stride_w > 1)
    return "takes stride 1,1, found " + std::to_string(p.stride_h) + "," + std::to_string(p.stride_w);
  if (!lies_as(request, ImageLayout::cnhw) && !lies_as(request, ImageLayout::chwn))
    return "takes an image in cnhw or chwn" + found(request.layouts.image);
  if (columns_first ? !lies_as(request, FilterLayout::cowh)
                    : !lies_as(request, FilterLayout::cohw) && !lies_as(request, FilterLayout::chwo))
    return std::string("takes a filter in ") + (columns_first ? "cowh" : "cohw or chwo") +
           found(request.layouts.filter);
  return "";
}

}  // namespace

std::string diagonal_refusal(const PlanRequest& request, DiagonalKind kind) {
  std::string reason = kind == DiagonalKind::one_image
                           ? one_image_refusal(request)
                           : images_refusal(request, kind == DiagonalKind::images_columns_first);
  if (reason.empty() && request.layouts.output == OutputLayout::hwno)
    reason = "takes --output-layout nchw or ohwn, found hwno";
  return reason;
}

std::unique_ptr<Convolution> make_diagonal(const PlanRequest& request, DiagonalKind kind, const Machine& machine) {
  return std::make_unique<Diagonal>(request, kind, machine);
}

}  // namespace tilevp::neuron::conv2d
