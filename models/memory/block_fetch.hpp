#pragma once
// Brings a stream of instructions from memory, a block at a time; the next block is fetched while one is executed.
#include <cstddef>
#include <cstdint>
#include <span>
#include <systemc>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/stall_monitor.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::memory {

class BlockFetch final : private Completion {
 public:
  // `block_bytes` >= 1 a request. Waiting for a block counts as stall `cause` of `stalls`.
  BlockFetch(InitiatorPort& port, Agent& agent, StallMonitor& stalls, unsigned cause, std::uint64_t block_bytes);

  // A new stream of `bytes` bytes at `base`; `cause` is the id of what started it. On the thread of the agent, as all
  // below. Offsets count from `base`.
  void begin(std::uint64_t base, std::uint64_t bytes, std::uint64_t cause);
  // Whether bytes up to `end` reach beyond the present block; then await_block() comes first.
  bool needs_block(std::uint64_t end) const { return end > current_.first + current_.bytes.size(); }
  // Waits until the next block has arrived, and asks for the one after it. Bytes of the present one from offset
  // `keep_from` on stay in reach. Throws Fault where memory refuses the block; asking again is legal then.
  void await_block(std::uint64_t keep_from);
  // What is in reach from `offset` on. Valid until the next await_block().
  std::span<const std::byte> bytes(std::uint64_t offset) const {
    return std::span(current_.bytes).subspan(offset - current_.first);
  }
  // Of the fetch that brought the present block.
  std::uint64_t id() const { return current_.grant.id; }

 private:
  struct Block {
    std::vector<std::byte> bytes;
    AccessGrant grant;
    std::uint64_t first = 0;
    bool arrived = false;
  };
  void request(Block& block, std::uint64_t first);
  void await(Block& block);
  void complete() override;

  InitiatorPort& port_;
  Agent& agent_;
  StallMonitor& stalls_;
  unsigned stall_;
  std::uint64_t block_bytes_;
  std::uint64_t base_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t cause_ = 0;
  Block current_;
  Block next_;
  Block* in_flight_ = nullptr;
  sc_core::sc_event arrived_;
};

}  // namespace tilevp::memory
