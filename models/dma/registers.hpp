#pragma once
// The register map of one DMA engine, as its programmer sees it: 16 rings, each with a base, a size and a doorbell.
#include <cstdint>

namespace tilevp::dma::registers {

inline constexpr unsigned queues = 16;
inline constexpr std::uint64_t window_bytes = 0x1000;
// Line of the host that is high while the interrupt register of any engine is not zero. Lines below are the cores'.
inline constexpr unsigned interrupt_line = 8;

// Engine.
inline constexpr std::uint64_t status = 0x000;  // ro u32: bit 0 busy
inline constexpr std::uint64_t interrupt =
    0x004;  // w1c u32: bit q: a descriptor of queue q with the interrupt flag has ended
inline constexpr std::uint64_t reset = 0x008;  // rw u32: 1 drops all that was released; reads 1 until that is done

// Queue q at queue_base(q).
inline constexpr std::uint64_t queue_base(unsigned q) { return 0x400 + 0x40 * std::uint64_t{q}; }
inline constexpr std::uint64_t ring_base = 0x00;  // rw u64: address of descriptor 0
inline constexpr std::uint64_t ring_size = 0x08;  // rw u32: descriptors in the ring
inline constexpr std::uint64_t tail = 0x0c;  // wo u32: adds this many descriptors to those that may run (the doorbell)
inline constexpr std::uint64_t head = 0x10;  // ro u32: descriptors completed since the ring base was set, modulo 2^32

}  // namespace tilevp::dma::registers
