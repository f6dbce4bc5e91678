// A schedule with one thing wrong: the machine must end otherwise than well, or with another result.
#include <gtest/gtest.h>

#include <string>

#include "system/conv_kernel.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/wait_board.hpp"
#include "tilevp/neuroncore/rules.hpp"
#include "tilevp/platform/builder.hpp"

namespace tilevp::test {
namespace {

using neuron::Schedule;
using neuroncore::Engine;
using neuroncore::Instruction;
using neuroncore::Opcode;

// Two channel tiles, so that sums meet in SBUF too; padding, so that buffers are cleared.
ConvRun small_run() {
  ConvRun run;
  run.shape = {.N = 2, .C = 140, .H = 8, .W = 8, .O = 20, .Hf = 3, .Wf = 3, .pt = 1, .pl = 1};
  return run;
}

struct End {
  std::string rule{};  // of a fault
  bool no_end = false;
  std::size_t wrong = 0;
};

// A process has one platform, so a test calls this once.
End end_of(const std::function<void(Schedule&)>& change) {
  const ConvRun run = small_run();
  platform::Platform machine(platform::load_description("trn1", {}).description, {});
  std::vector<float> output;
  try {
    machine.run([&](runtime::Host& host) { output = run_kernel(host, run, change).output; });
  } catch (const Fault& fault) {
    return {.rule = fault.rule()};
  } catch (const NoEnd&) {
    return {.no_end = true};
  }
  const auto expected = expected_output(run, values_of(run));
  End end;
  for (std::size_t i = 0; i < expected.size(); ++i) end.wrong += output[i] == expected[i] ? 0 : 1;
  return end;
}

std::vector<Instruction>& stream(Schedule& schedule, Engine engine) {
  return schedule.streams[static_cast<std::size_t>(engine)];
}

// The first instruction of an engine that `matches`.
template <class Predicate>
Instruction& first(Schedule& schedule, Engine engine, Predicate matches) {
  for (Instruction& instruction : stream(schedule, engine))
    if (matches(instruction)) return instruction;
  throw std::runtime_error("the schedule has no such instruction");
}

bool waits(const Instruction& i) {
  return i.opcode == Opcode::semaphore && i.waits[0].condition == neuroncore::Condition::ge;
}

// Its first record that waits becomes one that does not.
std::function<void(Schedule&)> without_first_wait(Engine engine) {
  return [=](Schedule& schedule) { first(schedule, engine, waits).waits = {}; };
}

TEST(ConvMutation, UnspoiltIsRight) {
  const End end = end_of({});
  EXPECT_EQ(end.rule, "");
  EXPECT_FALSE(end.no_end);
  EXPECT_EQ(end.wrong, 0u);
}

TEST(ConvMutation, MatmulThatDoesNotWaitForItsOperands) {
  EXPECT_EQ(end_of(without_first_wait(Engine::pe)).rule, neuroncore::rule::sbuf_undefined_read);
}

TEST(ConvMutation, DrainThatDoesNotWaitForTheMatmul) {
  EXPECT_EQ(end_of(without_first_wait(Engine::vector)).rule, neuroncore::rule::psum_undefined_read);
}

TEST(ConvMutation, MatmulDropped) {
  const End end = end_of([](Schedule& schedule) {
    auto& matmul = first(schedule, Engine::pe, [](const Instruction& i) {
      return i.opcode == Opcode::matmul && (i.flags & neuroncore::matmul_accumulate) != 0;
    });
    const auto update = matmul.update;
    matmul = {};
    matmul.update = update;
  });
  EXPECT_GT(end.wrong, 0u);
}

TEST(ConvMutation, FirstMatmulOfAGroupDropped) {
  const End end = end_of([](Schedule& schedule) {
    auto& matmul = first(schedule, Engine::pe, [](const Instruction& i) { return i.opcode == Opcode::matmul; });
    matmul = {};
  });
  EXPECT_EQ(end.rule, neuroncore::rule::psum_accumulate_unstarted);
}

TEST(ConvMutation, SourcesOfTwoDescriptorsSwapped) {
  const End end = end_of([](Schedule& schedule) {
    const auto queue = schedule.queues[static_cast<std::size_t>(neuron::QueueClass::inputs)][0];
    // A copy begins with the rows of zeros above the image: those of two engines are the same.
    auto& rings = schedule.rings[queue];
    std::size_t at = 0;
    while (rings[0][at].source.start() == rings[1][at].source.start()) ++at;
    ASSERT_EQ(rings[0][at].destination.bytes(), rings[1][at].destination.bytes());
    std::swap(rings[0][at].source, rings[1][at].source);
  });
  EXPECT_GT(end.wrong, 0u);
}

TEST(ConvMutation, CopyThatDoesNotSignal) {
  const End end = end_of([](Schedule& schedule) {
    const auto queue = schedule.queues[static_cast<std::size_t>(neuron::QueueClass::weights)][0];
    schedule.rings[queue][5][0].signals = false;
  });
  EXPECT_TRUE(end.no_end);
}

TEST(ConvMutation, StoreThatDoesNotWaitForTheLastSum) {
  const End end = end_of([](Schedule& schedule) {
    auto& scalar = stream(schedule, Engine::scalar);
    for (Instruction& instruction : scalar) {
      const bool trigger = instruction.opcode == Opcode::dma_trigger;
      if (trigger || instruction.opcode == Opcode::semaphore) instruction.waits = {};
      if (trigger) return;
    }
  });
  EXPECT_EQ(end.rule, neuroncore::rule::sbuf_undefined_read);
}

}  // namespace
}  // namespace tilevp::test
