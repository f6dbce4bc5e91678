// The chain of causes through a core and a DMA engine: trigger instruction, descriptor, semaphore, instruction.
#include <gtest/gtest.h>

#include <cstring>

#include "core_bench.hpp"
#include "tilevp/dma/dma_engine.hpp"

namespace {

using namespace tilevp::neuroncore;
using namespace tilevp::neuroncore::test;
namespace dma = tilevp::dma;
using tilevp::memory::AccessPattern;
using tilevp::memory::Command;

constexpr unsigned queue = 2;
constexpr unsigned semaphore = 9;
constexpr std::uint64_t ring_address = 0x800'0000;

// A DMA engine beside a core, with a ring of one empty descriptor that signals.
class BenchWithDma : private DmaTrigger, private dma::SemaphoreSink, private dma::DescriptorObserver {
 public:
  BenchWithDma() {
    engine_.memory().socket.bind(bench.dram.socket);
    to_registers_.socket.bind(engine_.registers().socket);
    to_dram_.socket.bind(bench.dram.socket);
    engine_.connect_semaphores(*this);
    engine_.observe(*this);
    bench.core.connect_dma(*this, 1, dma::registers::queues);
    bench.before = [this] { set_up_ring(); };
  }
  CoreBench bench;
  std::vector<dma::DescriptorRecord> descriptors;

  std::vector<InstructionRecord> of(Engine engine) const {
    std::vector<InstructionRecord> out;
    for (const auto& record : bench.records)
      if (record.engine == engine) out.push_back(record);
    return out;
  }

 private:
  void set_up_ring() {
    dma::Descriptor descriptor;
    descriptor.empty = descriptor.signals = true;
    descriptor.semaphore = semaphore;
    descriptor.increment = 1;
    auto bytes = dma::encode(descriptor);
    to_dram_.transfer(Command::write, AccessPattern::contiguous(ring_address, bytes.size()), bytes, 0);
    const std::uint64_t base = dma::registers::queue_base(queue);
    set_register<std::uint64_t>(base + dma::registers::ring_base, ring_address);
    set_register<std::uint32_t>(base + dma::registers::ring_size, 1);
  }
  template <class T>
  void set_register(std::uint64_t offset, T value) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof value);
    to_registers_.transfer(Command::write, AccessPattern::contiguous(offset, sizeof value), bytes, 0);
  }
  void trigger(unsigned q, std::uint32_t count, std::uint64_t cause) override { engine_.trigger(q, count, cause); }
  std::uint64_t bytes_written(unsigned q) const override { return engine_.queue_bytes(q); }
  void add(unsigned s, std::int32_t amount, std::uint64_t cause) override {
    bench.core.semaphores().add(s, amount, cause);
  }
  void ended(const dma::DescriptorRecord& record) override { descriptors.push_back(record); }

  dma::DmaEngine engine_{"dma0", bench.simulation, dma::Parameters{}, 0x100};
  tilevp::Agent agent_{bench.simulation, "programmer", 2};
  tilevp::memory::InitiatorPort to_registers_{"to_registers", agent_};
  tilevp::memory::InitiatorPort to_dram_{"to_ring", agent_};
};

TEST(Causes, RunFromTheTriggerThroughTheDescriptorToTheInstructionsThatWaited) {
  BenchWithDma machine;
  Instruction trigger = control(Opcode::dma_trigger);
  trigger.queue = queue;
  trigger.descriptors = 1;
  machine.bench.program(Engine::sync, {trigger});
  // The second wait is satisfied when it is looked at; the last memset waits for nothing.
  machine.bench.program(Engine::vector,
                        {wait_for(semaphore, 1), memset(sbuf_tile(0, 0, 8), 32, 1), wait_for(semaphore, 1),
                         memset(sbuf_tile(0, 64, 8), 32, 1), memset(sbuf_tile(0, 128, 8), 32, 1)});
  machine.bench.run();

  ASSERT_EQ(machine.descriptors.size(), 1U);
  const dma::DescriptorRecord& descriptor = machine.descriptors[0];
  EXPECT_EQ(descriptor.cause, machine.of(Engine::sync).at(0).id);
  const auto vector = machine.of(Engine::vector);
  ASSERT_GE(vector.size(), 5U);
  EXPECT_GT(vector[0].begin_ps, vector[0].requested_ps);
  EXPECT_EQ(vector[2].begin_ps, vector[2].requested_ps);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(vector[i].cause, descriptor.id) << i;
  EXPECT_EQ(vector[4].cause, 0U);
}

}  // namespace
