#pragma once
// A host, one or more DMA engines, a memory for the rings, a source and a target behind one router.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/memory/bench.hpp"
#include "models/memory/disordered_memory.hpp"
#include "support/report_breach.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/interconnect/router.hpp"
#include "tilevp/memory/protocol_checker.hpp"

namespace tilevp::dma::testing {

using memory::AccessPattern;
using memory::Command;
using memory::MemoryParameters;
using memory::testing::byte_a_nanosecond;
using memory::testing::DisorderedMemory;
using memory::testing::Driver;
using memory::testing::ForeignMemory;
using memory::testing::ramp;

inline constexpr std::uint64_t ring_address = 0x0;
inline constexpr std::uint64_t source_address = 0x1000'0000;
inline constexpr std::uint64_t target_address = 0x2000'0000;
inline constexpr std::uint64_t register_address = 0x3000'0000;
inline constexpr std::uint64_t memory_bytes = 1 << 24;

// A memory that takes no time worth a picosecond.
inline MemoryParameters instant_memory() {
  return {.size_bytes = memory_bytes, .clock_hz = 1'000'000'000, .bandwidth = memory::flat_model(1e12)};
}
inline MemoryParameters flat_memory(double bits_per_cycle, std::optional<std::int64_t> burst = std::nullopt) {
  MemoryParameters parameters = instant_memory();
  parameters.bandwidth = memory::flat_model(bits_per_cycle);
  parameters.bandwidth.burst_bytes = burst;
  return parameters;
}
// An engine that costs nothing: what is left is the memories' time.
inline Parameters instant_engine() {
  Parameters parameters;
  parameters.bytes_per_ns = 1e9;
  parameters.start_latency_ns = 0;
  parameters.run_floor_ns = 0;
  return parameters;
}

struct Completed {
  unsigned semaphore;
  std::int32_t amount;
  std::uint64_t at_ps;
  friend bool operator==(const Completed&, const Completed&) = default;
};

class Sink : public SemaphoreSink {
 public:
  void add(unsigned semaphore, std::int32_t amount, std::uint64_t cause) override {
    completed.push_back({semaphore, amount, now_ps()});
    causes.push_back(cause);
    event.notify(sc_core::SC_ZERO_TIME);
  }
  std::vector<Completed> completed;
  std::vector<std::uint64_t> causes;  // of each
  sc_core::sc_event event;
};

struct BenchSetup {
  Parameters engine = instant_engine();
  MemoryParameters ring = instant_memory();
  MemoryParameters source = instant_memory();
  MemoryParameters target = instant_memory();
  unsigned engines = 1;
  SimulationOptions options{};
  bool foreign_source = false;
  bool foreign_target = false;
  bool disordered_source = false;
  bool disordered_target = false;
  bool reversed = false;  // modules constructed in the reverse order
};

class Bench {
 public:
  explicit Bench(const BenchSetup& setup = {}) : simulation("simulation", setup.options) {
    std::vector<std::function<void()>> makers{
        [&] { ring = std::make_unique<memory::Memory>("ring", simulation, setup.ring); },
        [&] {
          if (setup.disordered_source)
            disordered_source = std::make_unique<DisorderedMemory>("source", memory_bytes);
          else if (setup.foreign_source)
            foreign_source = std::make_unique<ForeignMemory>("source", memory_bytes);
          else
            source = std::make_unique<memory::Memory>("source", simulation, setup.source);
        },
        [&] {
          if (setup.disordered_target)
            disordered_target = std::make_unique<DisorderedMemory>("target", memory_bytes);
          else if (setup.foreign_target)
            foreign_target = std::make_unique<ForeignMemory>("target", memory_bytes);
          else
            target = std::make_unique<memory::Memory>("target", simulation, setup.target);
        },
        [&] { host = std::make_unique<Driver>("host", simulation, 1, running); },
    };
    engines.resize(setup.engines);
    for (unsigned e = 0; e < setup.engines; ++e)
      makers.push_back([this, e, &setup] {
        const std::string name = "dma" + std::to_string(e);
        engines[e] = std::make_unique<DmaEngine>(name.c_str(), simulation, setup.engine, 100 + e);
      });
    if (setup.reversed) std::reverse(makers.begin(), makers.end());
    for (const auto& make : makers) make();
    bind(setup);
  }

  // Runs `body` as the host's program.
  void run(std::function<void()> body) {
    host->body = [body = std::move(body)](Driver&) { body(); };
    simulation.run();
  }

  // Puts bytes into memory without time.
  void preload(std::uint64_t address, std::vector<std::byte> bytes) {
    ASSERT_EQ(host->memory.debug(Command::write, address, bytes), bytes.size());
  }
  std::vector<std::byte> peek(std::uint64_t address, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    EXPECT_EQ(host->memory.debug(Command::read, address, data), bytes);
    return data;
  }
  template <class T>
  void write_register(std::uint64_t offset, T value, unsigned engine = 0) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    host->write(AccessPattern::contiguous(register_address + engine * registers::window_bytes + offset, sizeof value),
                bytes);
  }
  std::uint32_t read_register(std::uint64_t offset, unsigned engine = 0) {
    const auto bytes =
        host->read(AccessPattern::contiguous(register_address + engine * registers::window_bytes + offset, 4));
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data(), 4);
    return value;
  }
  // Sets up a ring of `size` slots at `base` and preloads its first descriptors.
  void program(unsigned queue, const std::vector<Descriptor>& descriptors, std::uint32_t size = 64,
               unsigned engine = 0) {
    const std::uint64_t base = ring_of(queue, engine);
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      const auto bytes = encode(descriptors[i]);
      preload(base + i * descriptor_bytes, {bytes.begin(), bytes.end()});
    }
    write_register(registers::queue_base(queue) + registers::ring_base, base, engine);
    write_register(registers::queue_base(queue) + registers::ring_size, size, engine);
  }
  static std::uint64_t ring_of(unsigned queue, unsigned engine = 0) {
    return ring_address + engine * 0x10'0000 + queue * 0x1'0000;
  }
  void doorbell(unsigned queue, std::uint32_t count, unsigned engine = 0) {
    write_register(registers::queue_base(queue) + registers::tail, count, engine);
  }
  void wait_completions(std::size_t count) {
    while (sink.completed.size() < count) sc_core::wait(sink.event);
  }
  // A fresh ring with these descriptors, started at once, until each has signalled.
  void run_ring(unsigned queue, const std::vector<Descriptor>& descriptors) {
    const std::size_t before = sink.completed.size();
    program(queue, descriptors);
    doorbell(queue, static_cast<std::uint32_t>(descriptors.size()));
    wait_completions(before + descriptors.size());
  }
  std::uint64_t statistic(std::string_view path, std::string_view name) {
    return simulation.statistics().value(path, name);
  }

  unsigned running = 0;
  Simulation simulation;
  std::unique_ptr<memory::Memory> ring, source, target;
  std::unique_ptr<ForeignMemory> foreign_source, foreign_target;
  std::unique_ptr<DisorderedMemory> disordered_source, disordered_target;
  std::unique_ptr<Driver> host;
  std::vector<std::unique_ptr<DmaEngine>> engines;
  std::unique_ptr<interconnect::Router> router;
  Sink sink;

 private:
  // Every connection is watched for breaches of the base protocol.
  template <class Initiator, class TargetSocket>
  void connect(Initiator& initiator, TargetSocket& socket) {
    const std::string name = "checker" + std::to_string(checkers_.size());
    auto& checker =
        *checkers_.emplace_back(std::make_unique<memory::ProtocolChecker>(name.c_str(), test::report_breach));
    initiator.bind(checker.in);
    checker.out.bind(socket);
  }
  void bind(const BenchSetup& setup) {
    std::vector<interconnect::Region> regions{{"ring", ring_address, memory_bytes, 0},
                                              {"source", source_address, memory_bytes, 1},
                                              {"target", target_address, memory_bytes, 2}};
    for (unsigned e = 0; e < setup.engines; ++e)
      regions.push_back(
          {"dma" + std::to_string(e), register_address + e * registers::window_bytes, registers::window_bytes, 3 + e});
    router = std::make_unique<interconnect::Router>("router", regions);
    connect(router->out(0), ring->socket);
    if (disordered_source)
      connect(router->out(1), disordered_source->socket);
    else if (foreign_source)
      connect(router->out(1), foreign_source->socket);
    else
      connect(router->out(1), source->socket);
    if (disordered_target)
      connect(router->out(2), disordered_target->socket);
    else if (foreign_target)
      connect(router->out(2), foreign_target->socket);
    else
      connect(router->out(2), target->socket);
    connect(host->memory.socket, router->in);
    for (unsigned e = 0; e < setup.engines; ++e) {
      connect(router->out(3 + e), engines[e]->registers().socket);
      connect(engines[e]->memory().socket, router->in);
      engines[e]->connect_semaphores(sink);
    }
  }

  std::vector<std::unique_ptr<memory::ProtocolChecker>> checkers_;
};

// A copy that adds 1 to semaphore `semaphore` when it has ended.
inline Descriptor copy(const AccessPattern& source, const AccessPattern& target, std::uint8_t semaphore = 7) {
  Descriptor descriptor;
  descriptor.source = source;
  descriptor.destination = target;
  descriptor.signals = true;
  descriptor.semaphore = semaphore;
  descriptor.increment = 1;
  return descriptor;
}
inline Descriptor contiguous_copy(std::uint64_t offset, std::uint64_t bytes, std::uint8_t semaphore = 7) {
  return copy(AccessPattern::contiguous(source_address + offset, bytes),
              AccessPattern::contiguous(target_address + offset, bytes), semaphore);
}

// target[f][p] = source[p][f], rows of the target 64 KiB apart.
inline Descriptor transpose(std::uint64_t rows, std::uint64_t columns, std::uint32_t element,
                            std::uint64_t from = source_address) {
  Descriptor descriptor = copy(AccessPattern::contiguous(from, rows * columns * element),
                               AccessPattern(target_address, element, {{rows, element}, {columns, 0x1'0000}}));
  descriptor.source = AccessPattern(from, element, {{rows * columns, element}});
  descriptor.transposes = true;
  return descriptor;
}

}  // namespace tilevp::dma::testing
