// Gradients and grouped convolutions as networks have them, through the command: exactly the definition, by the variant
// that `auto` takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/conv_run.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Layer {
  const char* name;
  ConvShape shape;
  const char* variant;
  const char* image_layout = "chwn";
  const char* filter_layout = "chwo";
};

// How GoogleTest prints a parameter: by its name, not by its bytes, which hold addresses.
void PrintTo(const Layer& layer, std::ostream* out) { *out << layer.name; }

// The gradient of a convolution's weights is a convolution of the images, summed over the batch, with the gradient of
// the output for a filter: channels are images, the batch is channels. The forward stride dilates the filter.
const Layer layers[] = {
    // ResNet's first layer, 7x7 with stride 2 and padding 3 on 224 x 224: 112 x 112 gradients over 223 rows, 7 x 7
    // weights. 1 channel x 128 rows on the partitions, every other of them zero.
    {"StemBackwardOfThreeChannels",
     {.N = 3,
      .C = 1,
      .H = 224,
      .W = 224,
      .O = 16,
      .Hf = 112,
      .Wf = 112,
      .pt = 3,
      .pb = 2,
      .pl = 3,
      .pr = 2,
      .dh = 2,
      .dw = 2},
     "default"},
    {"StemBackwardOfOneChannel",
     {.N = 1,
      .C = 2,
      .H = 224,
      .W = 224,
      .O = 16,
      .Hf = 112,
      .Wf = 112,
      .pt = 3,
      .pb = 2,
      .pl = 3,
      .pr = 2,
      .dh = 2,
      .dw = 2},
     "default"},
    // The images as frameworks have them, (batch, channels, H, W), are (C, N, H, W) here; the gradient likewise.
    {"StemBackwardInTheFrameworksLayouts",
     {.N = 3,
      .C = 4,
      .H = 56,
      .W = 56,
      .O = 64,
      .Hf = 28,
      .Wf = 28,
      .pt = 3,
      .pb = 2,
      .pl = 3,
      .pr = 2,
      .dh = 2,
      .dw = 2},
     "default",
     "cnhw",
     "cohw"},
    // 3x3 with stride 2: 28 x 28 gradients over 55 rows.
    {"StridedLayerBackward",
     {.N = 40, .C = 8, .H = 56, .W = 56, .O = 32, .Hf = 28, .Wf = 28, .pt = 1, .pl = 1, .dh = 2, .dw = 2},
     "default"},
    // A crop: the last row and column of the image met no filter.
    {"CroppedLayerBackward",
     {.N = 24, .C = 6, .H = 30, .W = 30, .O = 24, .Hf = 14, .Wf = 14, .pb = -1, .pr = -1, .dh = 2, .dw = 2},
     "default"},
    {"StemForwardOfThreeChannels",
     {.N = 2,
      .C = 3,
      .H = 64,
      .W = 64,
      .O = 64,
      .Hf = 7,
      .Wf = 7,
      .sh = 2,
      .sw = 2,
      .pt = 3,
      .pb = 3,
      .pl = 3,
      .pr = 3},
     "stride"},
    {"StemForwardOfOneChannel",
     {.N = 1,
      .C = 1,
      .H = 64,
      .W = 64,
      .O = 64,
      .Hf = 7,
      .Wf = 7,
      .sh = 2,
      .sw = 2,
      .pt = 3,
      .pb = 3,
      .pl = 3,
      .pr = 3},
     "stride"},
    // MobileNet: stride 1 on the vector engine, stride 2 as the diagonal of a dense block.
    {"MobileNetDepthwise",
     {.C = 512, .H = 14, .W = 14, .O = 512, .Hf = 3, .Wf = 3, .pt = 1, .pb = 1, .pl = 1, .pr = 1, .g = 512},
     "depthwise2d"},
    {"MobileNetDepthwiseStride2",
     {.C = 144, .H = 28, .W = 28, .O = 144, .Hf = 3, .Wf = 3, .sh = 2, .sw = 2, .pb = 1, .pr = 1, .g = 144},
     "diagonal1",
     "nchw",
     "ochw"},
    {"MobileNetDepthwiseOfABatch",
     {.N = 4, .C = 128, .H = 14, .W = 14, .O = 128, .Hf = 3, .Wf = 3, .pt = 1, .pb = 1, .pl = 1, .pr = 1, .g = 128},
     "depthwise2d"},
    // Its weights' gradient: channels are images and filters at once, in groups of one; the batch is the channels.
    {"MobileNetDepthwiseBackward",
     {.N = 144, .C = 2, .H = 14, .W = 14, .O = 144, .Hf = 14, .Wf = 14, .pt = 1, .pb = 1, .pl = 1, .pr = 1, .bg = 144},
     "diagonal",
     "cnhw",
     "cohw"},
    {"MobileNetDepthwiseStride2Backward",
     {.N = 96, .C = 2, .H = 28, .W = 28, .O = 96, .Hf = 14, .Wf = 14, .pb = 1, .pr = 1, .dh = 2, .dw = 2, .bg = 96},
     "diagonal"},
    {"MobileNetDepthwiseBackwardColumnsFirst",
     {.N = 32, .C = 4, .H = 14, .W = 10, .O = 32, .Hf = 14, .Wf = 8, .pt = 1, .pb = 1, .bg = 32},
     "diagonal-io10",
     "cnhw",
     "cowh"},
};

class ConvLayer : public testing::TestWithParam<Layer> {};

TEST_P(ConvLayer, ExactByTheVariantChosen) {
  const Layer& layer = GetParam();
  ConvRun run;
  run.shape = layer.shape;
  run.image_layout = layer.image_layout;
  run.filter_layout = layer.filter_layout;
  EXPECT_EQ(expect_exact(run).variant, layer.variant);
}

INSTANTIATE_TEST_SUITE_P(Networks, ConvLayer, testing::ValuesIn(layers),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Of 4 channels and 2 groups nobody has a kernel: exit 2, with what there is.
TEST(ConvFamily, GroupsThatNobodyTakesAreRefused) {
  const auto refused = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", "conv2d", "--shape", "4,4,8,8", "--filter", "4,3,3", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = tilevp(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(
      refused({"--groups", "2"}),
      AllOf(HasSubstr("no variant takes N 4, C 4, O 4 in 2 groups and 1 batch groups"), HasSubstr("groups 1 (default)"),
            HasSubstr("batch groups = N = O (diagonal)"), HasSubstr("groups = C = O, N 1 (diagonal1)")));
  EXPECT_THAT(refused({"--batch-groups", "2"}), HasSubstr("in 1 groups and 2 batch groups"));
  EXPECT_THAT(refused({"--groups", "4", "--batch-groups", "4"}), HasSubstr("expected groups of channels or of images"));
  EXPECT_THAT(refused({"--batch-groups", "4", "--variant", "diagonal1"}),
              HasSubstr("--variant diagonal1: takes groups = C = O above 1, found 1, 4, 4"));
}

// `default` brings the rows that strips share once a band; `stride` every row under a tile, for each of 3 x 1 tiles.
TEST(ConvFamily, ResidencyAgainstTraffic) {
  const auto bytes_of = [](const char* variant) {
    const Folder folder;
    const auto result = tilevp({"run", "conv2d", "--shape", "1,128,18,28", "--filter", "16,3,3", "--variant", variant,
                                "--arithmetic", "off", "-q", "--report", folder / "r.json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto report = described::parse("r.json", read_file(folder / "r.json")).tree;
    const auto& figures = report.at("result");
    EXPECT_EQ(figures.at("image_dma_minimum_bytes").to_number<std::int64_t>(), 128 * 18 * 28 * 2);
    return figures.at("image_dma_bytes").to_number<std::int64_t>();
  };
  // 16 x 26 outputs fit one matmul (416). 3 outer tiles of one row. default: 8 strips of 2 rows would cut it; one strip
  // of 16 rows does not. stride: the whole window, 15 + 3 rows.
  EXPECT_EQ(bytes_of("default"), 3 * 128 * 16 * 28 * 2);
  EXPECT_EQ(bytes_of("stride"), 3 * 128 * 18 * 28 * 2);
}

TEST(ConvFamily, ListedWithEveryToken) {
  const auto list = tilevp({"list", "variants"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_THAT(list.out, AllOf(HasSubstr("neuron/conv2d --variant packing  "),
                              HasSubstr("\n  conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh_column_packing\n"),
                              HasSubstr("\n    Pcinh  partitions hold (input channel x filter row)\n")));
  const auto described = tilevp({"describe", "program", "conv2d", "--shape", "1,8,8,8", "--filter", "8,3,3",
                                 "--variant", "CONV2D_dw_fb01_io01_01bf_rep_nhwc_Pcinh_column_packing"});
  EXPECT_EQ(described.exit_code, 0) << described.err;
  EXPECT_THAT(described.out,
              AllOf(HasSubstr("    default: would take it too\n"), HasSubstr("    packing: taken, as asked for\n"),
                    HasSubstr("    diagonal: refused: takes batch groups = N = O above 1, found 1, 1, 8\n")));
}

}  // namespace
}  // namespace tilevp::test
