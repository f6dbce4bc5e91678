#pragma once
// Operations of a DMA engine between their request and their end. Private to the engine.
#include <array>
#include <cstdint>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/dma_engine.hpp"

namespace tilevp::dma {

// A packet in flight.
struct DmaEngine::Flight final : Completion {
  struct Grants {
    memory::AccessGrant read;
    memory::AccessGrant write;
  };
  DmaEngine* engine = nullptr;
  Queue* queue = nullptr;
  Queue::Ready entry;    // its descriptor
  std::uint64_t id = 0;  // the descriptor's
  std::uint64_t packet_id = 0;
  std::uint64_t descriptor_begin_ps = 0;
  // The engine works on the packet in [begin, free), of which busy_ps counts.
  std::uint64_t begin_ps = 0;
  std::uint64_t free_ps = 0;
  std::uint64_t busy_ps = 0;
  Packet packet;
  std::array<Grants, Packet::max_slices> grants{};
  bool moved = false;  // the bytes are at their place already

  void complete() override { engine->end_packet(*this); }
};

// A block of descriptors on its way from the ring.
struct DmaEngine::Fetch final : Completion {
  DmaEngine* engine = nullptr;
  Queue* queue = nullptr;
  Queue::Block block;
  memory::AccessGrant grant;
  std::vector<std::byte> bytes;

  void complete() override;
};

}  // namespace tilevp::dma
