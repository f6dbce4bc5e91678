#pragma once
// The driver: brings a schedule into the machine and runs it. Everything goes through runtime::Host: memory and
// registers.
#include <cstdint>
#include <span>
#include <string>

#include "tilevp/neuron/allocator.hpp"
#include "tilevp/neuron/machine.hpp"
#include "tilevp/neuron/scheduler.hpp"
#include "tilevp/runtime/host.hpp"

namespace tilevp::neuron {

// What the core counted.
struct WorkCounters {
  std::uint64_t matmuls = 0;
  std::uint64_t macs = 0;  // K * M * N summed
  std::uint64_t pe_cycles = 0;
};

class Driver {
 public:
  // `core`: number of the core, region "core<number>" of the host's map; its memory is region "hbm".
  explicit Driver(runtime::Host& host, unsigned core = 0);

  const Machine& machine() const { return machine_; }

  // `bytes` of HBM, at a multiple of 64. UserError where there is no room, with who holds what.
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes) { return memory_.allocate(name, bytes); }
  std::uint64_t store(const std::string& name, std::span<const std::byte> bytes);
  void release(const std::string& name) { memory_.release(name); }

  // Puts streams and rings into HBM, starts the sequencers and returns when all have halted. May be called again. The
  // time from the first start to the last interrupt taken, in ps.
  std::uint64_t run(const Schedule& schedule);

  // The parts of run(), for programs that bring their own records. Addresses are those of encoded records.
  void set_stream(Engine engine, std::uint64_t address, std::uint64_t count);
  void set_ring(unsigned queue, unsigned dma_engine, std::uint64_t address, std::uint64_t count);
  // Starts the sequencers in that order and returns when all have halted. The time it took, as run().
  std::uint64_t start(std::span<const Engine> sequencers);
  // Records that the engine issued since it was started.
  std::uint64_t executed(Engine engine) const;

  // Since the core was built.
  WorkCounters counters() const;
  std::uint64_t queue_bytes(std::uint8_t queue) const;
  // Of all queues of a class.
  std::uint64_t class_bytes(const Schedule& schedule, QueueClass queue_class) const;

 private:
  std::uint64_t control(std::uint64_t offset) const;
  void load_streams(const Schedule& schedule);
  void load_rings(const Schedule& schedule);
  void wait_for_halts(std::uint32_t engines);

  runtime::Host& host_;
  unsigned core_;
  Machine machine_;
  Allocator memory_;
};

}  // namespace tilevp::neuron
