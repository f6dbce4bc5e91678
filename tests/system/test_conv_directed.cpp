// Shapes that once broke, or would break, a plain reading of the kernel family's formulas.
#include <gtest/gtest.h>

#include "system/conv_run.hpp"

namespace tilevp::test {
namespace {

struct Directed {
  const char* name;
  ConvShape shape;
  // By hand, images side by side: output tiles of at most 512 columns x filter tiles of 128 x filter columns x outer
  // tiles of stacked filter rows, summed over the channel tiles.
  std::int64_t matmuls;
};

const Directed directed[] = {
    // 84 rows in 8 strips: 11 rows each, the last 7. A matmul takes 512 / 60 = 8 rows: 7 x (8 + 3) and 7, 15 tiles.
    {"StripIsNoMultipleOfTheTile", {.N = 1, .C = 4, .H = 86, .W = 62, .O = 5, .Hf = 3, .Wf = 3}, 15 * 3},
    {"NineFilterTilesOnEightBanks", {.N = 1, .C = 10, .H = 6, .W = 6, .O = 1100, .Hf = 3, .Wf = 3}, 9 * 3},
    // 128 channels and 72: a filter row each, three outer tiles each.
    {"TwoHundredChannelsDilated",
     {.N = 2, .C = 200, .H = 9, .W = 9, .O = 20, .Hf = 3, .Wf = 3, .dh = 2, .dw = 2},
     3 * (3 + 3)},
    {"OneRowDilatedByThree", {.N = 1, .C = 100, .H = 12, .W = 10, .O = 20, .Hf = 3, .Wf = 2, .dh = 3}, 2 * 3},
    // Two dilated rows fit beside each other: one filter row and a row of zeros.
    {"TwoRowsDilatedByTwo", {.N = 1, .C = 50, .H = 12, .W = 10, .O = 20, .Hf = 4, .Wf = 2, .dh = 2, .dw = 2}, 2 * 4},
    {"AllPaddingNegative",
     {.N = 2, .C = 5, .H = 12, .W = 12, .O = 6, .Hf = 3, .Wf = 3, .pt = -1, .pb = -2, .pl = -3, .pr = -1},
     3},
    {"MixedPadding",
     {.N = 2, .C = 5, .H = 12, .W = 12, .O = 6, .Hf = 3, .Wf = 3, .pt = 2, .pb = -2, .pl = -3, .pr = 4},
     3},
    // 9 output pixels, 512 and 88 images each.
    {"SixHundredImages", {.N = 600, .C = 3, .H = 4, .W = 4, .O = 4, .Hf = 2, .Wf = 2}, 9 * 2 * 2},
    {"DilationBeyondTheFilter", {.N = 1, .C = 3, .H = 9, .W = 9, .O = 4, .Hf = 1, .Wf = 1, .dh = 5, .dw = 5}, 1},
    {"PaddingBeyondTheImage",
     {.N = 1, .C = 3, .H = 2, .W = 2, .O = 4, .Hf = 3, .Wf = 3, .pt = 9, .pb = 8, .pl = 7, .pr = 6},
     3},
    // Two rows of 512 and 188 columns.
    {"SevenHundredColumns", {.N = 1, .C = 3, .H = 3, .W = 702, .O = 4, .Hf = 2, .Wf = 3}, 4 * 3},
};

class ConvDirected : public testing::TestWithParam<Directed> {};

TEST_P(ConvDirected, ExactInEveryLayout) {
  ConvRun run;
  run.shape = GetParam().shape;
  for (const auto* image : {"chwn", "nchw"})
    for (const auto* output : {"nchw", "ohwn"}) {
      run.image_layout = image;
      run.output_layout = output;
      const ConvCounts counts = expect_exact(run);
      // Of nchw images each is a convolution of its own.
      if (run.image_layout == "chwn") {
        EXPECT_EQ(counts.matmuls, GetParam().matmuls);
      }
      if (HasFailure()) return;
    }
}

// Each order of the image with each of the filter, and the output in turn; on a machine whose PE array transposes by a
// product and one that keeps every bit. More than one tile of 128 each way.
TEST(ConvLayouts, EveryOrderOfAxes) {
  ConvRun run;
  run.shape = {.N = 3, .C = 140, .H = 7, .W = 8, .O = 130, .Hf = 3, .Wf = 2, .pt = 1, .pl = 1};
  const std::array outputs{"nchw", "ohwn", "hwno"};
  std::size_t turn = 0;
  for (const auto* image : {"chwn", "nchw", "cnhw", "nhwc"})
    for (const auto* filter : {"chwo", "ohwc", "ochw", "cohw", "cowh"}) {
      run.image_layout = image;
      run.filter_layout = filter;
      run.output_layout = outputs[turn++ % outputs.size()];
      run.platform = turn % 2 == 0 ? "trn1" : "trn2";
      expect_exact(run);
      if (testing::Test::HasFailure()) return;
    }
}

// The vector engine's kernels: no matmul, and of the machine what the plan says.
TEST(ConvDepthwise, PlanesInEveryOrderOfAxes) {
  ConvRun run;
  run.shape = {.N = 3, .C = 140, .H = 9, .W = 8, .O = 140, .Hf = 3, .Wf = 2, .pt = 1, .pb = 2, .pl = 1, .g = 140};
  const std::array outputs{"nchw", "ohwn", "hwno"};
  std::size_t turn = 0;
  for (const auto* image : {"chwn", "nchw", "cnhw", "nhwc"})
    for (const auto* filter : {"ochw", "chwo", "cowh"}) {
      run.image_layout = image;
      run.filter_layout = filter;
      run.output_layout = outputs[(turn + turn / 3) % outputs.size()];
      run.platform = ++turn % 2 == 0 ? "trn1" : "trn2";
      EXPECT_EQ(expect_exact(run).matmuls, 0);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(ConvDepthwise, RowsInOneAndInPackedSteps) {
  ConvRun run;
  run.shape = {.N = 2, .C = 130, .H = 1, .W = 400, .O = 130, .Hf = 1, .Wf = 5, .pl = 2, .pr = 1, .g = 130};
  run.image_layout = "nchw";
  run.filter_layout = "ochw";
  for (const auto* variant : {"auto", "conv1d_depthwise_default", "depthwise2d"}) {
    run.variant = variant;
    EXPECT_EQ(expect_exact(run).matmuls, 0);
  }
}

TEST(ConvLayouts, StridesWithATransposedImage) {
  ConvRun run;
  run.shape = {.N = 5, .C = 9, .H = 11, .W = 12, .O = 20, .Hf = 3, .Wf = 3, .sh = 2, .sw = 2};
  run.image_layout = "cnhw";
  run.filter_layout = "ohwc";
  run.output_layout = "hwno";
  run.variant = "stride";
  for (const auto* dtype : {"bf16", "fp16", "fp32"}) {
    run.dtype = dtype;
    expect_exact(run);
  }
}

TEST_P(ConvDirected, ExactInEveryTypeAndInTheStridedForm) {
  ConvRun run;
  run.shape = GetParam().shape;
  for (const auto* dtype : {"fp16", "fp32"}) {
    run.dtype = dtype;
    expect_exact(run);
  }
  run.variant = "stride";
  expect_exact(run);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvDirected, testing::ValuesIn(directed),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tilevp::test
