// Every wait of real kernels taken away in turn: the detector of races against brute force, in any order of events.
#include <gtest/gtest.h>

#include "firmware/neuron/happens_before.hpp"
#include "system/race_study.hpp"
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
                       {.image = 0x100'0000, .filter = 0x200'0000, .zeros = 0x300'0000, .output = 0x400'0000});
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
  unsigned unordered = 0;
  unsigned by_access = 0;  // raised in the first order of events
  unsigned by_wait = 0;
};

void study(const char* name, const neuron::Schedule& schedule) {
  const RaceStudy study(schedule, study_machine());
  ASSERT_EQ(study.unordered(schedule), std::nullopt);
  for (std::uint64_t seed = 0; seed < 20; ++seed) ASSERT_EQ(study.detected(schedule, Pace::random, seed), "");
  ASSERT_EQ(study.detected(schedule, Pace::eager, 0), "");
  ASSERT_EQ(study.detected(schedule, Pace::lazy, 0), "");

  Tally tally;
  for (const WaitPlace& place : waits_of(schedule)) {
    const neuron::Schedule spoilt = without(schedule, place);
    const auto pair = study.unordered(spoilt);
    const auto expect = [&](const std::string& rule, const std::string& order) {
      EXPECT_EQ(rule != "", pair.has_value())
          << "without wait " << place.slot << " of record " << place.instruction << " of engine " << place.engine
          << ", " << order << ": " << rule << "; unordered: " << pair.value_or("none");
    };
    const std::string eager = study.detected(spoilt, Pace::eager, 0);
    expect(eager, "eager");
    expect(study.detected(spoilt, Pace::lazy, 0), "lazy");
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      expect(study.detected(spoilt, Pace::random, seed), "seed " + std::to_string(seed));
    tally.waits += 1;
    tally.unordered += pair ? 1 : 0;
    tally.by_access += eager == "race.access" ? 1 : 0;
    tally.by_wait += eager == "race.ambiguous_wait" ? 1 : 0;
  }
  std::printf("%s: %zu operations, %zu conflicting pairs; of %u waits %u order a conflict; %u race.access, %u race.ambiguous_wait\n",
              name, study.operations(), study.conflicting_pairs(), tally.waits, tally.unordered, tally.by_access,
              tally.by_wait);
  EXPECT_GT(tally.unordered, 0u);
}

TEST(RaceStudy, ConvolutionInStrips) {
  study("default", convolution({{.N = 2, .C = 140, .H = 8, .W = 8, .O = 20, .Hf = 3, .Wf = 3, .pt = 1, .pl = 1}}, 4096));
}

TEST(RaceStudy, StridedConvolution) {
  study("stride", convolution({{.N = 1, .C = 130, .H = 9, .W = 9, .O = 8, .Hf = 3, .Wf = 3, .sh = 2, .sw = 2},
                               numeric::DType::bf16,
                               neuron::conv2d::ImageLayout::chwn,
                               neuron::conv2d::OutputLayout::nchw,
                               neuron::conv2d::Variant::strided}, 4096));
}

TEST(RaceStudy, SmallConvolution) {
  study("small", convolution({{.N = 1, .C = 3, .H = 5, .W = 5, .O = 4, .Hf = 3, .Wf = 3, .pt = 1, .pl = 1}}, 180'224));
}

TEST(RaceStudy, MatrixProduct) { study("matmul", product(300, 400, 600, 8192)); }

}  // namespace
}  // namespace tilevp::test
