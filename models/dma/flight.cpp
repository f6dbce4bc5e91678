// A DMA engine's fetches, and the ends of its operations.
#include "tilevp/dma/flight.hpp"

#include <bit>
#include <cstring>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/rules.hpp"

namespace tilevp::dma {
namespace {

using memory::AccessPattern;
using memory::Command;
using memory::DirectMemory;

// The bytes of one slice, moved when the packet ends.
struct CopyEffect {
  const DirectMemory* from;
  DirectMemory* to;
  AccessPattern source;
  AccessPattern destination;
  numeric::DType source_dtype;
  numeric::DType destination_dtype;
  std::byte* source_bytes;
  std::byte* target_bytes;
  float* wide;

  void operator()() const {
    from->gather(source, source_bytes);
    if (source_dtype == destination_dtype) {
      to->scatter(destination, source_bytes);
      return;
    }
    convert_bytes(source_dtype, source_bytes, destination_dtype, target_bytes, source.elements(), wide);
    to->scatter(destination, target_bytes);
  }
};

}  // namespace

// ---- Descriptors.

void DmaEngine::fetch_blocks() {
  for (std::uint32_t left = pending_queues_; left != 0; left &= left - 1) {
    Queue& queue = *queues_[static_cast<unsigned>(std::countr_zero(left))];
    if (const auto block = queue.next_block()) fetch(queue, *block);
  }
}

void DmaEngine::fetch(Queue& queue, const Queue::Block& block) {
  queue.begin_fetch();
  Fetch& fetch = *fetches_[queue.index()];
  fetch.engine = this;
  fetch.queue = &queue;
  fetch.block = block;
  fetch.bytes.resize(block.count * descriptor_bytes);
  for_descriptor(queue, block.first, [&] {
    const AccessPattern pattern = AccessPattern::contiguous(block.address, fetch.bytes.size());
    const memory::Reach reach = memory_.reach(pattern);
    if (!reach.direct) {
      fetch.grant = memory_.transfer(Command::read, pattern, fetch.bytes, block.cause);
      deliver(fetch);
      return;
    }
    fetch.grant = at() && reach.nonblocking ? memory_.request(Command::read, pattern, block.cause, fetch)
                                            : memory_.request(Command::read, pattern, block.cause);
    if (!fetch.grant.pending) simulation_.completions().complete_at(fetch.grant.end_ps, agent_.port(), fetch);
  });
}

void DmaEngine::Fetch::failed(const Fault& fault) {
  for_descriptor(*queue, block.first, [&] { throw Fault(fault); });
}

void DmaEngine::Fetch::complete() {
  located(engine->name(), [this] {
    for_descriptor(*queue, block.first, [this] {
      grant.direct->commit_read(grant.direct_pattern, "the descriptor fetch");
      engine->simulation_.effects().join_writers_of(grant.direct->extent(grant.direct_pattern));
      grant.direct->gather(grant.direct_pattern, bytes.data());
    });
    engine->deliver(*this);
  });
}

void DmaEngine::deliver(const Fetch& fetch) {
  for (std::uint64_t i = 0; i < fetch.block.count && !resetting_; ++i) {
    const std::uint64_t number = fetch.block.first + i;
    const std::span<const std::byte, descriptor_bytes> bytes(fetch.bytes.data() + i * descriptor_bytes,
                                                             descriptor_bytes);
    fetch.queue->fetched(decode(bytes, fetch.queue->place(number)), number, now_ps(), fetch.grant.id);
  }
  fetch.queue->end_fetch();
  wake();
}

// ---- Ends.

void DmaEngine::answered(Flight& flight) {
  if (!flight.reading) {
    retire(*flight.queue);
    return;
  }
  flight.reading = false;
  to_write_.push_back(&flight);
  wake();
}

void DmaEngine::access_failed(const Flight& flight, const Fault& fault) {
  for_descriptor(*flight.queue, flight.entry.number, [&] { throw Fault(fault); });
  throw Fault(fault);
}

void DmaEngine::end_packet(Flight& flight) {
  located(name(), [&] {
    Queue& queue = *flight.queue;
    if (!flight.moved) for_descriptor(queue, flight.entry.number, [&] { commit(flight); });
    if (flight.packet.count > 0) packets_ += 1;
    queue.runs_count += flight.packet.runs;
    queue.bytes_count += flight.packet.bytes;
    if (simulation_.transactions() != nullptr) report_in_flight(-static_cast<std::int64_t>(flight.packet.bytes));
    if (order_ != nullptr) report_bytes(flight);
    if (flight.packet.last) end_descriptor(flight);
    idle_flights_.push_back(&flight);
    --in_flight_;
    if (!watches_flights_) return;
    slot_freed_ps_ = now_ps();
    wake();
  });
}

void DmaEngine::commit(Flight& flight) {
  const Descriptor& descriptor = flight.entry.descriptor;
  for (std::size_t i = 0; i < flight.packet.count; ++i) {
    const memory::AccessGrant& read = flight.accesses[i].read.grant;
    const memory::AccessGrant& write = flight.accesses[i].write.grant;
    read.direct->commit_read(read.direct_pattern, agent_.name());
    write.direct->commit_write(write.direct_pattern);
    flight.queue->bursts_count += read.bursts + write.bursts;
    flight.queue->wasted_count += read.wasted_bytes + write.wasted_bytes;
    if (!simulation_.effects().enabled()) continue;
    simulation_.effects().append(
        CopyEffect{read.direct, write.direct, read.direct_pattern, write.direct_pattern, descriptor.source_dtype,
                   descriptor.destination_dtype, source_bytes_.data(), target_bytes_.data(), wide_.data()},
        write.direct->extent(write.direct_pattern));
  }
}

void DmaEngine::end_descriptor(const Flight& flight) {
  Queue& queue = *flight.queue;
  const Descriptor& descriptor = flight.entry.descriptor;
  queue.end_descriptor();
  if (!queue.pending()) pending_queues_ &= ~(1u << queue.index());
  if (order_ != nullptr) order_->ended(queue.index(), flight.entry.number, descriptor.interrupts);
  if (observer_ != nullptr)
    observer_->ended({queue.index(), flight.entry.number, flight.id, flight.entry.fetch, flight.entry.cause,
                      flight.entry.doorbell_ps, flight.entry.ready_ps, flight.descriptor_begin_ps, now_ps()});
  if (simulation_.transactions() != nullptr) report_descriptor(flight);
  if (descriptor.signals) {
    if (semaphores_ == nullptr)
      throw Fault(rule::semaphore, queue.place(flight.entry.number) + ": signals semaphore " +
                                       std::to_string(descriptor.semaphore) + ", but the engine has none");
    semaphores_->add(descriptor.semaphore, static_cast<std::int32_t>(descriptor.increment), flight.id);
  }
  if (descriptor.interrupts) {
    interrupt_->set_bits(std::uint64_t{1} << queue.index());
    update_interrupt();
  }
}

void DmaEngine::update_interrupt() {
  const bool level = interrupt_->value() != 0;
  if (level == interrupt_level_) return;
  interrupt_level_ = level;
  if (interrupt_changed_) interrupt_changed_(level);
}

}  // namespace tilevp::dma
