#pragma once
// Brings a stream's records from memory, a block at a time; the next block is fetched while one is executed.
#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/memory/initiator_port.hpp"
#include "tilevp/neuroncore/engine_monitor.hpp"
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

class InstructionFetch final : private Completion {
 public:
  // `block_instructions` records a request.
  InstructionFetch(memory::InitiatorPort& port, Agent& agent, EngineMonitor& monitor, std::uint32_t block_instructions);

  // A new stream of `count` records at `base`. On the sequencer's thread, as is `record`.
  void begin(std::uint64_t base, std::uint64_t count, std::uint64_t cause);
  // Whether record `index` lies beyond the present block; then await_block() comes first.
  bool needs_block(std::uint64_t index) const { return index >= current_.first + current_.count; }
  // Waits until the next block has arrived, and asks for the one after it.
  void await_block();
  // Record `index` of the present block. Valid until the next await_block().
  std::span<const std::byte, instruction_bytes> record(std::uint64_t index) const {
    return std::span<const std::byte, instruction_bytes>(
        current_.bytes.data() + (index - current_.first) * instruction_bytes, instruction_bytes);
  }
  // Of the fetch that brought the present block.
  std::uint64_t id() const { return current_.grant.id; }

 private:
  struct Block {
    std::vector<std::byte> bytes;
    memory::AccessGrant grant;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    bool arrived = false;
  };
  void request(Block& block, std::uint64_t first);
  void await(Block& block);
  void complete() override;

  memory::InitiatorPort& port_;
  Agent& agent_;
  EngineMonitor& monitor_;
  std::uint32_t block_instructions_;
  std::uint64_t base_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t cause_ = 0;
  Block current_;
  Block next_;
  Block* in_flight_ = nullptr;
  sc_core::sc_event arrived_;
};

}  // namespace tilevp::neuroncore
