// Orders of axes: names, places, and how many instructions a transpose takes, counted by hand.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/layout_emitter.hpp"

namespace tilevp::neuron::conv2d {
namespace {

TEST(Layouts, PermutationsGiveEachAxisItsPlace) {
  const Sizes nchw{2, 3, 5, 7};
  EXPECT_EQ(in_memory(nchw, permutation(ImageLayout::chwn)), (Sizes{3, 5, 7, 2}));
  EXPECT_EQ(in_memory(nchw, permutation(ImageLayout::cnhw)), (Sizes{3, 2, 5, 7}));
  EXPECT_EQ(in_memory(nchw, permutation(ImageLayout::nhwc)), (Sizes{2, 5, 7, 3}));
  EXPECT_EQ(in_memory(nchw, permutation(OutputLayout::hwno)), (Sizes{5, 7, 2, 3}));
  const Sizes ochw{2, 3, 5, 7};
  EXPECT_EQ(in_memory(ochw, permutation(FilterLayout::cowh)), (Sizes{3, 2, 7, 5}));
  for (const auto layout :
       {FilterLayout::chwo, FilterLayout::ohwc, FilterLayout::ochw, FilterLayout::cohw, FilterLayout::cowh})
    EXPECT_EQ(logical_sizes(in_memory(ochw, permutation(layout)), permutation(layout)), ochw);
}

TEST(Layouts, AreNamedOrSpelledAsPermutations) {
  EXPECT_EQ(parse_image_layout("--x", "1,0,2,3"), ImageLayout::cnhw);
  EXPECT_EQ(parse_image_layout("--x", "nhwc"), ImageLayout::nhwc);
  EXPECT_EQ(parse_filter_layout("--x", "1,0,3,2"), FilterLayout::cowh);
  EXPECT_EQ(parse_output_layout("--x", "3,0,1,2"), OutputLayout::ohwn);
  EXPECT_EQ(parse_output_layout("--x", "1,2,3,0"), OutputLayout::ohwn);  // the inverse, as older copies have it
  EXPECT_THROW(parse_image_layout("--x", "1,2,3,0"), UserError);
}

// 2 x 3 matrix of bytes [n][c] with one row and column: nchw 0 1 2 | 3 4 5 becomes chwn 0 3 | 1 4 | 2 5.
TEST(Layouts, ReorderOnTheHost) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 6; ++i) bytes.push_back(static_cast<std::byte>(i));
  const auto out = reordered(bytes, 1, {2, 3, 1, 1}, permutation(ImageLayout::nchw), permutation(ImageLayout::chwn));
  std::vector<int> values;
  for (const std::byte b : out) values.push_back(std::to_integer<int>(b));
  EXPECT_EQ(values, (std::vector<int>{0, 3, 1, 4, 2, 5}));
}

using Histogram = std::map<std::string, int>;

// Calls of the trace that the transposes in front of and behind a convolution make.
Histogram calls(const Problem& problem, const Layouts& layouts, TranspositionWork& work, const Machine& machine = {}) {
  Kernel kernel{machine};
  std::uint64_t bytes = 0;
  const auto at = place_tensors(problem, numeric::DType::bf16, layouts, [&](const std::string&, std::uint64_t count) {
    return std::exchange(bytes, bytes + (count + 63) / 64 * 64);
  });
  work = emit_inputs(kernel, problem, numeric::DType::bf16, layouts, at);
  work += emit_output(kernel, problem, layouts, at);
  Histogram histogram;
  for (const Operation& operation : kernel.operations())
    ++histogram[operation.call == std::string("nc_transpose") && operation.engine == Engine::vector
                    ? "nc_transpose on vector"
                    : operation.call];
  return histogram;
}

// 64 -> 64 channels, 3x3, 56x56, one image.
const Problem layer{
    .N = 1, .C = 64, .H = 56, .W = 56, .O = 64, .Hf = 3, .Wf = 3, .top = 1, .bottom = 1, .left = 1, .right = 1};

// Whatever has one element may stand anywhere: with one image cnhw and ohwn are chwn and the like.
TEST(LayoutHistogram, NothingWhereTheOrderIsTheSame) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.image = ImageLayout::cnhw}, work), Histogram{});
  Problem one = layer;
  one.O = one.C = 1;
  EXPECT_EQ(calls(one, {.image = ImageLayout::nhwc, .filter = FilterLayout::ohwc, .output = OutputLayout::hwno}, work),
            Histogram{});
}

// 3136 pixels in rows of 64 channels: 24 tiles of 128 x 64 and one of 64 x 64, eight tiles to a load and a store.
TEST(LayoutHistogram, PixelsInFrontOfChannels) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.image = ImageLayout::nhwc}, work),
            (Histogram{{"nc_transpose", 25}, {"tensor_copy", 25}, {"dma_copy", 2 * 4}, {"barrier", 1}}));
  EXPECT_EQ(work.pe_transposes, 25);
  EXPECT_EQ(work.pe_cycles, 24 * 128 + 64);
  EXPECT_EQ(work.dma_bytes, 2 * 64 * 3136 * 2);
}

// 64 rows of 576: a load of 512 (four tiles) and one of 64.
TEST(LayoutHistogram, FiltersInFrontOfChannels) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.filter = FilterLayout::ochw}, work),
            (Histogram{{"nc_transpose", 5}, {"tensor_copy", 5}, {"dma_copy", 2 * 2}, {"barrier", 1}}));
  EXPECT_EQ(work.pe_cycles, 5 * 64);
}

// 9 taps of 64 filters each, two a tile of 128 rows: tiles of 64 x 2 rows and a last one of 64.
TEST(LayoutHistogram, FiltersInFrontOfRows) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.filter = FilterLayout::ohwc}, work),
            (Histogram{{"nc_transpose", 5}, {"tensor_copy", 5}, {"dma_copy", 2}, {"barrier", 1}}));
  EXPECT_EQ(work.pe_cycles, 4 * 128 + 64);
}

// Channels stay on the partitions: one copy in their rows; rows and columns of the filters take another before.
TEST(LayoutHistogram, FiltersBehindChannels) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.filter = FilterLayout::cohw}, work),
            (Histogram{{"tensor_copy", 1}, {"dma_copy", 2}, {"barrier", 1}}));
  EXPECT_EQ(calls(layer, {.filter = FilterLayout::cowh}, work),
            (Histogram{{"tensor_copy", 2}, {"dma_copy", 4}, {"barrier", 2}}));
  EXPECT_EQ(work.dma_bytes, 2 * 2 * 64 * 64 * 9 * 2);
}

// 64 rows of 3136: 24 tiles of 128 columns and one of 64, four to a load; 64 x 128 takes 64 cycles.
TEST(LayoutHistogram, FiltersLastInTheOutput) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.output = OutputLayout::hwno}, work),
            (Histogram{{"nc_transpose", 25}, {"tensor_copy", 25}, {"dma_copy", 2 * 7}, {"barrier", 1}}));
  EXPECT_EQ(work.pe_cycles, 25 * 64);
}

// From NC-v3 on the DMA engines turn what they load: 25 blocks of 128 and 64 rows of 64 channels, eight to a load, no
// instruction of an engine.
TEST(LayoutHistogram, TheDmaEnginesOfNcV3TurnWhatTheyLoad) {
  TranspositionWork work;
  EXPECT_EQ(calls(layer, {.image = ImageLayout::nhwc}, work, {.generation = 3}),
            (Histogram{{"dma_transpose", 4}, {"dma_copy", 4}, {"barrier", 1}}));
  EXPECT_EQ(work.dma_transposes, 25);
  EXPECT_EQ(work.pe_cycles, 0);
  EXPECT_EQ(work.dma_bytes, 2 * 64 * 3136 * 2);
}

// 30 pixels of 20 channels fit the vector engine's 32 x 32.
TEST(LayoutHistogram, SmallTilesOnTheVectorEngine) {
  TranspositionWork work;
  EXPECT_EQ(calls({.N = 2, .C = 20, .H = 3, .W = 5, .O = 1}, {.image = ImageLayout::nhwc}, work),
            (Histogram{{"nc_transpose on vector", 1}, {"dma_copy", 2}, {"barrier", 1}}));
}

// 3 channels of 128 images of 784 pixels: in rows the vector engine would copy 2 x 128 x 784 cycles on three lanes; by
// tiles 3 x 7 drains of 128.
TEST(LayoutHistogram, FewChannelsOfManyImagesGoByTiles) {
  TranspositionWork work;
  const Problem problem{.N = 128, .C = 3, .H = 28, .W = 28, .O = 1};
  EXPECT_EQ(calls(problem, {.image = ImageLayout::cnhw}, work)["nc_transpose"], 3 * 7);
  EXPECT_EQ(work.copies, 3 * 7);
  Problem wide = problem;
  wide.C = 256;
  wide.N = 2;
  EXPECT_EQ(calls(wide, {.image = ImageLayout::cnhw}, work).count("nc_transpose"), 0U);
}

}  // namespace
}  // namespace tilevp::neuron::conv2d
