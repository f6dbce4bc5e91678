#include "tilevp/neuroncore/instruction_fetch.hpp"

#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuroncore {

InstructionFetch::InstructionFetch(memory::InitiatorPort& port, Agent& agent, EngineMonitor& monitor,
                                   std::uint32_t block_instructions)
    : port_(port), agent_(agent), monitor_(monitor), block_instructions_(block_instructions) {
  if (block_instructions == 0) throw UserError("sequencer.fetch_instructions", "expected at least 1, found 0");
}

void InstructionFetch::begin(std::uint64_t base, std::uint64_t count, std::uint64_t cause) {
  if (in_flight_ != nullptr) await(*in_flight_);  // a block of the stream before, fetched ahead of its halt
  base_ = base;
  count_ = count;
  cause_ = cause;
  current_.first = current_.count = next_.count = 0;
  if (count > 0) request(next_, 0);
}

void InstructionFetch::await_block() {
  await(next_);
  std::swap(current_, next_);
  next_.count = 0;
  const std::uint64_t following = current_.first + current_.count;
  if (following < count_) request(next_, following);
}

// A direct memory gives the times at once and its bytes when the fetch ends; any other is read when the block is
// needed.
void InstructionFetch::request(Block& block, std::uint64_t first) {
  block.first = first;
  block.count = std::min<std::uint64_t>(block_instructions_, count_ - first);
  block.bytes.resize(block.count * instruction_bytes);
  block.arrived = false;
  const auto pattern = memory::AccessPattern::contiguous(base_ + first * instruction_bytes, block.bytes.size());
  if (!port_.is_direct(pattern)) return;
  block.grant = port_.request(memory::Command::read, pattern, cause_);
  in_flight_ = &block;
  agent_.simulation().completions().complete_at(block.grant.end_ps, agent_.port(), *this);
}

void InstructionFetch::complete() {
  Block& block = *std::exchange(in_flight_, nullptr);
  agent_.simulation().effects().join_writers_of(block.grant.direct->extent(block.grant.direct_pattern));
  located(agent_.name(), [&] { block.grant.direct->commit_read(block.grant.direct_pattern, agent_.name()); });
  block.grant.direct->gather(block.grant.direct_pattern, block.bytes.data());
  block.arrived = true;
  arrived_.notify(sc_core::SC_ZERO_TIME);
}

void InstructionFetch::await(Block& block) {
  const std::uint64_t from = agent_.local_ps();
  if (in_flight_ == &block) {
    monitor_.stalled(Stall::fetch, from, block.grant.end_ps);
    agent_.wait_until(block.grant.end_ps);
    while (!block.arrived) sc_core::wait(arrived_);
  } else if (!block.arrived) {
    monitor_.waiting(Stall::fetch, from);
    block.grant =
        port_.transfer(memory::Command::read,
                       memory::AccessPattern::contiguous(base_ + block.first * instruction_bytes, block.bytes.size()),
                       block.bytes, cause_);
    block.arrived = true;
    monitor_.waited(Stall::fetch, from, agent_.local_ps());
  }
}

}  // namespace tilevp::neuroncore
