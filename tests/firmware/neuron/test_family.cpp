// Each variant of the convolution family over small random shapes of its own: exactly the integer definition. 2,000 a
// variant; TILEVP_LONG_TESTS=1: 20,000.
#include <gtest/gtest.h>

#include <array>

#include "firmware/neuron/expect_exact.hpp"

namespace tilevp::test {
namespace {

using neuron::conv2d::FilterLayout;
using neuron::conv2d::ImageLayout;
using neuron::conv2d::OutputLayout;

struct Member {
  const char* variant;
  void (*shape)(ConvCase&, Draw&);
};

void pad(ConvShape& s, Draw& draw) {
  const long low = draw.once_in(3) ? -2 : 0;
  for (long* pad : {&s.pt, &s.pb, &s.pl, &s.pr}) *pad = draw.in(low, 3);
}

// A small SBUF makes the plan cut strips, batches and buffers.
ConvCase small_case(Draw& draw, std::uint64_t seed) {
  ConvCase c;
  c.seed = seed;
  auto& s = c.shape;
  s = {.N = draw.in(1, 4),
       .C = draw.once_in(8) ? draw.in(43, 140) : draw.in(1, 12),
       .H = draw.in(1, 9),
       .W = draw.in(1, 9),
       .O = draw.once_in(12) ? draw.in(129, 140) : draw.in(1, 12),
       .Hf = draw.in(1, 4),
       .Wf = draw.in(1, 4)};
  pad(s, draw);
  if (draw.once_in(3)) {
    s.dh = draw.in(1, 3);
    s.dw = draw.in(1, 3);
  }
  c.dtype = draw.once_in(4) ? numeric::DType::fp32 : draw.once_in(3) ? numeric::DType::fp16 : numeric::DType::bf16;
  c.layouts.output = draw.once_in(2) ? OutputLayout::nchw : OutputLayout::ohwn;
  c.machine.sbuf_bytes = draw.once_in(2) ? 16'384 : 10'240;
  c.machine.dma_engines = draw.once_in(4) ? 3 : 16;
  return c;
}

void stride(ConvCase& c, Draw& draw) {
  c.shape.sh = draw.in(1, 3);
  c.shape.sw = draw.in(1, 3);
}

// Few groups, or two blocks of them.
long some_groups(ConvCase& c, Draw& draw) {
  c.machine.sbuf_bytes = 16'384;
  if (!draw.once_in(30)) return draw.in(2, 12);
  c.shape.H = draw.in(1, 4);
  c.shape.W = draw.in(1, 4);
  c.machine.sbuf_bytes = 49'152;
  return draw.in(126, 140);
}

void one_channel_a_group(ConvCase& c, Draw& draw) { c.shape.C = c.shape.O = some_groups(c, draw); }

void one_image_a_group(ConvCase& c, Draw& draw) {
  c.shape.C = draw.in(1, 6);
  c.shape.N = c.shape.O = c.shape.bg = some_groups(c, draw);
  c.layouts.image = draw.once_in(3) ? ImageLayout::chwn : ImageLayout::cnhw;
}

const Member members[] = {
    {"default",
     [](ConvCase& c, Draw& draw) { c.layouts.image = draw.once_in(3) ? ImageLayout::nchw : ImageLayout::chwn; }},
    {"stride", stride},
    {"packing",
     [](ConvCase& c, Draw& draw) {
       // Wide images: more than one tile of a strip; many images: more than one tile of columns.
       if (draw.once_in(4)) c.shape.N = draw.in(60, 90), c.shape.C = draw.in(1, 3), c.shape.O = draw.in(1, 3);
       if (draw.once_in(6)) {
         c.shape.W = draw.in(60, 90), c.shape.H = draw.in(9, 30), c.shape.N = 1, c.shape.O = 2;
         c.machine.sbuf_bytes = 24'576;
       }
       // More tiles in a strip than there are banks: 2 or 3 rows of 4 or 5 tiles of columns.
       if (draw.once_in(100)) {
         c.shape = {.N = draw.in(150, 250),
                    .C = draw.in(1, 3),
                    .H = draw.in(12, 18),
                    .W = draw.in(9, 11),
                    .O = draw.in(1, 2),
                    .Hf = draw.in(2, 3),
                    .Wf = 2,
                    .dh = draw.in(1, 2)};
         if (draw.once_in(2)) c.shape.C = draw.in(65, 70);  // one row on the partitions: several outer tiles
         c.machine.sbuf_bytes = 180'224;
       }
     }},
    {"diagonal1",
     [](ConvCase& c, Draw& draw) {
       one_channel_a_group(c, draw);
       c.shape.N = 1;
       c.shape.g = c.shape.C;
       c.layouts.image =
           std::array{ImageLayout::chwn, ImageLayout::nchw, ImageLayout::cnhw}[static_cast<std::size_t>(draw.in(0, 2))];
       c.layouts.filter = std::array{FilterLayout::chwo, FilterLayout::ochw,
                                     FilterLayout::cohw}[static_cast<std::size_t>(draw.in(0, 2))];
       if (draw.once_in(2)) stride(c, draw);
     }},
    {"diagonal",
     [](ConvCase& c, Draw& draw) {
       one_image_a_group(c, draw);
       c.layouts.filter = draw.once_in(3) ? FilterLayout::chwo : FilterLayout::cohw;
     }},
    {"diagonal-io10",
     [](ConvCase& c, Draw& draw) {
       one_image_a_group(c, draw);
       c.layouts.filter = FilterLayout::cowh;
     }},
};

class Family : public testing::TestWithParam<std::tuple<std::size_t, int>> {};

constexpr int parts = 2;

int shapes_of_a_part() { return random_shapes() / parts; }

TEST_P(Family, ExactlyTheDefinition) {
  const auto [index, part] = GetParam();
  for (int i = 0; i < shapes_of_a_part(); ++i) {
    const std::uint64_t seed = (index + 1) * 1'000'000 + static_cast<std::uint64_t>(part * 100'000 + i);
    Draw draw(seed);
    ConvCase c = small_case(draw, seed);
    members[index].shape(c, draw);
    make_legal(c.shape);
    expect_exact(c, members[index].variant);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Family,
                         testing::Combine(testing::Range(std::size_t{0}, std::size(members)), testing::Range(0, parts)),
                         [](const auto& instance) {
                           std::string name = members[std::get<0>(instance.param)].variant;
                           std::erase(name, '-');
                           return name + "_" + std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace tilevp::test
