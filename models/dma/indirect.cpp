// Descriptors that gather or scatter: their indices, and one row after the other.
#include <algorithm>

#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/dma/flight.hpp"

namespace tilevp::dma {

// The engine does nothing else meanwhile. Packets before it end first: they may write the indices.
void DmaEngine::choose_rows(Queue& queue, Queue::Running& running) {
  drain();
  const Descriptor& descriptor = running.entry.descriptor;
  std::vector<std::byte> indices(descriptor.rows.count * sizeof(std::int32_t));
  const auto pattern = memory::AccessPattern::contiguous(descriptor.rows.indices, indices.size());
  for_descriptor(queue, running.entry.number,
                 [&] { memory_.transfer(memory::Command::read, pattern, indices, running.id); });
  running.rows = chosen_rows(descriptor, indices, queue.place(running.entry.number));
  for (const Copy& row : running.rows) reach(running, row);
  std::ranges::reverse(running.rows);
  running.moves = !running.rows.empty();
  if (running.moves) next_row(running);
}

void DmaEngine::next_row(Queue::Running& running) {
  running.cutter = PacketCutter(running.rows.back(), parameters_);
  running.rows.pop_back();
}

Packet DmaEngine::next_packet(Queue::Running& running) {
  Packet packet = running.cutter.next();
  if (packet.last && !running.rows.empty()) {
    next_row(running);
    packet.last = false;
  }
  return packet;
}

}  // namespace tilevp::dma
