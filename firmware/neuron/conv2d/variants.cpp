#include "tilevp/neuron/conv2d/variants.hpp"

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <sstream>

#include "tilevp/neuron/conv2d/dense.hpp"
#include "tilevp/neuron/conv2d/depthwise_variant.hpp"
#include "tilevp/neuron/conv2d/diagonal.hpp"

namespace tilevp::neuron::conv2d {
namespace {

bool strides(const Problem& p) { return p.stride_h > 1 || p.stride_w > 1; }

std::string refuse_default(const PlanRequest& request) { return dense_refusal(request.problem); }

std::string pass_over_default(const PlanRequest& request) {
  const Problem& p = request.problem;
  if (!strides(p)) return "";
  return "for stride 1,1, found " + std::to_string(p.stride_h) + "," + std::to_string(p.stride_w);
}

std::string refuse_stride(const PlanRequest& request) {
  if (std::string reason = dense_refusal(request.problem); !reason.empty()) return reason;
  if (request.layouts.image == ImageLayout::nchw) return "takes --image-layout chwn, cnhw or nhwc, found nchw";
  return "";
}

std::string refuse_packing(const PlanRequest& request) {
  if (std::string reason = dense_refusal(request.problem); !reason.empty()) return reason;
  const Problem& p = request.problem;
  if (strides(p)) return "takes stride 1,1, found " + std::to_string(p.stride_h) + "," + std::to_string(p.stride_w);
  // Orders in which the elements lie alike are alike.
  if (!same_order(image_sizes(p), permutation(request.layouts.image), permutation(ImageLayout::chwn)))
    return "takes --image-layout chwn, found " + std::string(name(request.layouts.image));
  if (!same_order(filter_sizes(p), permutation(request.layouts.filter), permutation(FilterLayout::chwo)))
    return "takes --filter-layout chwo, found " + std::string(name(request.layouts.filter));
  if (request.layouts.output == OutputLayout::hwno) return "takes --output-layout nchw or ohwn, found hwno";
  return "";
}

std::string only_by_name(const PlanRequest&) { return "by name only"; }

std::string never_passed_over(const PlanRequest&) { return ""; }

template <Variant variant>
std::unique_ptr<Convolution> make_dense_as(const PlanRequest& request, const Machine& machine) {
  PlanRequest as = request;
  as.variant = variant;
  return make_dense(as, machine);
}

template <DepthwiseKind kind>
std::string refuse_depthwise(const PlanRequest& request) {
  return depthwise_refusal(depthwise_request(request, kind));
}

std::string pass_over_one_step(const PlanRequest& request) {
  if (depthwise_in_one_step(request.problem)) return "";
  return "its " + std::to_string(request.problem.K1()) + " positions are more than a step of 512 products has";
}

template <DepthwiseKind kind>
std::unique_ptr<Convolution> make_depthwise_as(const PlanRequest& request, const Machine& machine) {
  return make_depthwise(request, kind, machine);
}

template <DiagonalKind kind>
std::string refuse_diagonal(const PlanRequest& request) {
  return diagonal_refusal(request, kind);
}

template <DiagonalKind kind>
std::unique_ptr<Convolution> make_diagonal_as(const PlanRequest& request, const Machine& machine) {
  return make_diagonal(request, kind, machine);
}

// What is left are the shapes of gradients: filters dilated by the forward stride, crops; and strides.
std::string pass_over_one_image(const PlanRequest& request) {
  return refuse_depthwise<DepthwiseKind::planes>(request).empty() ? "depthwise2d takes it, without the block" : "";
}

constexpr char dense_dispatcher[] = "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh";
constexpr char row_dispatcher[] = "conv1d_depthwise_bf01_oi01_bf01";
constexpr char depthwise_groups[] = "groups = C = O";
constexpr char images_groups[] = "batch groups = N = O";

constexpr VariantInfo table[] = {
    {"default", "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_default", "dense, strips of rows staged once for all tiles",
     "groups 1", refuse_default, pass_over_default, make_dense_as<Variant::standard>, false, dense_dispatcher},
    {"stride", "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_stride",
     "dense, every tile of the output staged anew, the stride in the matmul's access pattern", "groups 1",
     refuse_stride, never_passed_over, make_dense_as<Variant::strided>, false, dense_dispatcher},
    {"diagonal", "conv2d_column_packing", "the diagonal of dense blocks of up to 128 images and filters", images_groups,
     refuse_diagonal<DiagonalKind::images>, never_passed_over, make_diagonal_as<DiagonalKind::images>},
    {"diagonal-io10", "conv2d_column_packing_io10", "the same, of a filter with its columns before its rows",
     images_groups, refuse_diagonal<DiagonalKind::images_columns_first>, never_passed_over,
     make_diagonal_as<DiagonalKind::images_columns_first>},
    {"depthwise1d", "conv1d_depthwise_default", "one row, all positions in one step of the vector engine",
     depthwise_groups, refuse_depthwise<DepthwiseKind::row_default>, pass_over_one_step,
     make_depthwise_as<DepthwiseKind::row_default>, false, row_dispatcher},
    {"depthwise1d-packed", "conv1d_depthwise_f_packing", "one row, 512 products a step of the vector engine",
     depthwise_groups, refuse_depthwise<DepthwiseKind::row_packed>, never_passed_over,
     make_depthwise_as<DepthwiseKind::row_packed>, false, row_dispatcher},
    {"diagonal1", "conv2d_column_packing_1", "the diagonal of dense blocks of up to 128 channels; any stride",
     "groups = C = O, N 1", refuse_diagonal<DiagonalKind::one_image>, pass_over_one_image,
     make_diagonal_as<DiagonalKind::one_image>},
    {"depthwise2d", "conv2d_depthwise_f01b_o01i_bf01", "windows of rows on the vector engine; dilated images",
     depthwise_groups, refuse_depthwise<DepthwiseKind::planes>, never_passed_over,
     make_depthwise_as<DepthwiseKind::planes>, true},
    {"packing", "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_column_packing",
     "dense, stride 1, tiles of the output in up to 8 PSUM banks at once", "groups 1", refuse_packing, only_by_name,
     make_dense_as<Variant::packed>},
};

}  // namespace

std::span<const VariantInfo> variants() { return table; }

std::string VariantInfo::refusal(const PlanRequest& request) const {
  const Problem& p = request.problem;
  if (p.dilates_image() && !dilates_images)
    return "image dilation is " + std::to_string(p.image_dilation_h) + "," + std::to_string(p.image_dilation_w) +
           ", it takes 1,1";
  return refuse(request);
}

const VariantInfo* find_variant(std::string_view name) {
  for (const VariantInfo& info : table)
    if (name == info.name || boost::algorithm::iequals(name, info.full_name)) return &info;
  return nullptr;
}

bool is_dispatcher(std::string_view name) {
  return std::ranges::any_of(table, [&](const VariantInfo& info) {
    return !info.dispatcher.empty() && boost::algorithm::iequals(name, info.dispatcher);
  });
}

const VariantInfo* select_variant(const PlanRequest& request, std::string_view dispatcher) {
  for (const VariantInfo& info : table)
    if ((dispatcher.empty() || boost::algorithm::iequals(dispatcher, info.dispatcher)) &&
        info.refusal(request).empty() && info.passed_over(request).empty())
      return &info;
  return nullptr;
}

std::string selection_text(const PlanRequest& request, const VariantInfo& taken) {
  std::ostringstream out;
  out << "  variants, in the order of selection:\n";
  const VariantInfo* automatic = select_variant(request);
  for (const VariantInfo& info : table) {
    const std::string refused = info.refusal(request);
    const std::string passed_over = info.passed_over(request);
    out << "    " << info.name << ": ";
    if (&info == &taken)
      out << (&info == automatic ? "taken" : "taken, as asked for");
    else if (!refused.empty())
      out << "refused: " << refused;
    else if (!passed_over.empty())
      out << "passed over: " << passed_over;
    else
      out << "would take it too";
    out << "\n";
  }
  return out.str();
}

}  // namespace tilevp::neuron::conv2d
