#include "tilevp/memory/block_fetch.hpp"

#include <algorithm>
#include <utility>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {

BlockFetch::BlockFetch(InitiatorPort& port, Agent& agent, StallMonitor& stalls, unsigned cause,
                       std::uint64_t block_bytes)
    : port_(port), agent_(agent), stalls_(stalls), stall_(cause), block_bytes_(block_bytes) {
  if (block_bytes == 0) throw Defect(agent.name() + ": instructions fetched by blocks of 0 bytes");
}

void BlockFetch::begin(std::uint64_t base, std::uint64_t bytes, std::uint64_t cause) {
  if (in_flight_ != nullptr) await(*in_flight_);  // a block of the stream before, fetched ahead of its end
  base_ = base;
  bytes_ = bytes;
  cause_ = cause;
  current_.first = 0;
  current_.bytes.clear();
  next_.bytes.clear();
  if (bytes > 0) request(next_, 0);
}

void BlockFetch::await_block(std::uint64_t keep_from) {
  await(next_);
  std::swap(current_, next_);
  const std::uint64_t following = current_.first + current_.bytes.size();
  if (keep_from < current_.first) {  // what an instruction across the border needs of the block before
    const auto kept = next_.bytes.begin() + static_cast<std::ptrdiff_t>(keep_from - next_.first);
    current_.bytes.insert(current_.bytes.begin(), kept, next_.bytes.end());
    current_.first = keep_from;
  }
  next_.bytes.clear();
  if (following < bytes_) request(next_, following);
}

// A direct memory gives the times at once and its bytes when the fetch ends; any other is read when the block is
// needed.
void BlockFetch::request(Block& block, std::uint64_t first) {
  block.first = first;
  block.bytes.resize(std::min(block_bytes_, bytes_ - first));
  block.arrived = false;
  const auto pattern = AccessPattern::contiguous(base_ + first, block.bytes.size());
  if (!port_.is_direct(pattern)) return;
  block.grant = port_.request(Command::read, pattern, cause_);
  in_flight_ = &block;
  agent_.simulation().completions().complete_at(block.grant.end_ps, agent_.port(), *this);
}

void BlockFetch::complete() {
  Block& block = *std::exchange(in_flight_, nullptr);
  agent_.simulation().effects().join_writers_of(block.grant.direct->extent(block.grant.direct_pattern));
  located(agent_.name(), [&] { block.grant.direct->commit_read(block.grant.direct_pattern, agent_.name()); });
  block.grant.direct->gather(block.grant.direct_pattern, block.bytes.data());
  block.arrived = true;
  arrived_.notify(sc_core::SC_ZERO_TIME);
}

void BlockFetch::await(Block& block) {
  const std::uint64_t from = agent_.local_ps();
  if (in_flight_ == &block) {
    stalls_.stalled(stall_, from, block.grant.end_ps);
    agent_.wait_until(block.grant.end_ps);
    while (!block.arrived) sc_core::wait(arrived_);
  } else if (!block.arrived) {
    stalls_.waiting(stall_, from);
    block.grant = port_.transfer(Command::read, AccessPattern::contiguous(base_ + block.first, block.bytes.size()),
                                 block.bytes, cause_);
    block.arrived = true;
    stalls_.waited(stall_, from, agent_.local_ps());
  }
}

}  // namespace tilevp::memory
