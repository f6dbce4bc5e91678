#include "tilevp/neuron/driver.hpp"

#include "tilevp/dma/registers.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuron {
namespace {

namespace registers = neuroncore::registers;

constexpr std::uint64_t hbm_alignment = 64;

Allocator allocator_of(const runtime::Host& host) {
  const runtime::Region& hbm = host.region("hbm");
  return {"HBM", "bytes", hbm.bytes, hbm.base, hbm_alignment};
}

// Instructions or descriptors as they lie in memory.
template <class Record>
std::vector<std::byte> encoded(const std::vector<Record>& records) {
  std::vector<std::byte> bytes;
  for (const Record& record : records) {
    const auto one = encode(record);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

}  // namespace

Driver::Driver(runtime::Host& host, unsigned core) : host_(host), core_(core), memory_(allocator_of(host)) {
  machine_.core_base = host.region("core" + std::to_string(core)).base;
  const auto read = [&](std::uint64_t offset) { return host.read_value<std::uint32_t>(control(offset)); };
  machine_.generation = read(registers::generation);
  machine_.partitions = read(registers::partitions);
  machine_.sbuf_bytes = read(registers::sbuf_partition_bytes);
  machine_.psum_banks = read(registers::psum_bank_count);
  machine_.dma_engines = read(registers::dma_engines);
  machine_.dma_queues = read(registers::dma_queues);
}

std::uint64_t Driver::control(std::uint64_t offset) const {
  return machine_.core_base + registers::control_window + offset;
}

std::uint64_t Driver::store(const std::string& name, std::span<const std::byte> bytes) {
  const std::uint64_t address = allocate(name, bytes.size());
  host_.write(address, bytes);
  return address;
}

std::uint64_t Driver::run(const Schedule& schedule) {
  // A schedule counts its semaphores from 0.
  for (unsigned s = 0; s < neuroncore::engines + machine_.dma_queues; ++s)
    host_.write_value<std::int32_t>(control(registers::semaphore(s)), 0);
  if (schedule.barriers > 0) host_.write_value<std::int32_t>(control(registers::semaphore(barrier_semaphore)), 0);
  load_rings(schedule);
  load_streams(schedule);
  std::vector<Engine> used;
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (!schedule.streams[e].empty()) used.push_back(static_cast<Engine>(e));
  const std::uint64_t time_ps = start(used);
  for (unsigned e = 0; e < neuroncore::engines; ++e)
    if (!schedule.streams[e].empty()) release("stream of " + std::string(neuroncore::name(static_cast<Engine>(e))));
  for (std::size_t q = 0; q < schedule.rings.size(); ++q)
    if (!schedule.rings[q].empty() && !schedule.rings[q][0].empty()) release("rings of queue " + std::to_string(q));
  return time_ps;
}

std::uint64_t Driver::start(std::span<const Engine> sequencers) {
  const std::uint64_t begin = host_.now_ps();
  std::uint32_t started = 0;
  for (const Engine engine : sequencers) {
    const auto e = static_cast<unsigned>(engine);
    host_.write_value<std::uint32_t>(control(registers::sequencer(e) + registers::start), 1);
    started |= 1U << e;
  }
  wait_for_halts(started);
  return host_.now_ps() - begin;
}

void Driver::set_stream(Engine engine, std::uint64_t address, std::uint64_t count) {
  const std::uint64_t sequencer = control(registers::sequencer(static_cast<unsigned>(engine)));
  host_.write_value<std::uint64_t>(sequencer + registers::stream_base, address);
  host_.write_value<std::uint32_t>(sequencer + registers::stream_count, static_cast<std::uint32_t>(count));
}

void Driver::set_ring(unsigned queue, unsigned dma_engine, std::uint64_t address, std::uint64_t count) {
  const std::uint64_t window = machine_.core_base + registers::dma_window + dma_engine * dma::registers::window_bytes;
  const std::uint64_t ring = window + dma::registers::queue_base(queue);
  host_.write_value<std::uint64_t>(ring + dma::registers::ring_base, address);
  host_.write_value<std::uint32_t>(ring + dma::registers::ring_size, static_cast<std::uint32_t>(count));
}

std::uint64_t Driver::executed(Engine engine) const {
  return host_.read_value<std::uint32_t>(
      control(registers::sequencer(static_cast<unsigned>(engine)) + registers::executed));
}

void Driver::load_streams(const Schedule& schedule) {
  for (unsigned e = 0; e < neuroncore::engines; ++e) {
    const auto& stream = schedule.streams[e];
    if (stream.empty()) continue;
    const std::uint64_t address =
        store("stream of " + std::string(neuroncore::name(static_cast<Engine>(e))), encoded(stream));
    set_stream(static_cast<Engine>(e), address, stream.size());
  }
}

// A queue's rings lie one behind the other, one an engine.
void Driver::load_rings(const Schedule& schedule) {
  for (unsigned q = 0; q < schedule.rings.size(); ++q) {
    const auto& rings = schedule.rings[q];
    if (rings.empty() || rings[0].empty()) continue;
    std::vector<std::byte> bytes;
    for (const auto& ring : rings) {
      const auto part = encoded(ring);
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    std::uint64_t address = store("rings of queue " + std::to_string(q), bytes);
    for (unsigned e = 0; e < rings.size(); ++e) {
      set_ring(q, e, address, rings[e].size());
      address += rings[e].size() * dma::descriptor_bytes;
    }
  }
}

void Driver::wait_for_halts(std::uint32_t engines) {
  for (std::uint32_t halted = 0; (halted & engines) != engines;) {
    host_.wait_for_interrupt(core_);
    const auto raised = host_.read_value<std::uint32_t>(control(registers::interrupt));
    host_.write_value<std::uint32_t>(control(registers::interrupt), raised);
    halted |= raised;
  }
}

WorkCounters Driver::counters() const {
  const auto read = [&](std::uint64_t offset) { return host_.read_value<std::uint64_t>(control(offset)); };
  return {read(registers::counter_matmuls), read(registers::counter_macs), read(registers::counter_pe_cycles)};
}

std::uint64_t Driver::queue_bytes(std::uint8_t queue) const {
  return host_.read_value<std::uint64_t>(control(registers::counter_queue_bytes(queue)));
}

std::uint64_t Driver::class_bytes(const Schedule& schedule, QueueClass queue_class) const {
  std::uint64_t total = 0;
  for (const std::uint8_t queue : schedule.queues[static_cast<std::size_t>(queue_class)]) total += queue_bytes(queue);
  return total;
}

}  // namespace tilevp::neuron
