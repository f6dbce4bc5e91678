#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "firmware/neuron/conv_case.hpp"
#include "firmware/neuron/happens_before.hpp"
#include "support/reference_machine.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {
namespace {

using neuron::Engine;
using neuron::Kernel;
using neuron::Machine;
using neuron::QueueClass;
using neuron::Schedule;
using neuron::Tensor;
using neuroncore::Opcode;

// A kernel of random operations on a few small buffers, so that most of them meet.
void fill_at_random(Kernel& kernel, std::uint64_t seed, int operations, int barrier_every = 0) {
  std::mt19937_64 random(seed);
  const auto in = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  constexpr auto fp32 = numeric::DType::fp32;
  const std::vector<Tensor> sbuf{kernel.sbuf("a", fp32, 0, 32), kernel.sbuf("b", fp32, 64, 32),
                                 kernel.sbuf("c", fp32, 256, 32)};
  const std::vector<Tensor> psum{kernel.psum("p", 0), kernel.psum("q", 1)};
  const std::vector<Tensor> hbm{kernel.hbm("x", fp32, 0, 8, 32), kernel.hbm("y", fp32, 4096, 8, 32)};
  const auto any = [&](const std::vector<Tensor>& list) {
    return list[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(list.size()) - 1))];
  };
  // `rows` partitions from `row` on, `size` elements from `first` on.
  const auto part = [](const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t size) {
    const std::int64_t free = t.info().free_size;
    return t.ap({{free, rows}, {1, size}}, row * free + first);
  };
  for (int i = 0; i < operations; ++i) {
    if (barrier_every > 0 && i % barrier_every == barrier_every - 1) kernel.barrier();
    const std::int64_t rows = in(1, 4), row = in(0, 4), size = in(1, 12), first = in(0, 16), other = in(0, 16);
    const auto engine = in(0, 1) == 0 ? Engine::vector : Engine::gpsimd;
    const auto trigger = std::array{Engine::sync, Engine::scalar, Engine::gpsimd}[static_cast<std::size_t>(in(0, 2))];
    const auto queue_class = static_cast<QueueClass>(in(0, 3));
    switch (in(0, 6)) {
      case 0:
        kernel.nc_matmul(part(any(psum), 0, rows, first, size), part(any(sbuf), 0, 8, other, rows),
                         part(any(sbuf), 0, 8, first, size), {.start = true, .stop = true});
        break;
      case 1:
        kernel.tensor_copy(part(any(sbuf), 0, rows, first, size), part(any(psum), 0, rows, other, size));
        break;
      case 2:
        kernel.tensor_tensor(part(any(sbuf), row, rows, first, size), part(any(sbuf), row, rows, other, size),
                             part(any(sbuf), row, rows, first, size), neuron::AluOp::add, engine);
        break;
      case 3:
        kernel.memset(part(any(sbuf), row, rows, first, size), 1.0F, engine);
        break;
      case 4:
        kernel.activation(part(any(sbuf), row, rows, first, size), neuroncore::Function::relu,
                          part(any(sbuf), row, rows, other, size));
        break;
      case 5:
        kernel.dma_copy(part(any(sbuf), row, rows, first, size), part(any(hbm), row, rows, other, size), queue_class,
                        trigger);
        break;
      default:
        kernel.dma_copy(part(any(hbm), row, rows, first, size), part(any(sbuf), row, rows, other, size), queue_class,
                        trigger);
    }
  }
}

TEST(Scheduler, OrdersEveryConflictAndNothingIsSuperfluous) {
  std::size_t waits = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Machine machine;
    machine.dma_queues = seed % 3 == 0 ? 4 : 16;
    Kernel kernel(machine);
    fill_at_random(kernel, seed, 60);
    const Schedule plan = schedule(kernel);
    ASSERT_EQ(HappensBefore(kernel.operations(), plan, 16).first_violation(), "") << "seed " << seed;
    for (const WaitPlace& wait : waits_of(plan)) {
      ++waits;
      EXPECT_NE(HappensBefore(kernel.operations(), without(plan, wait), 16).first_violation(), "")
          << "seed " << seed << ": the wait of engine " << wait.engine << " at " << wait.instruction
          << " orders nothing";
    }
  }
  EXPECT_GT(waits, 1000u);
}

TEST(Scheduler, BarriersOrderEverythingAroundThem) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Machine machine;
    machine.dma_queues = seed % 3 == 0 ? 4 : 16;
    Kernel kernel(machine);
    fill_at_random(kernel, seed, 60, 1 + static_cast<int>(seed % 20));
    const Schedule plan = schedule(kernel);
    ASSERT_EQ(HappensBefore(kernel.operations(), plan, 16).first_violation(), "") << "seed " << seed;
  }
}

TEST(Scheduler, IndependentOperationsDoNotWait) {
  Kernel kernel{Machine{}};
  const Tensor a = kernel.sbuf("a", numeric::DType::fp32, 0, 8);
  const Tensor b = kernel.sbuf("b", numeric::DType::fp32, 32, 8);
  kernel.memset(a.all(), 0.0F, Engine::gpsimd);
  kernel.memset(b.all(), 0.0F, Engine::vector);
  EXPECT_EQ(schedule(kernel).waits, 0u);
}

TEST(Scheduler, AWaitKnownThroughAnotherIsLeftOut) {
  Kernel kernel{Machine{}};
  const Tensor a = kernel.sbuf("a", numeric::DType::fp32, 0, 8);
  const Tensor b = kernel.sbuf("b", numeric::DType::fp32, 32, 8);
  kernel.memset(a.all(), 0.0F, Engine::gpsimd);                     // 0
  kernel.tensor_copy(b.all(), a.all(), Engine::vector);             // 1 after 0
  kernel.activation(a.all(), neuroncore::Function::copy, b.all());  // 2 after 1, and so after 0
  const Schedule plan = schedule(kernel);
  EXPECT_EQ(plan.waits, 2u);
  const auto& scalar = plan.streams[static_cast<std::size_t>(Engine::scalar)];
  ASSERT_EQ(scalar.size(), 3u);  // one semaphore record, the activation, halt
  EXPECT_EQ(scalar[0].waits[0],
            (neuroncore::Wait{neuroncore::Condition::ge, static_cast<std::uint8_t>(Engine::vector), 1}));
  EXPECT_EQ(scalar[0].waits[1].condition, neuroncore::Condition::none);
}

TEST(Scheduler, TriggerWaitsForItsOwnEngine) {
  Kernel kernel{Machine{}};
  const Tensor a = kernel.sbuf("a", numeric::DType::fp32, 0, 8);
  const Tensor x = kernel.hbm("x", numeric::DType::fp32, 0, 128, 8);
  kernel.memset(a.all(), 0.0F, Engine::gpsimd);
  kernel.dma_copy(x.all(), a.all(), QueueClass::outputs, Engine::gpsimd);
  const auto stream = schedule(kernel).streams[static_cast<std::size_t>(Engine::gpsimd)];
  ASSERT_EQ(stream[1].opcode, Opcode::dma_trigger);
  EXPECT_EQ(stream[1].waits[0],
            (neuroncore::Wait{neuroncore::Condition::ge, static_cast<std::uint8_t>(Engine::gpsimd), 1}));
}

TEST(Scheduler, StoresToDifferentRowsAndColumnsOfATensorDoNotMeet) {
  Kernel kernel{Machine{}};
  const Tensor a = kernel.sbuf("a", numeric::DType::fp32, 0, 8);
  const Tensor y = kernel.hbm("y", numeric::DType::fp32, 0, 128, 8);
  kernel.dma_copy(y.ap({{8, 128}, {1, 4}}), a.ap({{8, 128}, {1, 4}}), QueueClass::outputs);
  kernel.dma_copy(y.ap({{8, 128}, {1, 4}}, 4), a.ap({{8, 128}, {1, 4}}, 4), QueueClass::outputs);
  // Only the waits for the end of both.
  EXPECT_EQ(schedule(kernel).waits, 2u);
}

// Eight partitions each to 16 engines; 20 partitions are ceil(20 / 16) = 2 each to 10 engines, 6 get an empty one.
TEST(Scheduler, CopiesAreDealtByPartitions) {
  Kernel kernel{Machine{}};
  const Tensor a = kernel.sbuf("a", numeric::DType::fp32, 256, 8);
  const Tensor x = kernel.hbm("x", numeric::DType::fp32, 0, 128, 8);
  kernel.dma_copy(a.ap({{8, 20}, {1, 8}}), x.ap({{8, 20}, {1, 8}}), QueueClass::inputs);
  const Schedule plan = schedule(kernel);
  const auto& rings = plan.rings[plan.queues[0][0]];
  ASSERT_EQ(rings.size(), 16u);
  for (std::size_t e = 0; e < 16; ++e) {
    ASSERT_EQ(rings[e].size(), 1u);
    const auto& descriptor = rings[e][0];
    EXPECT_EQ(descriptor.empty, e >= 10) << e;
    EXPECT_TRUE(descriptor.signals);
    EXPECT_EQ(descriptor.increment, 1u);
    if (e >= 10) continue;
    EXPECT_EQ(descriptor.destination.bytes(), 64u);
    EXPECT_EQ(descriptor.destination.start(), (std::uint64_t{2 * e} << 18) + 256);
    EXPECT_EQ(descriptor.source.start(), 2 * e * 32);
  }
}

// Not the waits for the last copies, behind which nothing comes that could go wrong here.
std::vector<WaitPlace> waits_within(const Schedule& plan) {
  auto waits = waits_of(plan);
  const auto sync = static_cast<std::size_t>(Engine::sync);
  std::size_t last = 0;
  for (std::size_t i = 0; i < plan.streams[sync].size(); ++i)
    if (plan.streams[sync][i].opcode == Opcode::dma_trigger) last = i;
  std::erase_if(waits, [&](const WaitPlace& wait) { return wait.engine == sync && wait.instruction > last; });
  return waits;
}

TEST(Scheduler, ConvolutionWithAnyWaitDroppedIsWrongInSomeOrder) {
  ConvCase c;
  c.shape = {.N = 2, .C = 40, .H = 12, .W = 12, .O = 10, .Hf = 4, .Wf = 2, .pt = 1, .pl = 1};
  c.machine.sbuf_bytes = 1'536;
  Schedule plan;
  run_case(c, [&](Schedule& s) { plan = s; });
  const auto waits = waits_within(plan);
  EXPECT_GT(waits.size(), 30u);
  for (const WaitPlace& wait : waits) {
    std::uint64_t wrong = 0;
    for (c.seed = 1; wrong == 0 && c.seed <= 300; ++c.seed) {
      try {
        wrong = run_case(c, [&](Schedule& s) { s = without(s, wait); }).wrong;
      } catch (const MachineError&) {
        wrong = 1;
      }
    }
    EXPECT_GT(wrong, 0u) << "without the wait of engine " << wait.engine << " at " << wait.instruction << "."
                         << wait.slot;
  }
}

TEST(Scheduler, ConvolutionWithAMatmulDroppedIsWrong) {
  ConvCase c;
  c.shape = {.N = 2, .C = 6, .H = 8, .W = 8, .O = 4, .Hf = 3, .Wf = 3};
  for (std::size_t dropped = 0; dropped < 3; ++dropped) {
    const auto change = [&](Schedule& s) {
      std::size_t seen = 0;
      for (auto& instruction : s.streams[static_cast<std::size_t>(Engine::pe)])
        if (instruction.opcode == Opcode::matmul && seen++ == dropped) {
          const auto update = instruction.update;
          instruction = {};
          instruction.update = update;
        }
    };
    std::uint64_t wrong = 0;
    try {
      wrong = run_case(c, change).wrong;
    } catch (const MachineError&) {
      wrong = 1;
    }
    EXPECT_GT(wrong, 0u) << dropped;
  }
}

TEST(Scheduler, RefusesACoreWithTooFewQueues) {
  Machine machine;
  machine.dma_queues = 3;
  Kernel kernel(machine);
  try {
    schedule(kernel);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needs 4, the core has 3"));
  }
}

}  // namespace
}  // namespace tilevp::test
