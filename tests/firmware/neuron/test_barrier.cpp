// Barriers: what they are made of, and that two engines which meet only there see each other's work.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "firmware/neuron/happens_before.hpp"
#include "support/reference_machine.hpp"
#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {
namespace {

using neuron::Engine;
using neuron::Kernel;
using neuron::Machine;
using neuron::QueueClass;
using neuron::Schedule;
using neuron::Tensor;
using neuroncore::Condition;
using neuroncore::Instruction;
using neuroncore::Opcode;
using neuroncore::UpdateKind;

constexpr auto fp32 = numeric::DType::fp32;
constexpr std::int64_t columns = 8;
constexpr std::size_t tensor_bytes = 128 * columns * 4;

Machine machine() {
  Machine description;
  description.core_base = std::uint64_t{1} << 44;
  return description;
}

std::vector<Instruction>& stream(Schedule& plan, Engine engine) {
  return plan.streams[static_cast<std::size_t>(engine)];
}

// Two engines write two tensors each, meet, read what the other wrote, meet again, and both results are stored.
// gpsimd: a = 1, b = 2; vector: c = 10, d = 20; |; gpsimd: e = c + d; vector: f = a + b; |; sync stores e and f.
struct Exchange {
  Kernel kernel{machine()};
  Exchange() {
    const auto tensor = [&](const char* name, std::uint64_t at) { return kernel.sbuf(name, fp32, at * 32, columns); };
    const Tensor a = tensor("a", 0), b = tensor("b", 1), c = tensor("c", 2), d = tensor("d", 3), e = tensor("e", 4),
                 f = tensor("f", 5);
    const Tensor y = kernel.hbm("y", fp32, 0, 128, columns);
    const Tensor z = kernel.hbm("z", fp32, tensor_bytes, 128, columns);
    kernel.memset(a.all(), 1.0F, Engine::gpsimd);
    kernel.memset(b.all(), 2.0F, Engine::gpsimd);
    kernel.memset(c.all(), 10.0F, Engine::vector);
    kernel.memset(d.all(), 20.0F, Engine::vector);
    kernel.barrier();
    kernel.tensor_tensor(e.all(), c.all(), d.all(), neuron::AluOp::add, Engine::gpsimd);
    kernel.tensor_tensor(f.all(), a.all(), b.all(), neuron::AluOp::add, Engine::vector);
    kernel.barrier();
    kernel.dma_copy(y.all(), e.all(), QueueClass::outputs);
    kernel.dma_copy(z.all(), f.all(), QueueClass::outputs);
  }
};

// What is wrong with a run in the order of `seed`; nothing: "".
std::string problem_in(const Schedule& plan, std::uint64_t seed) {
  ReferenceMachine reference(machine(), 2 * tensor_bytes, seed);
  try {
    reference.run(plan);
  } catch (const MachineError& error) {
    return error.what();
  }
  std::vector<float> values(2 * tensor_bytes / 4);
  std::memcpy(values.data(), reference.hbm.data(), reference.hbm.size());
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  if (!std::all_of(values.begin(), half, [](float v) { return v == 30.0F; })) return "gpsimd read too early";
  if (!std::all_of(half, values.end(), [](float v) { return v == 3.0F; })) return "vector read too early";
  return "";
}

TEST(Barrier, IsDrainThenArriveThenMeet) {
  const Exchange exchange;
  Schedule plan = schedule(exchange.kernel);
  EXPECT_EQ(plan.barriers, 2u);
  // Three engines are used. gpsimd: 2 memsets, 3 records, an addition, 3 records, halt.
  const auto& gpsimd = stream(plan, Engine::gpsimd);
  ASSERT_EQ(gpsimd.size(), 10u);
  for (const auto& [at, met] : {std::pair{2u, 3}, {6u, 6}}) {
    EXPECT_EQ(gpsimd[at].opcode, Opcode::drain);
    EXPECT_EQ(gpsimd[at + 1].opcode, Opcode::semaphore);
    EXPECT_EQ(gpsimd[at + 1].waits[0].condition, Condition::none);
    EXPECT_EQ(gpsimd[at + 1].update, (neuroncore::Update{UpdateKind::add, neuron::barrier_semaphore, 1}));
    EXPECT_EQ(gpsimd[at + 2].opcode, Opcode::semaphore);
    EXPECT_EQ(gpsimd[at + 2].waits[0], (neuroncore::Wait{Condition::ge, neuron::barrier_semaphore, met}));
    EXPECT_EQ(gpsimd[at + 2].update.kind, UpdateKind::none);
  }
  EXPECT_EQ(stream(plan, Engine::vector).size(), 10u);
  // sync: 3 + 3 records, two triggers, one record for the last copies, halt.
  EXPECT_EQ(stream(plan, Engine::sync).size(), 10u);
  EXPECT_TRUE(stream(plan, Engine::pe).empty());
  EXPECT_TRUE(stream(plan, Engine::scalar).empty());
  EXPECT_LT(neuron::barrier_semaphore, 256);
  EXPECT_GE(neuron::barrier_semaphore, neuroncore::engines + machine().dma_queues);
}

TEST(Barrier, NothingElseOrdersTheEngines) {
  const Exchange exchange;
  Schedule plan = schedule(exchange.kernel);
  EXPECT_EQ(plan.waits, 2u * 3 + 2);  // a wait an engine and barrier; the ends of both copies
  for (const auto& records : plan.streams)
    for (const Instruction& record : records)
      if (record.opcode >= Opcode::matmul) {
        EXPECT_EQ(record.update.kind, UpdateKind::none);
      }
}

TEST(Barrier, EnginesThatMeetOnlyThereSeeEachOthersWork) {
  const Exchange exchange;
  const Schedule plan = schedule(exchange.kernel);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) ASSERT_EQ(problem_in(plan, seed), "") << "seed " << seed;
}

// Only two kinds of records may go: the drain of the sync engine, which executes nothing, and the last wait of an
// engine that has nothing left to do.
TEST(Barrier, WithAnyRecordDroppedSomeOrderIsWrong) {
  const Exchange exchange;
  const Schedule plan = schedule(exchange.kernel);
  int dropped = 0;
  for (const Engine engine : {Engine::gpsimd, Engine::vector, Engine::sync}) {
    const auto& records = plan.streams[static_cast<std::size_t>(engine)];
    for (std::size_t i = 0; i < records.size(); ++i) {
      const bool drain = records[i].opcode == Opcode::drain && engine != Engine::sync;
      const bool meets =
          records[i].opcode == Opcode::semaphore &&
          (records[i].update.kind != UpdateKind::none || records[i].waits[0].semaphore == neuron::barrier_semaphore);
      if ((!drain && !meets) || records[i + 1].opcode == Opcode::halt) continue;
      ++dropped;
      Schedule broken = plan;
      broken.streams[static_cast<std::size_t>(engine)][i] = {};
      bool right = true;
      for (std::uint64_t seed = 1; right && seed <= 2000; ++seed) right = problem_in(broken, seed).empty();
      EXPECT_FALSE(right) << "without record " << i << " of " << name(engine);
    }
  }
  EXPECT_EQ(dropped, 2 * 2 + 3 * 2 + 3 * 2 - 2);  // drains, arrivals, waits
}

// A drain does not wait for copies: the engine that triggered them does, before it arrives.
TEST(Barrier, CopiesEndBeforeIt) {
  Kernel kernel(machine());
  const Tensor x = kernel.hbm("x", fp32, 0, 128, columns);
  const Tensor a = kernel.sbuf("a", fp32, 0, columns);
  const Tensor b = kernel.sbuf("b", fp32, 32, columns);
  const Tensor c = kernel.sbuf("c", fp32, 64, columns);
  const Tensor d = kernel.sbuf("d", fp32, 96, columns);
  for (const Tensor& to : {a, b, c}) kernel.dma_copy(to.all(), x.all(), QueueClass::inputs, Engine::scalar);
  kernel.barrier();
  kernel.tensor_tensor(d.all(), a.all(), c.all(), neuron::AluOp::add);
  Schedule plan = schedule(kernel);
  EXPECT_EQ(HappensBefore(kernel.operations(), plan, 16).first_violation(), "");
  // Three triggers to three queues, drain, two waits, one wait and arrival, meet, halt.
  const auto& scalar = stream(plan, Engine::scalar);
  ASSERT_EQ(scalar.size(), 8u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& wait = scalar[4 + i / 2].waits[i % 2];
    const auto queue = plan.queues[static_cast<std::size_t>(QueueClass::inputs)][i];
    EXPECT_EQ(wait, (neuroncore::Wait{Condition::ge, static_cast<std::uint8_t>(neuroncore::engines + queue), 16}));
  }
  EXPECT_EQ(scalar[4].update.kind, UpdateKind::none);
  EXPECT_EQ(scalar[5].update.kind, UpdateKind::add);
  for (const WaitPlace& wait : waits_of(plan))
    if (wait.engine == static_cast<std::size_t>(Engine::scalar) && wait.instruction < 6) {
      EXPECT_NE(HappensBefore(kernel.operations(), without(plan, wait), 16).first_violation(), "");
    }
}

// `barriers` among operations of all five engines: 3 records each, whatever lies between.
TEST(Barrier, CostsThreeRecordsAnEngine) {
  for (const std::size_t barriers : {0u, 1u, 7u}) {
    Kernel kernel(machine());
    const Tensor a = kernel.sbuf("a", numeric::DType::bf16, 0, 64);
    const Tensor x = kernel.hbm("x", numeric::DType::bf16, 0, 128, 64);
    const Tensor bank = kernel.psum("bank", 0);
    kernel.dma_copy(a.all(), x.all(), QueueClass::inputs, Engine::sync);
    for (std::size_t i = 0; i < barriers; ++i) kernel.barrier();
    kernel.nc_matmul(bank.ap({{512, 64}, {1, 64}}), a.all(), a.all(), {.start = true, .stop = true});
    kernel.memset(a.all(), 0.0F, Engine::gpsimd);
    kernel.memset(a.all(), 0.0F, Engine::vector);
    kernel.activation(a.all(), neuroncore::Function::relu, a.all());
    Schedule plan = schedule(kernel);
    // Trigger, matmul, two memsets, activation; four waits, of the matmul for the copy and of each for the one before
    // (a barrier saves the first, and the one for the copy's end); a halt an engine.
    const std::size_t waits = barriers == 0 ? 5 : 3;
    EXPECT_EQ(plan.instructions(), 5 + waits + 5 + 5 * 3 * barriers) << barriers;
    EXPECT_EQ(HappensBefore(kernel.operations(), plan, 16).first_violation(), "");
  }
}

}  // namespace
}  // namespace tilevp::test
