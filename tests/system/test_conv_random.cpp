// Random convolutions as a user runs them: exactly the integer definition, whatever the shape.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "system/conv_run.hpp"

namespace tilevp::test {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr int shapes_of_a_test = 10;
#else
constexpr int shapes_of_a_test = 80;
#endif

// Of the definition, for one shape: what the reference computes in some milliseconds.
constexpr long most_products = 6'000'000;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  long in(long low, long high) {
    return low + static_cast<long>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool once_in(long n) { return in(1, n) == 1; }
  std::string of(std::initializer_list<const char*> words) {
    return words.begin()[in(0, static_cast<long>(words.size()) - 1)];
  }

 private:
  std::mt19937_64 random_;
};

// How many filter rows, dilated, stand side by side on the 128 partitions (REP of the kernel family's description).
long rows_on_partitions(const ConvShape& s) {
  const long extent = (s.Hf - 1) * s.dh + 1;
  long most = 1;
  for (long rows = 1; rows <= extent; ++rows)
    if (rows * s.C <= 128 && rows % s.dh == 0) most = rows;
  return most;
}

// Of a grouped convolution those of the dense block too, which the machine computes.
long products(const ConvShape& s) {
  return (s.g > 1 ? s.O : s.N) * s.O * s.filter_c() * s.Hf * s.Wf * s.out_h() * s.out_w();
}

// Moves padding and image towards a shape that has an output.
void make_legal(ConvShape& s) {
  while (s.H + s.pt + s.pb < (s.Hf - 1) * s.dh + 1) ++(s.pt < 0 ? s.pt : s.pb < 0 ? s.pb : s.H);
  while (s.W + s.pl + s.pr < (s.Wf - 1) * s.dw + 1) ++(s.pl < 0 ? s.pl : s.pr < 0 ? s.pr : s.W);
}

void add_padding(ConvShape& s, Draw& draw, long low, long high) {
  for (long* pad : {&s.pt, &s.pb, &s.pl, &s.pr}) *pad = draw.in(low, high);
}

ConvRun any_run(Draw& draw) {
  ConvRun run;
  ConvShape& s = run.shape;
  s.N = draw.once_in(4) ? draw.in(5, 40) : draw.in(1, 4);
  s.C = draw.in(1, 40);
  s.O = draw.in(1, 40);
  s.H = draw.in(1, 14);
  s.W = draw.once_in(4) ? draw.in(20, 60) : draw.in(1, 12);
  s.Hf = draw.in(1, 5);
  s.Wf = draw.in(1, 5);
  add_padding(s, draw, 0, 3);
  run.dtype = draw.of({"bf16", "bf16", "fp16", "fp32"});
  run.image_layout = draw.of({"chwn", "chwn", "nchw"});
  run.output_layout = draw.of({"nchw", "ohwn"});
  run.platform = draw.of({"trn1", "trn1", "trn1", "trn2", "trn3"});
  // Little SBUF makes the plan cut strips, batches and buffers.
  if (draw.once_in(2)) run.overrides.push_back("core.sbuf_partition_bytes=40960");
  if (draw.once_in(4)) run.overrides.push_back("dma.engines=3");
  return run;
}

void add_stride(ConvRun& run, Draw& draw) {
  run.shape.sh = draw.in(1, 3);
  run.shape.sw = draw.in(1, 3);
  run.image_layout = "chwn";  // the only one that takes strides
  run.variant = draw.of({"auto", "default", "stride"});
}

struct Class {
  const char* name;
  void (*change)(ConvRun&, Draw&);
  bool (*member)(const ConvShape&);
};

const Class classes[] = {
    {"Ragged", [](ConvRun&, Draw&) {}, [](const ConvShape&) { return true; }},
    {"ManyRowsOnThePartitions",
     [](ConvRun& run, Draw& draw) {
       run.shape.C = draw.in(1, 20);
       run.shape.Hf = draw.in(2, 7);
     },
     [](const ConvShape& s) { return rows_on_partitions(s) > 1; }},
    {"OneRowOnThePartitions", [](ConvRun& run, Draw& draw) { run.shape.C = draw.in(65, 128); },
     [](const ConvShape& s) { return rows_on_partitions(s) == 1 && s.dh == 1; }},
    {"DilatedManyRows",
     [](ConvRun& run, Draw& draw) {
       run.shape.C = draw.in(1, 64);
       run.shape.Hf = draw.in(2, 5);
       run.shape.dh = draw.in(2, 4);
       run.shape.dw = draw.in(1, 4);
       if (draw.once_in(3)) add_stride(run, draw);
     },
     [](const ConvShape& s) { return rows_on_partitions(s) > 1 && s.dh > 1; }},
    {"DilatedOneRow",
     [](ConvRun& run, Draw& draw) {
       run.shape.C = draw.in(33, 128);
       run.shape.Hf = draw.in(2, 4);
       run.shape.dh = draw.in(2, 4);
       run.shape.dw = draw.in(1, 4);
       if (draw.once_in(3)) add_stride(run, draw);
     },
     [](const ConvShape& s) { return rows_on_partitions(s) == 1 && s.dh > 1; }},
    {"Cropped",
     [](ConvRun& run, Draw& draw) {
       add_padding(run.shape, draw, -3, 2);
       if (draw.once_in(3)) add_stride(run, draw);
     },
     [](const ConvShape& s) {
       return std::min({s.pt, s.pb, s.pl, s.pr}) < 0;
     }},
    {"ManyChannels",
     [](ConvRun& run, Draw& draw) {
       run.shape.C = draw.in(129, 280);
       run.shape.N = draw.in(1, 5);
       run.shape.H = draw.in(1, 8);
       if (draw.once_in(3)) run.shape.dh = 2;
       if (draw.once_in(3)) add_stride(run, draw);
     },
     [](const ConvShape& s) { return s.C > 128; }},
    {"ManyFilters",
     [](ConvRun& run, Draw& draw) {
       ConvShape& s = run.shape;
       s.O = draw.once_in(8) ? draw.in(1025, 1100) : draw.in(129, 300);
       s.C = draw.in(1, 10);
       s.N = draw.in(1, 3);
       s.H = draw.in(1, 6);
       s.W = draw.in(1, 8);
       if (s.O > 1024) run.overrides.clear();
     },
     [](const ConvShape& s) { return s.O > 128; }},
    {"Strided", add_stride, [](const ConvShape& s) { return s.sh > 1 || s.sw > 1; }},
    {"ManyImages",
     [](ConvRun& run, Draw& draw) {
       ConvShape& s = run.shape;
       s.N = draw.in(33, 600);
       s.C = draw.in(1, 6);
       s.O = draw.in(1, 6);
       s.H = draw.in(1, 5);
       s.W = draw.in(1, 5);
       s.Hf = draw.in(1, 3);
       s.Wf = draw.in(1, 3);
       run.image_layout = "chwn";
       if (draw.once_in(3)) add_stride(run, draw);
     },
     [](const ConvShape& s) { return s.N > 32; }},
    {"EverythingAtOnce",
     [](ConvRun& run, Draw& draw) {
       ConvShape& s = run.shape;
       s.C = draw.in(1, 200);
       s.O = draw.in(1, 140);
       s.dh = draw.in(1, 3);
       s.dw = draw.in(1, 3);
       s.N = draw.in(1, 6);
       s.W = draw.in(1, 20);
       add_padding(s, draw, -3, 4);
       if (draw.once_in(2)) add_stride(run, draw);
     },
     [](const ConvShape&) { return true; }},
    {"ColumnPacking",
     [](ConvRun& run, Draw& draw) {
       run.variant = "packing";
       run.image_layout = "chwn";
       run.shape.H = draw.in(1, 24);
       run.overrides.clear();
     },
     [](const ConvShape&) { return true; }},
    {"Diagonals",
     [](ConvRun& run, Draw& draw) {
       ConvShape& s = run.shape;
       s.O = draw.once_in(6) ? draw.in(126, 140) : draw.in(2, 30);
       if (draw.once_in(2)) {
         s.N = 1;
         s.C = s.g = s.O;
         run.image_layout = draw.of({"nchw", "chwn", "cnhw"});
         run.filter_layout = draw.of({"chwo", "ochw", "cohw"});
         run.variant = "diagonal1";
         s.sh = draw.in(1, 2);
         s.sw = draw.in(1, 2);
       } else {
         s.N = s.bg = s.O;
         s.C = draw.in(1, 12);
         run.image_layout = draw.of({"chwn", "cnhw"});
         run.filter_layout = draw.of({"chwo", "cohw", "cowh"});
         run.variant = run.filter_layout == "cowh" ? "diagonal-io10" : "diagonal";
       }
     },
     [](const ConvShape& s) { return s.g > 1 || s.bg > 1; }},
};

class ConvRandom : public testing::TestWithParam<std::tuple<std::size_t, int>> {};

TEST_P(ConvRandom, ExactlyTheDefinition) {
  const auto [index, part] = GetParam();
  const Class& of = classes[index];
  std::uint64_t seed = (index + 1) * 1'000'000 + static_cast<std::uint64_t>(part) * 100'000;
  for (int shapes = 0; shapes < shapes_of_a_test; ++seed) {
    Draw draw(seed);
    ConvRun run = any_run(draw);
    run.seed = seed;
    of.change(run, draw);
    make_legal(run.shape);
    const ConvShape& s = run.shape;
    if (!of.member(s) || products(s) > most_products) continue;
    ++shapes;
    expect_exact(run);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvRandom,
                         testing::Combine(testing::Range(std::size_t{0}, std::size(classes)), testing::Range(0, 2)),
                         [](const auto& instance) {
                           return std::string(classes[std::get<0>(instance.param)].name) +
                                  std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace tilevp::test
