// Every wait of real kernels taken away in turn: the detector of races against brute force, in any order of events.
#include <gtest/gtest.h>

#include <random>

#include "firmware/neuron/happens_before.hpp"
#include "firmware/neuron/race_study.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"
#include "tilevp/neuron/matmul/emitter.hpp"

namespace tilevp::test {
namespace {

using Pace = RaceStudy::Pace;

// Few DMA engines keep the number of descriptors small; what is told apart stays the same.
neuron::Machine study_machine() {
  neuron::Machine machine;
  machine.dma_engines = 3;
  machine.core_base = std::uint64_t{1} << 44;
  return machine;
}

neuron::Schedule convolution(const neuron::conv2d::PlanRequest& request, std::uint32_t sbuf_bytes) {
  neuron::Machine machine = study_machine();
  machine.sbuf_bytes = sbuf_bytes;
  neuron::Kernel kernel(machine);
  neuron::conv2d::emit(kernel, make_plan(request, machine),
                       {.image = 0x100'0000, .filter = 0x200'0000, .output = 0x400'0000, .zeros = 0x300'0000});
  return neuron::schedule(kernel);
}

neuron::Schedule product(std::int64_t m, std::int64_t k, std::int64_t n, std::uint32_t sbuf_bytes) {
  neuron::Machine machine = study_machine();
  machine.sbuf_bytes = sbuf_bytes;
  neuron::Kernel kernel(machine);
  emit(kernel, neuron::matmul::make_plan(m, k, n, numeric::DType::bf16, machine),
       {.lhs_t = 0x100'0000, .rhs = 0x200'0000, .out = 0x400'0000});
  return neuron::schedule(kernel);
}

struct Tally {
  unsigned waits = 0;
  unsigned unordered = 0;  // without the wait two accesses conflict that nothing orders
  unsigned ambiguous = 0;  // no two do, but another wait no longer says what has ended
  unsigned by_access = 0;  // as the eager order raises them
  unsigned by_wait = 0;
  std::string text() const {
    return std::to_string(waits) + " waits: " + std::to_string(unordered) + " order accesses, " +
           std::to_string(ambiguous) + " only counts; raised " + std::to_string(by_access) + " race.access, " +
           std::to_string(by_wait) + " race.ambiguous_wait";
  }
};

// In any order of events the detector raises something exactly where brute force finds something.
void study(const RaceStudy& study, const neuron::Schedule& schedule, Tally& tally) {
  ASSERT_TRUE(study.verdict(schedule).clean());
  ASSERT_EQ(study.detected(schedule, Pace::eager, 0), "");
  ASSERT_EQ(study.detected(schedule, Pace::lazy, 0), "");
  for (std::uint64_t seed = 0; seed < 6; ++seed) ASSERT_EQ(study.detected(schedule, Pace::random, seed), "");

  for (const WaitPlace& place : waits_of(schedule)) {
    const neuron::Schedule spoilt = without(schedule, place);
    const auto verdict = study.verdict(spoilt);
    const auto expect = [&](const std::string& rule, const std::string& order) {
      const bool right = rule == "race.access" ? !verdict.unordered.empty()
                         : rule != ""          ? !verdict.ambiguous.empty()
                                               : verdict.clean();
      EXPECT_TRUE(right) << "without wait " << place.slot << " of record " << place.instruction << " of engine "
                         << place.engine << ", " << order << ": '" << rule << "'; unordered: '" << verdict.unordered
                         << "', ambiguous: '" << verdict.ambiguous << "'";
    };
    const std::string eager = study.detected(spoilt, Pace::eager, 0);
    expect(eager, "eager");
    expect(study.detected(spoilt, Pace::lazy, 0), "lazy");
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      expect(study.detected(spoilt, Pace::random, seed), "seed " + std::to_string(seed));
    tally.waits += 1;
    tally.unordered += verdict.unordered.empty() ? 0 : 1;
    tally.ambiguous += verdict.unordered.empty() && !verdict.ambiguous.empty() ? 1 : 0;
    tally.by_access += eager == "race.access" ? 1 : 0;
    tally.by_wait += eager == "race.ambiguous_wait" ? 1 : 0;
  }
}

// docs/races.md has these figures.
void expect_study(const neuron::Schedule& schedule, std::size_t conflicts, const std::string& figures) {
  const RaceStudy one(schedule, study_machine());
  Tally tally;
  study(one, schedule, tally);
  EXPECT_EQ(one.conflicting_pairs(), conflicts);
  EXPECT_EQ(tally.text(), figures);
}

TEST(RaceStudy, ConvolutionInStrips) {
  expect_study(
      convolution({.problem = {.N = 2, .C = 140, .H = 12, .W = 12, .O = 20, .Hf = 3, .Wf = 3, .top = 1, .left = 1}},
                  2560),
      1403, "35 waits: 33 order accesses, 0 only counts; raised 33 race.access, 0 race.ambiguous_wait");
}

TEST(RaceStudy, ConvolutionOfManyFilters) {
  expect_study(convolution({.problem = {.N = 1, .C = 16, .H = 16, .W = 40, .O = 1200, .Hf = 3, .Wf = 3}}, 180'224),
               1296, "75 waits: 55 order accesses, 0 only counts; raised 55 race.access, 0 race.ambiguous_wait");
}

TEST(RaceStudy, StridedConvolution) {
  expect_study(
      convolution(
          {.problem = {.N = 1, .C = 130, .H = 17, .W = 17, .O = 8, .Hf = 3, .Wf = 3, .stride_h = 2, .stride_w = 2},
           .variant = neuron::conv2d::Variant::strided},
          1024),
      573, "32 waits: 31 order accesses, 0 only counts; raised 29 race.access, 2 race.ambiguous_wait");
}

TEST(RaceStudy, SmallConvolution) {
  expect_study(convolution({.problem = {.N = 1, .C = 3, .H = 5, .W = 5, .O = 4, .Hf = 3, .Wf = 3, .top = 1, .left = 1}},
                           180'224),
               69, "6 waits: 5 order accesses, 0 only counts; raised 5 race.access, 0 race.ambiguous_wait");
}

TEST(RaceStudy, MatrixProduct) {
  expect_study(product(700, 500, 1100, 30'000), 1874,
               "130 waits: 122 order accesses, 0 only counts; raised 101 race.access, 21 race.ambiguous_wait");
}

// Calls drawn at random, on few bytes: tiles that interleave, overlap in part or not at all, and barriers.
neuron::Schedule drawn(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  };
  neuron::Kernel kernel(study_machine());
  constexpr std::int64_t columns = 16;
  const neuron::Tensor sbuf = kernel.sbuf("s", numeric::DType::fp32, 0, columns);
  const neuron::Tensor hbm = kernel.hbm("h", numeric::DType::fp32, 0x100'0000, 128, columns);
  const auto tile = [&](const neuron::Tensor& of, std::int64_t first, std::int64_t count) {
    const std::int64_t step = 1 + up_to(2);
    const std::int64_t start = up_to(columns - 1 - 3 * step);
    return of.ap({{columns, count}, {step, 4}}, first * columns + start);
  };
  const std::int64_t calls = 8 + up_to(24);
  for (std::int64_t call = 0; call < calls; ++call) {
    const std::int64_t first = 32 * up_to(3);
    const std::int64_t count = 1 + up_to(7);
    const neuron::Access on_chip = tile(sbuf, first + up_to(3), count);
    const neuron::Access outside = tile(hbm, up_to(100), count);
    const neuron::Access other = tile(sbuf, 32 * up_to(3), count);
    const neuron::Engine by =
        std::array{neuron::Engine::vector, neuron::Engine::gpsimd, neuron::Engine::scalar}[random() % 3];
    const auto kind = random() % 16;
    if (kind < 4)
      kernel.dma_copy(on_chip, outside, neuron::QueueClass::inputs, by);
    else if (kind < 7)
      kernel.dma_copy(outside, on_chip, neuron::QueueClass::outputs);
    else if (kind == 7)
      kernel.barrier();
    else if (kind < 10)
      kernel.memset(other, 1.0F, by);
    else
      kernel.tensor_copy(tile(sbuf, first, count), other, by);
  }
  return neuron::schedule(kernel);
}

TEST(RaceStudy, CallsDrawnAtRandom) {
  Tally all;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("kernel of seed " + std::to_string(seed));
    const neuron::Schedule schedule = drawn(seed);
    study(RaceStudy(schedule, study_machine()), schedule, all);
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(all.text(),
            "732 waits: 484 order accesses, 38 only counts; raised 471 race.access, 51 race.ambiguous_wait");
}

}  // namespace
}  // namespace tilevp::test
