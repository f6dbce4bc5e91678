#include "support/reference_host.hpp"

#include <cstring>

#include "tilevp/dma/registers.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::test {
namespace {

namespace core = neuroncore::registers;
namespace engine = dma::registers;

neuron::Machine placed(neuron::Machine machine, std::uint64_t base) {
  machine.core_base = base;
  return machine;
}

}  // namespace

ReferenceHost::ReferenceHost(std::size_t hbm_bytes, const neuron::Machine& machine, std::uint64_t seed)
    : description_(placed(machine, core_base)),
      machine_(description_, hbm_bytes, seed),
      map_{{"hbm", 0, hbm_bytes}, {"core0", core_base, core::window_bytes}} {}

void ReferenceHost::write(std::uint64_t address, std::span<const std::byte> bytes) {
  now_ps_ += 1000 + bytes.size();
  if (address < core_base) {
    if (address + bytes.size() > machine_.hbm.size()) throw MachineError("the host writes behind HBM");
    std::memcpy(machine_.hbm.data() + address, bytes.data(), bytes.size());
    return;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  const std::uint64_t offset = address - core_base;
  if (offset == core::control_window + core::interrupt) {
    interrupt_ &= ~static_cast<std::uint32_t>(value);
    return;
  }
  written_[offset] = value;
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (offset == core::control_window + core::sequencer(e) + core::start && value == 1) started_ |= 1U << e;
}

void ReferenceHost::read(std::uint64_t address, std::span<std::byte> bytes) {
  now_ps_ += 1000 + bytes.size();
  if (address < core_base) {
    if (address + bytes.size() > machine_.hbm.size()) throw MachineError("the host reads behind HBM");
    std::memcpy(bytes.data(), machine_.hbm.data() + address, bytes.size());
    return;
  }
  const std::uint64_t value = register_value(address - core_base - core::control_window);
  std::memcpy(bytes.data(), &value, bytes.size());
}

std::uint64_t ReferenceHost::register_value(std::uint64_t offset) const {
  const std::map<std::uint64_t, std::uint64_t> fixed{{core::generation, description_.generation},
                                                     {core::partitions, description_.partitions},
                                                     {core::sbuf_partition_bytes, description_.sbuf_bytes},
                                                     {core::psum_bank_count, description_.psum_banks},
                                                     {core::dma_engines, description_.dma_engines},
                                                     {core::dma_queues, description_.dma_queues},
                                                     {core::interrupt, interrupt_},
                                                     {core::counter_matmuls, machine_.matmuls},
                                                     {core::counter_macs, machine_.macs},
                                                     {core::counter_pe_cycles, machine_.pe_cycles}};
  if (const auto found = fixed.find(offset); found != fixed.end()) return found->second;
  const std::uint64_t queue = (offset - core::counter_queue_bytes(0)) / 8;
  if (offset < core::counter_queue_bytes(0) || queue >= machine_.queue_bytes.size())
    throw MachineError("the host reads a register that is none");
  return machine_.queue_bytes[queue];
}

// Streams and rings as the machine would fetch them.
neuron::Schedule ReferenceHost::schedule_in_memory() const {
  neuron::Schedule schedule;
  schedule.rings.assign(description_.dma_queues, std::vector<std::vector<dma::Descriptor>>(description_.dma_engines));
  const auto value = [&](std::uint64_t offset) {
    const auto found = written_.find(offset);
    return found == written_.end() ? 0 : found->second;
  };
  for (unsigned e = 0; e < neuroncore::engines; ++e) {
    if ((started_ >> e & 1U) == 0) continue;
    const std::uint64_t window = core::control_window + core::sequencer(e);
    const std::byte* at = machine_.hbm.data() + value(window + core::stream_base);
    for (std::uint64_t i = 0; i < value(window + core::stream_count); ++i, at += neuroncore::instruction_bytes)
      schedule.streams[e].push_back(neuroncore::decode(
          std::span<const std::byte, neuroncore::instruction_bytes>(at, neuroncore::instruction_bytes), "test"));
  }
  for (unsigned q = 0; q < description_.dma_queues; ++q)
    for (unsigned e = 0; e < description_.dma_engines; ++e) {
      const std::uint64_t window = core::dma_window + e * engine::window_bytes + engine::queue_base(q);
      const std::byte* at = machine_.hbm.data() + value(window + engine::ring_base);
      for (std::uint64_t i = 0; i < value(window + engine::ring_size); ++i, at += dma::descriptor_bytes)
        schedule.rings[q][e].push_back(
            dma::decode(std::span<const std::byte, dma::descriptor_bytes>(at, dma::descriptor_bytes), "test"));
    }
  return schedule;
}

void ReferenceHost::wait_for_interrupt(unsigned line) {
  if (line != 0) throw MachineError("the host waits for an interrupt that nobody raises");
  if (started_ != 0) {
    machine_.run(schedule_in_memory());
    ++runs;
    interrupt_ |= started_;
    started_ = 0;
    for (auto entry = written_.begin(); entry != written_.end();)
      entry = entry->first >= core::dma_window ? written_.erase(entry) : std::next(entry);
  }
  if (interrupt_ == 0) throw MachineError("the host waits for an interrupt that nobody raises");
  now_ps_ += 1'000'000;
}

}  // namespace tilevp::test
