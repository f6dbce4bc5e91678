// The table of the convolution's variants: names, what their tokens mean, who is chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tilevp/neuron/conv2d/variants.hpp"

namespace tilevp::test {
namespace {

using namespace neuron::conv2d;
using testing::ElementsAre;
using testing::HasSubstr;

PlanRequest with(const Problem& problem) { return {.problem = problem}; }

std::string chosen(const Problem& problem) {
  const VariantInfo* info = select_variant(with(problem));
  return info == nullptr ? "" : std::string(info->name);
}

TEST(Variants, FoundByEitherName) {
  std::set<std::string_view> names;
  for (const VariantInfo& info : variants()) {
    EXPECT_EQ(find_variant(info.name), &info);
    EXPECT_EQ(find_variant(info.full_name), &info);
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(names.insert(info.full_name).second) << info.full_name;
  }
  // The public registry of kernels spells it with a capital.
  EXPECT_EQ(find_variant("Conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_stride"), find_variant("stride"));
  EXPECT_EQ(find_variant("strid"), nullptr);
}

TEST(Variants, EveryTokenOfANameIsExplained) {
  EXPECT_THAT(decoded("conv2d_dw_fb01_io01_01bf"),
              ElementsAre("conv2d  convolution over rows and columns",
                          "dw  derivative of the weights: the filter is an output's gradient, the result is small",
                          "fb01  image C, N, H, W", "io01  filter C, O, Hf, Wf", "01bf  output rows, columns, N, O"));
  for (const VariantInfo& info : variants()) {
    const auto tokens = 1 + std::count(info.full_name.begin(), info.full_name.end(), '_');
    EXPECT_EQ(decoded(info.full_name).size(), static_cast<std::size_t>(tokens)) << info.full_name;
  }
}

TEST(Variants, DenseByStride) {
  EXPECT_EQ(chosen({.N = 2, .C = 8, .H = 9, .W = 9, .O = 8}), "default");
  EXPECT_EQ(chosen({.N = 2, .C = 8, .H = 9, .W = 9, .O = 8, .stride_w = 2}), "stride");
}

// A group a channel, on the vector engine: rows where the image is one and small enough for a step of 512 products.
TEST(Variants, DepthwiseByRowsAndPositions) {
  PlanRequest row = with({.C = 8, .W = 173, .O = 8, .Wf = 3, .groups = 8});
  row.layouts.image = ImageLayout::nchw;
  EXPECT_EQ(select_variant(row)->name, "depthwise1d");
  row.problem.W = 174;
  EXPECT_EQ(select_variant(row)->name, "depthwise1d-packed");
  row.layouts.image = ImageLayout::nhwc;  // transposed to C,H,W,N
  EXPECT_EQ(select_variant(row)->name, "depthwise2d");
  EXPECT_EQ(chosen({.C = 8, .H = 9, .W = 9, .O = 8, .Hf = 3, .Wf = 3, .groups = 8}), "depthwise2d");
}

TEST(Variants, DilatedImagesAreForDepthwisePlanes) {
  const PlanRequest request =
      with({.C = 8, .H = 9, .W = 9, .O = 8, .Hf = 3, .Wf = 3, .groups = 8, .image_dilation_h = 2});
  EXPECT_EQ(select_variant(request)->name, "depthwise2d");
  for (const VariantInfo& info : variants())
    if (!info.dilates_images) {
      EXPECT_EQ(info.refusal(request), "image dilation is 2,1, it takes 1,1") << info.name;
    }
}

TEST(Variants, SaysWhyNotTheOthers) {
  const PlanRequest request = with({.N = 2, .C = 8, .H = 9, .W = 9, .O = 8, .stride_h = 3});
  const std::string text = selection_text(request, *find_variant("stride"));
  EXPECT_THAT(text, HasSubstr("default: passed over: for stride 1,1, found 3,1\n"));
  EXPECT_THAT(text, HasSubstr("stride: taken\n"));
  EXPECT_THAT(selection_text(request, *find_variant("default")), HasSubstr("default: taken, as asked for\n"));
}

PlanRequest batch_groups(long n, FilterLayout filter) {
  PlanRequest request = with({.N = n, .C = 3, .H = 9, .W = 9, .O = n, .Hf = 3, .Wf = 3, .batch_groups = n});
  request.layouts = {.image = ImageLayout::cnhw, .filter = filter};
  return request;
}

TEST(Variants, DiagonalsOfImages) {
  EXPECT_EQ(select_variant(batch_groups(6, FilterLayout::cohw))->name, "diagonal");
  EXPECT_EQ(select_variant(batch_groups(6, FilterLayout::chwo))->name, "diagonal");
  EXPECT_EQ(select_variant(batch_groups(6, FilterLayout::cowh))->name, "diagonal-io10");
  EXPECT_EQ(select_variant(batch_groups(6, FilterLayout::ochw)), nullptr);
  PlanRequest strided = batch_groups(6, FilterLayout::cohw);
  strided.problem.stride_w = 2;
  EXPECT_EQ(find_variant("diagonal")->refusal(strided), "takes stride 1,1, found 1,2");
}

// Depthwise planes where they can; the dense block for what they cannot.
TEST(Variants, DiagonalOfOneImage) {
  const Problem forward{.C = 8, .H = 9, .W = 9, .O = 8, .Hf = 3, .Wf = 3, .groups = 8};
  EXPECT_EQ(chosen(forward), "depthwise2d");
  Problem other = forward;
  other.stride_h = 2;
  EXPECT_EQ(chosen(other), "diagonal1");
  other = forward;
  other.dilation_w = 2;
  EXPECT_EQ(chosen(other), "diagonal1");
  other = forward;
  other.top = -1;
  EXPECT_EQ(chosen(other), "diagonal1");
  other.N = 2;
  EXPECT_EQ(chosen(other), "");
  EXPECT_EQ(find_variant("diagonal1")->refusal(with(other)), "takes one image, found 2");
  EXPECT_THAT(selection_text(with(forward), *find_variant("depthwise2d")),
              HasSubstr("diagonal1: passed over: depthwise2d takes it, without the block"));
}

TEST(Variants, ColumnPackingByNameAlone) {
  const PlanRequest request = with({.C = 8, .H = 9, .W = 9, .O = 8});
  EXPECT_EQ(find_variant("packing")->refusal(request), "");
  EXPECT_THAT(selection_text(request, *find_variant("default")), HasSubstr("packing: passed over: by name only"));
  PlanRequest strided = request;
  strided.problem.stride_h = 2;
  EXPECT_EQ(find_variant("packing")->refusal(strided), "takes stride 1,1, found 2,1");
}

// Dense before grouped, batch groups before depthwise rows, planes last; what is by name only behind them.
TEST(Variants, InTheOrderOfThePublishedTable) {
  std::vector<std::string_view> names;
  for (const VariantInfo& info : variants()) names.push_back(info.full_name);
  EXPECT_THAT(names, ElementsAre("conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_default",
                                 "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_stride", "conv2d_column_packing",
                                 "conv2d_column_packing_io10", "conv1d_depthwise_default", "conv1d_depthwise_f_packing",
                                 "conv2d_column_packing_1", "conv2d_depthwise_f01b_o01i_bf01",
                                 "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_column_packing"));
}

// The dispatcher asks for the stride alone.
TEST(Variants, DispatchersChooseAmongTheirOwn) {
  constexpr auto dense = "Conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh";
  EXPECT_TRUE(is_dispatcher(dense));
  EXPECT_TRUE(is_dispatcher("Conv1d_depthwise_bf01_oi01_bf01"));
  EXPECT_FALSE(is_dispatcher(""));
  EXPECT_FALSE(is_dispatcher("conv2d_column_packing"));
  PlanRequest request = with({.C = 8, .H = 9, .W = 9, .O = 8});
  EXPECT_EQ(select_variant(request, dense)->name, "default");
  request.problem.stride_h = 2;
  EXPECT_EQ(select_variant(request, dense)->name, "stride");
  request.problem.groups = 8;
  EXPECT_EQ(select_variant(request, dense), nullptr);
}

}  // namespace
}  // namespace tilevp::test
