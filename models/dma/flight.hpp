#pragma once
// Operations of a DMA engine between their request and their end. Private to the engine.
#include <array>
#include <cstdint>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/dma/dma_engine.hpp"
#include "tilevp/dma/rules.hpp"
#include "tilevp/memory/rules.hpp"

namespace tilevp::dma {

// Bytes as another type, through fp32, as the hardware's DMA does (AWS Neuron documentation, "NKI DMA Overview").
// `wide` has room for all elements.
void convert_bytes(numeric::DType from, const std::byte* source, numeric::DType to, std::byte* target,
                   std::size_t elements, float* wide);

// Faults of memory on the engine's behalf name the descriptor.
template <class Action>
void for_descriptor(const Queue& queue, std::uint64_t number, Action&& action) {
  try {
    action();
  } catch (const Fault& fault) {
    const bool address = fault.rule() == memory::rule::address_error;
    throw Fault(address ? std::string(rule::address_error) : fault.rule(), queue.place(number) + ": " + fault.what());
  }
}

// A packet in flight. It ends when it is issued as a whole, no response is awaited and the engine is done with it.
struct DmaEngine::Flight final : Completion, memory::Responder {
  // One side of a slice.
  struct Access final : memory::Responder {
    Flight* flight = nullptr;
    memory::AccessGrant grant;
    void responded(const memory::AccessGrant& result) override {
      grant = result;
      flight->answered();
    }
    void failed(const Fault& fault) override { flight->failed(fault); }
  };
  struct Accesses {
    Access read;
    Access write;
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
  std::array<Accesses, Packet::max_slices> accesses{};
  bool moved = false;        // the bytes are at their place already
  bool issued = false;       // nothing of it is still to be asked for
  bool reading = false;      // by runs: what is awaited are its reads
  unsigned awaited = 0;      // responses
  bool end_known = false;    // end_ps is final though responses are awaited: memories of ours say it when they accept
  std::uint64_t end_ps = 0;  // no earlier than that, as far as is known
  std::uint64_t asked_ps = 0;
  // Of a packet that is moved by runs: what was read, that as the type to write, when the engine is done with it.
  std::vector<std::byte> bytes;
  std::vector<std::byte> converted;
  memory::Reach destination;
  std::uint64_t engine_end_ps = 0;

  // Nothing is awaited any more.
  bool is_settled() const { return issued && awaited == 0; }
  void complete() override { engine->end_packet(*this); }
  // To a single run.
  void responded(const memory::AccessGrant&) override { answered(); }
  void failed(const Fault& fault) override { engine->access_failed(*this, fault); }
  void answered() {
    if (--awaited == 0) engine->answered(*this);
  }
};

// A block of descriptors on its way from the ring.
struct DmaEngine::Fetch final : Completion, memory::Responder {
  DmaEngine* engine = nullptr;
  Queue* queue = nullptr;
  Queue::Block block;
  memory::AccessGrant grant;
  std::vector<std::byte> bytes;

  void complete() override;
  void responded(const memory::AccessGrant& result) override {
    grant = result;
    complete();
  }
  void failed(const Fault& fault) override;
};

}  // namespace tilevp::dma
