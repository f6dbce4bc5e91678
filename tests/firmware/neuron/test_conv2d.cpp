// Convolutions on the reference machine: exactly the integer definition, whatever the shape and the order in which the
// agents move.
#include <gtest/gtest.h>

#include <random>

#include "firmware/neuron/expect_exact.hpp"

namespace tilevp::test {
namespace {

using neuron::conv2d::ImageLayout;
using neuron::conv2d::OutputLayout;
using neuron::conv2d::Variant;

ConvCase any_case(Draw& draw, std::uint64_t seed) {
  ConvCase c;
  c.seed = seed;
  auto& s = c.shape;
  s.N = draw.once_in(4) ? draw.in(5, 40) : draw.in(1, 4);
  s.C = draw.in(1, 40);
  s.O = draw.in(1, 40);
  s.H = draw.in(1, 14);
  s.W = draw.once_in(4) ? draw.in(20, 60) : draw.in(1, 12);
  s.Hf = draw.in(1, 5);
  s.Wf = draw.in(1, 5);
  for (long* pad : {&s.pt, &s.pb, &s.pl, &s.pr}) *pad = draw.in(0, 3);
  c.dtype = draw.once_in(4) ? numeric::DType::fp32 : draw.once_in(3) ? numeric::DType::fp16 : numeric::DType::bf16;
  c.layouts.output = draw.once_in(2) ? OutputLayout::nchw : OutputLayout::ohwn;
  c.layouts.image = draw.once_in(3) ? ImageLayout::nchw : ImageLayout::chwn;
  // A small SBUF makes the plan cut strips, batches and buffers.
  c.machine.sbuf_bytes = draw.once_in(2) ? 180'224 : 24'576;
  c.machine.dma_engines = draw.once_in(4) ? 3 : 16;
  return c;
}

void stride(ConvCase& c, Draw& draw) {
  c.shape.sh = draw.in(1, 3);
  c.shape.sw = draw.in(1, 3);
  c.layouts.image = ImageLayout::chwn;
  c.variant = draw.once_in(3) ? Variant::standard : Variant::strided;
}

// 10 classes of 210 shapes and 2,000 with other orders of axes. Each test draws its own seeds, so any of them can be
// run alone.
constexpr int shapes_of_a_class = 90;

class Shapes : public testing::TestWithParam<int> {};

void for_shapes(int part, std::uint64_t class_number, void (*change)(ConvCase&, Draw&),
                int shapes = shapes_of_a_class / 3) {
  for (int i = 0; i < shapes; ++i) {
    const std::uint64_t seed =
        class_number * 100'000 + static_cast<std::uint64_t>(part) * 10'000 + static_cast<std::uint64_t>(i);
    Draw draw(seed);
    ConvCase c = any_case(draw, seed);
    change(c, draw);
    make_legal(c.shape);
    expect_exact(c);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(Shapes, Ragged) {
  for_shapes(GetParam(), 1, [](ConvCase&, Draw&) {});
}

TEST_P(Shapes, ManyRowsOnThePartitions) {
  for_shapes(GetParam(), 2, [](ConvCase& c, Draw& draw) {
    c.shape.C = draw.in(1, 8);
    c.shape.Hf = draw.in(3, 7);
  });
}

TEST_P(Shapes, OneRowOnThePartitions) {
  for_shapes(GetParam(), 3, [](ConvCase& c, Draw& draw) { c.shape.C = draw.in(65, 128); });
}

TEST_P(Shapes, Dilated) {
  for_shapes(GetParam(), 4, [](ConvCase& c, Draw& draw) {
    c.shape.dh = draw.in(1, 4);
    c.shape.dw = draw.in(1, 4);
    if (draw.once_in(3)) c.shape.C = draw.in(43, 100);
    if (draw.once_in(3)) stride(c, draw);
  });
}

TEST_P(Shapes, Cropped) {
  for_shapes(GetParam(), 5, [](ConvCase& c, Draw& draw) {
    for (long* pad : {&c.shape.pt, &c.shape.pb, &c.shape.pl, &c.shape.pr}) *pad = draw.in(-3, 2);
    if (draw.once_in(3)) stride(c, draw);
  });
}

TEST_P(Shapes, ManyChannels) {
  for_shapes(GetParam(), 6, [](ConvCase& c, Draw& draw) {
    c.shape.C = draw.in(129, 280);
    c.shape.N = draw.in(1, 5);
    c.shape.H = draw.in(1, 8);
    if (draw.once_in(3)) c.shape.dh = 2;
    if (draw.once_in(3)) stride(c, draw);
  });
}

TEST_P(Shapes, ManyFilters) {
  for_shapes(GetParam(), 7, [](ConvCase& c, Draw& draw) {
    c.shape.O = draw.once_in(6) ? draw.in(1025, 1100) : draw.in(129, 300);
    c.shape.C = draw.in(1, 10);
    c.shape.N = draw.in(1, 3);
    c.shape.H = draw.in(1, 6);
    c.shape.W = draw.in(1, 8);
    if (c.shape.O > 1024) c.machine.sbuf_bytes = 180'224;
  });
}

TEST_P(Shapes, Strided) { for_shapes(GetParam(), 8, stride); }

TEST_P(Shapes, ManyImages) {
  for_shapes(GetParam(), 9, [](ConvCase& c, Draw& draw) {
    c.shape.N = draw.in(33, 600);
    c.shape.C = draw.in(1, 6);
    c.shape.O = draw.in(1, 6);
    c.shape.H = draw.in(1, 5);
    c.shape.W = draw.in(1, 5);
    c.shape.Hf = draw.in(1, 3);
    c.shape.Wf = draw.in(1, 3);
    c.layouts.image = ImageLayout::chwn;
    if (draw.once_in(3)) stride(c, draw);
  });
}

TEST_P(Shapes, EverythingAtOnce) {
  for_shapes(GetParam(), 10, [](ConvCase& c, Draw& draw) {
    auto& s = c.shape;
    s.C = draw.in(1, 200);
    s.O = draw.in(1, 140);
    s.dh = draw.in(1, 3);
    s.dw = draw.in(1, 3);
    s.N = draw.in(1, 6);
    s.W = draw.in(1, 20);
    for (long* pad : {&s.pt, &s.pb, &s.pl, &s.pr}) *pad = draw.in(-3, 4);
    if (draw.once_in(2)) stride(c, draw);
  });
}

template <class Layout>
Layout any_of(Draw& draw, std::initializer_list<Layout> layouts) {
  return layouts.begin()[draw.in(0, static_cast<long>(layouts.size()) - 1)];
}

// Every order of axes, with tensors that take one tile to transpose and many, square ones and slivers.
TEST_P(Shapes, Transposed) {
  const auto change = [](ConvCase& c, Draw& draw) {
    using neuron::conv2d::FilterLayout;
    auto& s = c.shape;
    s.N = draw.once_in(24) ? draw.in(120, 140) : draw.once_in(6) ? draw.in(5, 40) : draw.in(1, 3);
    s.C = draw.once_in(16) ? draw.in(120, 140) : draw.in(1, 12);
    s.O = draw.once_in(16) ? draw.in(120, 140) : draw.in(1, 12);
    s.H = draw.in(1, 5);
    s.W = draw.in(1, s.N > 40 ? 3 : 6);
    s.Hf = draw.in(1, 3);
    s.Wf = draw.in(1, 3);
    c.layouts.filter = any_of(
        draw, {FilterLayout::chwo, FilterLayout::ohwc, FilterLayout::ochw, FilterLayout::cohw, FilterLayout::cowh});
    if (draw.once_in(4)) stride(c, draw);
    const bool strides = s.sh * s.sw > 1 || c.variant == Variant::strided;
    c.layouts.image = strides
                          ? any_of(draw, {ImageLayout::chwn, ImageLayout::cnhw})
                          : any_of(draw, {ImageLayout::chwn, ImageLayout::cnhw, ImageLayout::nhwc, ImageLayout::nchw});
    c.layouts.output = any_of(draw, {OutputLayout::nchw, OutputLayout::ohwn, OutputLayout::hwno, OutputLayout::hwno});
    c.machine.generation = draw.once_in(2) ? 2 : 3;
  };
  for_shapes(GetParam(), 11, change, (random_shapes() + 2) / 3);
}

INSTANTIATE_TEST_SUITE_P(Conv2d, Shapes, testing::Values(0, 1, 2));

ConvCase with(const ConvShape& shape) {
  ConvCase c;
  c.shape = shape;
  return c;
}

// Output 84 x 60: 512 / 60 = 8 rows a matmul, 84 rows in at most 8 strips = 11 rows a strip.
TEST(Conv2dDirected, StripIsNoMultipleOfTheTile) {
  const ConvCase c = with({.N = 1, .C = 4, .H = 86, .W = 62, .O = 5, .Hf = 3, .Wf = 3});
  EXPECT_EQ(plan_of(c).tile_rows, 8);
  EXPECT_EQ(plan_of(c).stage_rows, 11);
  expect_exact(c);
}
TEST(Conv2dDirected, NineFilterTilesOnEightBanks) {
  expect_exact(with({.N = 1, .C = 10, .H = 6, .W = 6, .O = 1100, .Hf = 3, .Wf = 3}));
}
TEST(Conv2dDirected, TwoHundredChannelsDilated) {
  expect_exact(with({.N = 2, .C = 200, .H = 9, .W = 9, .O = 20, .Hf = 3, .Wf = 3, .dh = 2, .dw = 2}));
}
TEST(Conv2dDirected, OneRowDilatedByThree) {
  expect_exact(with({.N = 1, .C = 100, .H = 12, .W = 10, .O = 20, .Hf = 3, .Wf = 2, .dh = 3, .dw = 1}));
}
TEST(Conv2dDirected, TwoRowsDilatedByTwo) {
  expect_exact(with({.N = 1, .C = 50, .H = 12, .W = 10, .O = 20, .Hf = 4, .Wf = 2, .dh = 2, .dw = 2}));
}
TEST(Conv2dDirected, AllPaddingNegative) {
  expect_exact(
      with({.N = 2, .C = 5, .H = 12, .W = 12, .O = 6, .Hf = 3, .Wf = 3, .pt = -1, .pb = -2, .pl = -3, .pr = -1}));
}
TEST(Conv2dDirected, MixedPadding) {
  expect_exact(
      with({.N = 2, .C = 5, .H = 12, .W = 12, .O = 6, .Hf = 3, .Wf = 3, .pt = 2, .pb = -2, .pl = -3, .pr = 4}));
}
TEST(Conv2dDirected, SixHundredImages) {
  expect_exact(with({.N = 600, .C = 3, .H = 4, .W = 4, .O = 4, .Hf = 2, .Wf = 2}));
}
TEST(Conv2dDirected, DilationBeyondTheFilter) {
  expect_exact(with({.N = 1, .C = 3, .H = 9, .W = 9, .O = 4, .Hf = 1, .Wf = 1, .dh = 5, .dw = 5}));
}
TEST(Conv2dDirected, PaddingBeyondTheImage) {
  expect_exact(with({.N = 1, .C = 3, .H = 2, .W = 2, .O = 4, .Hf = 3, .Wf = 3, .pt = 9, .pb = 8, .pl = 7, .pr = 6}));
}
TEST(Conv2dDirected, SevenHundredColumns) {
  expect_exact(with({.N = 1, .C = 3, .H = 3, .W = 702, .O = 4, .Hf = 2, .Wf = 3}));
}

TEST(Conv2dDirected, StridedInSeveralColumnTiles) {
  ConvCase c = with({.N = 40, .C = 6, .H = 9, .W = 60, .O = 9, .Hf = 3, .Wf = 3, .sh = 2, .sw = 1, .pl = -1, .pr = 1});
  c.variant = Variant::strided;
  expect_exact(c);
}

TEST(Conv2dDirected, ImagesFoldIntoOneBatchOf256) {
  for (const auto layout : {OutputLayout::nchw, OutputLayout::ohwn}) {
    ConvCase c = with({.N = 256, .C = 1, .H = 28, .W = 28, .O = 8, .Hf = 5, .Wf = 5});
    c.layouts.output = layout;
    expect_exact(c);
  }
}

}  // namespace
}  // namespace tilevp::test
