#include <algorithm>
#include <sstream>

#include "tilevp/neuron/conv2d/depthwise.hpp"

namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t step_products = 512;    // of a packed step: ceil(512 / Wf) positions
constexpr std::int64_t window_bytes = 16'384;  // with 4 bytes an element, whatever the type
constexpr std::int64_t window_element_bytes = 4;
constexpr std::int64_t product_budget = 32'768;  // bytes

std::string pair_text(std::int64_t a, std::int64_t b) { return std::to_string(a) + "," + std::to_string(b); }

std::int64_t packed_positions(const Problem& p) { return ceil_div(step_products, p.Wf); }

std::string row_refusal(const DepthwiseRequest& r) {
  const Problem& p = r.problem;
  if (p.H != 1 || p.Hf != 1 || p.top != 0 || p.bottom != 0)
    return "the image has " + std::to_string(p.H + p.top + p.bottom) + " rows and the filter " + std::to_string(p.Hf) +
           ", it takes one row of both";
  if (p.Wf >= step_products)
    return "the filter has " + std::to_string(p.Wf) + " columns, it takes fewer than " + std::to_string(step_products);
  if (p.dilates_image())
    return "image dilation is " + pair_text(p.image_dilation_h, p.image_dilation_w) + ", it takes 1,1";
  if (r.image != ImageLayout::nchw || r.output != OutputLayout::nchw)
    return "image and output are " + std::string(name(r.image)) + " and " + std::string(name(r.output)) +
           ", it takes nchw of both";
  return "";
}

void plan_rows(DepthwisePlan& plan) {
  plan.positions = plan.kind == DepthwiseKind::row_default ? plan.K1() : packed_positions(plan.problem);
  plan.positions = std::min(plan.positions, plan.K1());
}

void plan_planes(DepthwisePlan& plan) {
  const Problem& p = plan.problem;
  const auto rows_in_window = [&] { return window_bytes / (window_element_bytes * plan.pitch() * plan.stage_images); };
  plan.stage_images = plan.image == ImageLayout::nchw ? 1 : p.N;
  while (plan.stage_images > 1 && rows_in_window() < p.Hf) plan.stage_images = ceil_div(plan.stage_images, 2);
  plan.rows = std::clamp<std::int64_t>(rows_in_window() - p.Hf + 1, 1, plan.K0());
  const std::int64_t position_bytes = plan.taps() * plan.stage_images * static_cast<std::int64_t>(sizeof(float));
  plan.positions = std::clamp<std::int64_t>(product_budget / position_bytes, 1, plan.K1());
}

}  // namespace

std::string depthwise_refusal(const DepthwiseRequest& r) {
  const Problem& p = r.problem;
  if (p.groups != p.C || p.groups != p.O || p.batch_groups != 1)
    return "depthwise: groups " + std::to_string(p.groups) + " of " + std::to_string(p.C) + " channels and " +
           std::to_string(p.O) + " filters, batch groups " + std::to_string(p.batch_groups) +
           "; expected a group a channel and filter, batch groups 1";
  if (p.stride_h != 1 || p.stride_w != 1) return "strides are " + pair_text(p.stride_h, p.stride_w) + ", it takes 1,1";
  if (p.dilation_h != 1 || p.dilation_w != 1)
    return "filter dilation is " + pair_text(p.dilation_h, p.dilation_w) + ", it takes 1,1";
  if (std::min({p.top, p.bottom, p.left, p.right}) < 0) return "padding is negative, it takes 0 or more";
  return r.kind == DepthwiseKind::planes ? "" : row_refusal(r);
}

bool depthwise_in_one_step(const Problem& p) { return p.K1() <= packed_positions(p); }

std::int64_t DepthwisePlan::bytes() const {
  const auto aligned = [](std::int64_t bytes) { return ceil_div(bytes, 64) * 64; };
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(dtype));
  std::int64_t total = aligned(taps() * size) + aligned(window_elements() * size) + aligned(product_elements() * 4) +
                       aligned(output_elements() * 4);
  if (problem.dilates_image()) total += aligned(raw_elements() * size);
  return slots * total;
}

DepthwisePlan plan_depthwise(const DepthwiseRequest& request, const Machine& machine) {
  DepthwisePlan plan{request};
  plan.sbuf_bytes = machine.sbuf_bytes;
  if (plan.kind == DepthwiseKind::planes)
    plan_planes(plan);
  else
    plan_rows(plan);
  return plan;
}

DepthwisePrediction predict(const DepthwisePlan& plan) {
  const Problem& p = plan.problem;
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(plan.dtype));
  const std::int64_t tiles = ceil_div(p.C, 128) * ceil_div(p.N, plan.stage_images);
  const std::int64_t steps = tiles * plan.K0() * ceil_div(plan.K1(), plan.positions);
  DepthwisePrediction sum;
  sum.reductions = steps;
  sum.multiplications = steps * (plan.kind == DepthwiseKind::planes ? plan.taps() : 1);
  sum.filter_bytes = p.C * plan.taps() * size;
  sum.output_bytes = p.C * p.N * plan.K0() * plan.K1() * static_cast<std::int64_t>(sizeof(float));
  for (std::int64_t a = 0; a < plan.K0(); a += plan.rows) {
    const std::int64_t loaded = std::min(plan.rows, plan.K0() - a) + p.Hf - 1;
    for (std::int64_t r = 0; r < loaded; ++r) {
      const std::int64_t y = a + r - p.top;
      if (y >= 0 && y < p.dilated_h() && y % p.image_dilation_h == 0) sum.image_bytes += p.C * p.W * p.N * size;
    }
  }
  return sum;
}

std::string DepthwisePlan::text() const {
  const Problem& p = problem;
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(dtype));
  std::ostringstream out;
  out << "depthwise " << p.C << " channels " << p.Hf << "x" << p.Wf << " on " << p.H << "x" << p.W << ", N " << p.N
      << ", padding " << p.top << "," << p.bottom << "," << p.left << "," << p.right << ", image dilation "
      << p.image_dilation_h << "," << p.image_dilation_w << ", " << numeric::name(dtype) << ", output " << K0() << "x"
      << K1() << "\n  channels on the partitions in " << ceil_div(p.C, 128) << " tiles of 128\n";
  if (kind == DepthwiseKind::planes)
    out << "  windows: " << ceil_div(K0(), rows) << " of " << rows << " output rows x " << stage_images << " images, "
        << rows_loaded() << " image rows loaded\n  a step: " << positions << " columns x " << stage_images
        << " images; " << taps() << " multiplications, one reduction\n";
  else
    out << "  a step: " << positions << " of " << K1() << " positions; one multiplication, one reduction\n";
  out << "  SBUF, bytes a partition: " << bytes() << " of " << sbuf_bytes << "\n    window  " << slots << " x "
      << window_elements() * size << "\n    product " << slots << " x " << product_elements() * 4
      << " (fp32)\n    output  " << slots << " x " << output_elements() * 4 << " (fp32)\n    filter  " << slots << " x "
      << taps() * size << "\n";
  if (problem.dilates_image())
    out << "    raw     " << slots << " x " << raw_elements() * size << " (before the scatter)\n";
  const DepthwisePrediction w = predict(*this);
  out << "  predicted: no matmuls, " << w.multiplications << " multiplications, " << w.reductions
      << " reductions, image DMA " << w.image_bytes << " bytes, filter DMA " << w.filter_bytes << " bytes\n";
  return out.str();
}

}  // namespace tilevp::neuron::conv2d
