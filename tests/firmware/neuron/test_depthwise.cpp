// Depthwise convolutions on the reference machine: exactly the integer definition, and no matmul.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "firmware/neuron/expect_exact.hpp"
#include "support/reference_machine.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/conv2d/depthwise.hpp"
#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {
namespace {

using namespace neuron::conv2d;

struct Case {
  long N = 1, C = 1, H = 1, W = 1, Hf = 1, Wf = 1, top = 0, bottom = 0, left = 0, right = 0, dh = 1, dw = 1;
  DepthwiseKind kind = DepthwiseKind::planes;
  ImageLayout image = ImageLayout::chwn;
  OutputLayout output = OutputLayout::nchw;
  numeric::DType dtype = numeric::DType::bf16;
  neuron::Machine machine{};
  std::uint64_t seed = 1;

  long out_h() const { return (H - 1) * dh + 1 + top + bottom - Hf + 1; }
  long out_w() const { return (W - 1) * dw + 1 + left + right - Wf + 1; }
  DepthwiseRequest request() const {
    DepthwiseRequest r;
    r.problem = {.N = N, .C = C, .H = H, .W = W, .O = C, .Hf = Hf, .Wf = Wf, .groups = C};
    r.problem.top = top, r.problem.bottom = bottom, r.problem.left = left, r.problem.right = right;
    r.problem.image_dilation_h = dh, r.problem.image_dilation_w = dw;
    r.dtype = dtype, r.image = image, r.output = output, r.kind = kind;
    return r;
  }
};

using Values = std::vector<int>;
Values draw_values(std::mt19937_64& random, long count) {
  Values values(static_cast<std::size_t>(count));
  for (int& value : values) value = static_cast<int>(random() % 9) - 4;
  return values;
}

// out[n][c][a][b] from x[n][c][h][w], f[c][i][j].
Values definition(const Case& s, const Values& x, const Values& f) {
  Values out;
  for (long n = 0; n < s.N; ++n)
    for (long c = 0; c < s.C; ++c)
      for (long a = 0; a < s.out_h(); ++a)
        for (long b = 0; b < s.out_w(); ++b) {
          int sum = 0;
          for (long i = 0; i < s.Hf; ++i)
            for (long j = 0; j < s.Wf; ++j) {
              const long y = a + i - s.top;
              const long x_at = b + j - s.left;
              if (y < 0 || x_at < 0 || y % s.dh != 0 || x_at % s.dw != 0 || y / s.dh >= s.H || x_at / s.dw >= s.W)
                continue;
              sum += x[static_cast<std::size_t>(((n * s.C + c) * s.H + y / s.dh) * s.W + x_at / s.dw)] *
                     f[static_cast<std::size_t>((c * s.Hf + i) * s.Wf + j)];
            }
          out.push_back(sum);
        }
  return out;
}

struct Outcome {
  std::uint64_t wrong = 0, matmuls = 0;
  std::map<std::string, long> calls{};
  std::uint64_t image_bytes = 0, filter_bytes = 0, output_bytes = 0;
};

Outcome run(const Case& s) {
  std::mt19937_64 random(s.seed);
  const Values x = draw_values(random, s.N * s.C * s.H * s.W);
  const Values f = draw_values(random, s.C * s.Hf * s.Wf);
  const Values expected = definition(s, x, f);
  const auto size = numeric::size_bytes(s.dtype);
  const std::uint64_t filter_at = (x.size() * size + 3) / 4 * 4;
  const std::uint64_t output_at = (filter_at + f.size() * size + 3) / 4 * 4;
  neuron::Machine description = s.machine;
  description.core_base = std::uint64_t{1} << 44;
  const DepthwisePlan plan = plan_depthwise(s.request(), description);
  neuron::Kernel kernel(description);
  emit(kernel, plan, {.image = 0, .filter = filter_at, .output = output_at});
  const neuron::Schedule schedule = neuron::schedule(kernel);

  ReferenceMachine machine(description, output_at + expected.size() * 4, s.seed);
  const auto put = [&](std::uint64_t base, long index, int value) {
    numeric::store_element(s.dtype, static_cast<float>(value),
                           machine.hbm.data() + base + static_cast<std::size_t>(index) * size);
  };
  for (long n = 0; n < s.N; ++n)
    for (long p = 0; p < s.C * s.H * s.W; ++p) {
      const long nchw = n * s.C * s.H * s.W + p;
      put(0, s.image == ImageLayout::nchw ? nchw : p * s.N + n, x[static_cast<std::size_t>(nchw)]);
    }
  for (std::size_t i = 0; i < f.size(); ++i) put(filter_at, static_cast<long>(i), f[i]);
  machine.run(schedule);

  Outcome outcome;
  const long plane = s.C * s.out_h() * s.out_w();
  for (long n = 0; n < s.N; ++n)
    for (long p = 0; p < plane; ++p) {
      const long at = s.output == OutputLayout::nchw ? n * plane + p : p * s.N + n;
      const float got = numeric::load_element(numeric::DType::fp32,
                                              machine.hbm.data() + output_at + static_cast<std::size_t>(at) * 4);
      if (!(got == static_cast<float>(expected[static_cast<std::size_t>(n * plane + p)]))) ++outcome.wrong;
    }
  for (const auto& operation : kernel.operations()) ++outcome.calls[operation.call];
  outcome.matmuls = machine.matmuls;
  const auto sum = [&](neuron::QueueClass of) {
    std::uint64_t total = 0;
    for (const auto queue : schedule.queues[static_cast<std::size_t>(of)]) total += machine.queue_bytes[queue];
    return total;
  };
  outcome.image_bytes = sum(neuron::QueueClass::inputs);
  outcome.filter_bytes = sum(neuron::QueueClass::weights);
  outcome.output_bytes = sum(neuron::QueueClass::outputs);
  return outcome;
}

void expect_depthwise(const Case& s) {
  const DepthwisePlan plan = plan_depthwise(s.request(), s.machine);
  SCOPED_TRACE(plan.text() + "seed " + std::to_string(s.seed));
  Outcome outcome;
  try {
    outcome = run(s);
  } catch (const std::exception& error) {
    FAIL() << error.what();
  }
  const DepthwisePrediction predicted = predict(plan);
  EXPECT_EQ(outcome.wrong, 0U);
  EXPECT_EQ(outcome.matmuls, 0U);
  EXPECT_EQ(outcome.calls.count("nc_matmul"), 0U);
  EXPECT_EQ(outcome.calls["tensor_tensor"], predicted.multiplications);
  EXPECT_EQ(outcome.calls["tensor_reduce"], predicted.reductions);
  EXPECT_EQ(outcome.image_bytes, static_cast<std::uint64_t>(predicted.image_bytes));
  EXPECT_EQ(outcome.filter_bytes, static_cast<std::uint64_t>(predicted.filter_bytes));
  EXPECT_EQ(outcome.output_bytes, static_cast<std::uint64_t>(predicted.output_bytes));
}

constexpr int parts = 4;

class Depthwise : public testing::TestWithParam<int> {
 protected:
  void for_shapes(std::uint64_t kind, void (*choose)(Case&, const std::function<long(long, long)>&)) {
    for (int i = 0; i < random_shapes() / parts; ++i) {
      Case s;
      s.seed = kind * 1'000'000 + static_cast<std::uint64_t>(GetParam()) * 10'000 + static_cast<std::uint64_t>(i);
      std::mt19937_64 random(s.seed ^ 0x5eed);
      const std::function<long(long, long)> in = [&](long low, long high) {
        return low + static_cast<long>(random() % static_cast<std::uint64_t>(high - low + 1));
      };
      s.N = in(1, 4);
      s.C = in(1, 24) == 1 ? in(129, 140) : in(1, 8);
      s.left = in(0, 2);
      s.right = in(0, 2);
      s.dtype = in(1, 3) == 1 ? numeric::DType::fp32 : in(1, 2) == 1 ? numeric::DType::fp16 : numeric::DType::bf16;
      s.machine.dma_engines = in(1, 4) == 1 ? 3 : 16;
      choose(s, in);
      while (s.out_w() < 1) ++s.W;
      while (s.out_h() < 1) ++s.H;
      // As much SBUF as the plan says it needs.
      s.machine.sbuf_bytes = static_cast<std::uint32_t>(plan_depthwise(s.request(), s.machine).bytes());
      expect_depthwise(s);
      if (HasFailure()) return;
    }
  }
};

void one_row(Case& s, const std::function<long(long, long)>& in) {
  s.W = in(1, 12) == 1 ? in(100, 400) : in(1, 40);
  s.Wf = in(1, 8) == 1 ? in(8, 60) : in(1, 7);
  s.image = ImageLayout::nchw;
}

TEST_P(Depthwise, RowsInOneStep) {
  for_shapes(1, [](Case& s, const std::function<long(long, long)>& in) {
    one_row(s, in);
    s.kind = DepthwiseKind::row_default;
  });
}

TEST_P(Depthwise, RowsInPackedSteps) {
  for_shapes(2, [](Case& s, const std::function<long(long, long)>& in) {
    one_row(s, in);
    s.kind = DepthwiseKind::row_packed;
  });
}

TEST_P(Depthwise, Planes) {
  for_shapes(3, [](Case& s, const std::function<long(long, long)>& in) {
    s.H = in(1, 6);
    s.W = in(1, 24) == 1 ? in(200, 300) : in(1, 7);
    s.Hf = in(1, 4);
    s.Wf = in(1, 4);
    s.top = in(0, 2);
    s.bottom = in(0, 2);
    if (in(1, 24) == 1) s.N = in(20, 200), s.C = in(1, 2), s.W = in(1, 5);
    if (in(1, 3) == 1) s.dh = in(1, 3), s.dw = in(1, 3);
    s.image = in(1, 3) == 1 ? ImageLayout::nchw : ImageLayout::chwn;
    s.output = in(1, 2) == 1 ? OutputLayout::nchw : OutputLayout::ohwn;
  });
}

INSTANTIATE_TEST_SUITE_P(Conv2d, Depthwise, testing::Range(0, parts));

// 2048 positions of 3 taps: a multiplication and a reduction for each of 12 steps of 171 positions, 8 images, 4 tiles
// of channels.
TEST(DepthwiseDirected, PackedStepsHave512Products) {
  const Case s{.N = 8, .C = 512, .W = 2050, .Wf = 3, .kind = DepthwiseKind::row_packed, .image = ImageLayout::nchw};
  const DepthwisePlan plan = plan_depthwise(s.request(), s.machine);
  EXPECT_EQ(plan.positions, 171);
  EXPECT_EQ(predict(plan).multiplications, 8 * 4 * 12);
  EXPECT_EQ(predict(plan).reductions, 8 * 4 * 12);
}

// One step only where all positions fit it.
TEST(DepthwiseDirected, OneStepIsAsManyPositionsAsAPackedOne) {
  Case s{.W = 173, .Wf = 3};  // 171 positions
  EXPECT_TRUE(depthwise_in_one_step(s.request().problem));
  ++s.W;
  EXPECT_FALSE(depthwise_in_one_step(s.request().problem));
}

// MobileNet: 32 channels, 3x3, 112x112. 16 KiB / (4 x 114) = 35 rows: 33 output rows a window, 4 windows. Nine
// multiplications and a reduction a row; the rows between windows are loaded twice.
TEST(DepthwiseDirected, TheFirstDepthwiseLayerOfMobileNet) {
  Case s{.C = 32, .H = 112, .W = 112, .Hf = 3, .Wf = 3, .top = 1, .bottom = 1, .left = 1, .right = 1};
  const DepthwisePlan plan = plan_depthwise(s.request(), s.machine);
  EXPECT_EQ(plan.rows, 33);
  const Outcome outcome = run(s);
  EXPECT_EQ(outcome.wrong, 0U);
  EXPECT_EQ(outcome.calls.at("tensor_tensor"), 9 * 112);
  EXPECT_EQ(outcome.calls.at("tensor_reduce"), 112);
  EXPECT_EQ(outcome.calls.count("nc_matmul"), 0U);
  EXPECT_EQ(outcome.image_bytes, 32U * 112 * (112 + 3 * 2) * 2);
}

TEST(DepthwiseDirected, ADilatedImageIsScattered) {
  const Case s{.N = 2, .C = 5, .H = 4, .W = 5, .Hf = 3, .Wf = 3, .top = 1, .left = 2, .dh = 2, .dw = 3};
  const Outcome outcome = run(s);
  EXPECT_EQ(outcome.wrong, 0U);
  EXPECT_EQ(outcome.calls.at("tensor_copy"), 1);
}

TEST(DepthwiseDirected, SaysWhatItDoesNotTake) {
  DepthwiseRequest r = Case{.H = 9, .W = 9, .Hf = 3, .Wf = 3}.request();
  EXPECT_EQ(depthwise_refusal(r), "");
  r.problem.stride_h = 2;
  EXPECT_EQ(depthwise_refusal(r), "strides are 2,1, it takes 1,1");
  r.problem.stride_h = 1;
  r.problem.dilation_w = 3;
  EXPECT_EQ(depthwise_refusal(r), "filter dilation is 1,3, it takes 1,1");
  r.problem.dilation_w = 1;
  r.problem.left = -1;
  EXPECT_EQ(depthwise_refusal(r), "padding is negative, it takes 0 or more");
  r.problem.left = 0;
  r.kind = DepthwiseKind::row_packed;
  EXPECT_EQ(depthwise_refusal(r), "the image has 9 rows and the filter 3, it takes one row of both");
  r = Case{.W = 700, .Wf = 512, .kind = DepthwiseKind::row_default, .image = ImageLayout::nchw}.request();
  EXPECT_EQ(depthwise_refusal(r), "the filter has 512 columns, it takes fewer than 512");
  r.problem.Wf = 511;
  EXPECT_EQ(depthwise_refusal(r), "");
  r.image = ImageLayout::chwn;
  EXPECT_EQ(depthwise_refusal(r), "image and output are chwn and nchw, it takes nchw of both");
}

}  // namespace
}  // namespace tilevp::test
