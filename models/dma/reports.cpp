// What a DMA engine tells those who watch transactions.
#include "tilevp/dma/flight.hpp"

namespace tilevp::dma {

void DmaEngine::stalled(Counter& counter, std::string_view cause, std::uint64_t from_ps, std::uint64_t to_ps) {
  if (to_ps <= from_ps) return;
  counter += to_ps - from_ps;
  if (simulation_.transactions() == nullptr) return;
  Transaction transaction{.initiator = name(), .kind = "stall", .name = cause};
  transaction.requested_ps = transaction.begin_ps = from_ps;
  transaction.end_ps = transaction.complete_ps = to_ps;
  simulation_.transactions()->happened(transaction);
}

void DmaEngine::report_packet(const Flight& flight) const {
  Transaction transaction{.id = flight.packet_id, .parent = flight.id, .cause = flight.id};
  transaction.initiator = flight.queue->path();
  transaction.target = name();
  transaction.kind = "packet";
  transaction.bytes = flight.packet.bytes;
  transaction.requested_ps = flight.asked_ps;
  transaction.begin_ps = flight.begin_ps;
  transaction.end_ps = flight.free_ps;
  transaction.complete_ps = flight.end_ps;
  transaction.busy_ps = flight.busy_ps;
  transaction.runs = flight.packet.runs;
  simulation_.transactions()->happened(transaction);
}

void DmaEngine::report_descriptor(const Flight& flight) const {
  Transaction transaction{.id = flight.id, .parent = flight.entry.fetch, .cause = flight.entry.cause};
  transaction.initiator = flight.queue->path();
  transaction.target = name();
  transaction.kind = "descriptor";
  transaction.what = {&flight.entry, [](const void* object, std::string& to) {
                        const auto& entry = *static_cast<const Queue::Ready*>(object);
                        to += '#' + std::to_string(entry.number);
                        if (entry.descriptor.empty) return;
                        to += ' ';
                        append_text(entry.descriptor.source, to);
                        to += " -> ";
                        append_text(entry.descriptor.destination, to);
                      }};
  transaction.bytes = flight.entry.descriptor.empty ? 0 : flight.entry.descriptor.destination.bytes();
  transaction.requested_ps = flight.entry.doorbell_ps;
  transaction.begin_ps = flight.descriptor_begin_ps;
  transaction.end_ps = transaction.complete_ps = now_ps();
  simulation_.transactions()->happened(transaction);
}

void DmaEngine::report_in_flight(std::int64_t bytes) const {
  simulation_.transactions()->changed({.path = name(), .what = "bytes_in_flight", .time_ps = now_ps(), .by = bytes});
}

// A plain copy as a whole, when it ends; rows that indices choose as they are moved.
void DmaEngine::report_bytes(const Flight& flight) const {
  const Descriptor& descriptor = flight.entry.descriptor;
  const auto touched = [&](const memory::AccessPattern& bytes, bool write) {
    order_->touched(flight.queue->index(), flight.entry.number, bytes, write);
  };
  if (descriptor.rows.side == Indirect::none) {
    if (!flight.packet.last || descriptor.empty) return;
    touched(descriptor.source, false);
    touched(descriptor.destination, true);
    return;
  }
  for (const Slice& slice : flight.packet.span()) {
    touched(slice.source, false);
    touched(slice.destination, true);
  }
  if (flight.packet.last)
    touched(memory::AccessPattern::contiguous(descriptor.rows.indices, descriptor.rows.count * sizeof(std::int32_t)),
            false);
}

}  // namespace tilevp::dma
