// Packets between memories of which one gives no direct access: their bytes go through the engine, run by run.
#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/flight.hpp"

namespace tilevp::dma {
namespace {

using memory::AccessPattern;
using memory::Command;

}  // namespace

void convert_bytes(numeric::DType from, const std::byte* source, numeric::DType to, std::byte* target,
                   std::size_t elements, float* wide) {
  numeric::load_as_fp32(from, source, elements, 1, wide);
  numeric::store_from_fp32(to, wide, elements, target, 1);
}

// Until no packet is in flight and the bytes of all are moved: their effects use the scratch that `move` is about to.
void DmaEngine::drain() {
  while (in_flight_ > 0) {
    if (start_waiting_writes()) continue;
    watches_flights_ = true;
    sc_core::wait(wake_event_);
  }
  watches_flights_ = false;
  simulation_.effects().join();
}

// The same for the packets of one queue, whose bytes the next descriptor may read.
void DmaEngine::drain(Queue& queue) {
  if (flying_[queue.index()].empty()) return;
  while (!flying_[queue.index()].empty()) {
    if (start_waiting_writes()) continue;
    watches_flights_ = true;
    sc_core::wait(wake_event_);
  }
  watches_flights_ = false;
  simulation_.arbiter().settle(agent_.port());
}

void DmaEngine::move(Flight& flight) {
  const Descriptor& descriptor = flight.entry.descriptor;
  const std::uint64_t begin = now_ps();
  for_descriptor(*flight.queue, flight.entry.number, [&] {
    for (const Slice& slice : flight.packet.span()) {
      const std::span source(source_bytes_.data(), slice.source.bytes());
      std::span target = source;
      memory_.transfer(Command::read, slice.source, source, flight.id);
      if (descriptor.source_dtype != descriptor.destination_dtype) {
        target = std::span(target_bytes_.data(), slice.destination.bytes());
        convert_bytes(descriptor.source_dtype, source.data(), descriptor.destination_dtype, target.data(),
                      slice.source.elements(), wide_.data());
      }
      memory_.transfer(Command::write, slice.destination, target, flight.id);
    }
  });
  occupy(flight, begin);
  flight.end_ps = std::max(now_ps(), free_ps());
  flight.moved = flight.issued = true;
}

// ---- Non-blocking: the reads of a packet, then its writes.

// A side that gives direct access is served while the engine waits: in the instant, where it is an on-chip memory.
void DmaEngine::move_side(Flight& flight, Command command, const memory::Reach& reach, std::byte* data) {
  for_descriptor(*flight.queue, flight.entry.number, [&] {
    for (const Slice& slice : flight.packet.span()) {
      const AccessPattern& pattern = command == Command::read ? slice.source : slice.destination;
      if (reach.direct)
        memory_.transfer(command, pattern, {data, pattern.bytes()}, flight.id);
      else
        pattern.for_each_run([&, at = data](std::uint64_t address, std::uint64_t bytes) mutable {
          const auto grant = memory_.begin(command, {address, bytes}, at, flight.id, flight);
          if (grant.pending) ++flight.awaited;
          flight.end_ps = std::max(flight.end_ps, grant.end_ps);
          at += bytes;
        });
      data += pattern.bytes();
    }
  });
}

void DmaEngine::start_reads(Flight& flight, const Queue::Running& running) {
  std::size_t bytes = 0;
  for (const Slice& slice : flight.packet.span()) bytes += slice.source.bytes();
  flight.bytes.resize(bytes);
  flight.moved = true;
  flight.destination = running.destination;
  const std::uint64_t begin = now_ps();
  move_side(flight, Command::read, running.source, flight.bytes.data());
  occupy(flight, begin);
  flight.engine_end_ps = free_ps();
  flight.reading = true;
  if (flight.awaited == 0) answered(flight);
}

bool DmaEngine::start_waiting_writes() {
  if (to_write_.empty()) return false;
  Flight& flight = *to_write_.front();
  to_write_.pop_front();
  start_writes(flight);
  return true;
}

void DmaEngine::start_writes(Flight& flight) {
  const Descriptor& descriptor = flight.entry.descriptor;
  std::byte* data = flight.bytes.data();
  if (descriptor.source_dtype != descriptor.destination_dtype) {
    simulation_.effects().join();  // they use the same scratch
    const std::size_t elements = flight.bytes.size() / numeric::size_bytes(descriptor.source_dtype);
    flight.converted.resize(elements * numeric::size_bytes(descriptor.destination_dtype));
    convert_bytes(descriptor.source_dtype, data, descriptor.destination_dtype, flight.converted.data(), elements,
                  wide_.data());
    data = flight.converted.data();
  }
  move_side(flight, Command::write, flight.destination, data);
  flight.end_ps = std::max(flight.end_ps, flight.engine_end_ps);
  flight.issued = true;
  retire(*flight.queue);
}

}  // namespace tilevp::dma
