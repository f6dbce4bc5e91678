#pragma once
// The address window of one NeuronCore, as its programmer sees it. Offsets are from the core's base address.
#include <cstdint>

namespace tilevp::neuroncore::registers {

// Windows.
inline constexpr std::uint64_t sbuf_window = 0x0000'0000;     // partition p at p << 18
inline constexpr std::uint64_t psum_window = 0x0200'0000;     // partition p at p << 15
inline constexpr std::uint64_t control_window = 0x0300'0000;  // the registers below
inline constexpr std::uint64_t control_bytes = 0x1000;
inline constexpr std::uint64_t dma_window = 0x0310'0000;  // DMA engine e at e * dma::registers::window_bytes
inline constexpr std::uint64_t window_bytes = 0x0400'0000;

// Identity and sizes, ro u32, offsets in the control window.
inline constexpr std::uint64_t generation = 0x000;            // 2, 3, 4
inline constexpr std::uint64_t partitions = 0x004;            // 128
inline constexpr std::uint64_t sbuf_partition_bytes = 0x008;  // usable by programs
inline constexpr std::uint64_t psum_bank_count = 0x00c;       // 8
inline constexpr std::uint64_t dma_engines = 0x010;           // 16
inline constexpr std::uint64_t dma_queues = 0x014;            // rings an engine
inline constexpr std::uint64_t interrupt = 0x020;  // w1c u32: bit e: sequencer e has halted; bit 8 + e: it has faulted
inline constexpr unsigned fault_interrupt_shift = 8;
// Stopping and starting anew (docs/neuroncore.md, "Faults and reset").
inline constexpr std::uint64_t reset = 0x024;          // rw u32: 1 resets the core; reads 1 until that is done
inline constexpr std::uint64_t fault_control = 0x028;  // rw u32: bit 0: faults of engines stop them, not the run

// Sequencer e at sequencer(e).
inline constexpr std::uint64_t sequencer(unsigned e) { return 0x100 + 0x40 * std::uint64_t{e}; }
inline constexpr std::uint64_t stream_base = 0x00;   // rw u64: address of instruction 0, a multiple of 64
inline constexpr std::uint64_t stream_count = 0x08;  // rw u32: instructions
inline constexpr std::uint64_t start = 0x0c;         // wo u32: 1 starts
inline constexpr std::uint64_t status = 0x10;        // ro u32: 0 idle, 1 running, 2 halted, 3 faulted
inline constexpr std::uint64_t executed = 0x14;      // ro u32: instructions issued since start
inline constexpr std::uint64_t fault_index = 0x18;   // ro u32: the instruction that faulted, where the status is 3

// Work counters, ro u64.
inline constexpr std::uint64_t counter_matmuls = 0x300;
inline constexpr std::uint64_t counter_macs = 0x308;       // K * M * N summed over matmuls
inline constexpr std::uint64_t counter_pe_cycles = 0x310;  // initiation intervals summed over matmuls, in PE cycles
inline constexpr std::uint64_t counter_weight_loads = 0x318;
// Bytes written by all DMA engines for queue q, ro u64.
inline constexpr std::uint64_t counter_queue_bytes(unsigned q) { return 0x400 + 8 * std::uint64_t{q}; }

// Semaphore s, rw i32.
inline constexpr std::uint64_t semaphore(unsigned s) { return 0x800 + 4 * std::uint64_t{s}; }
inline constexpr unsigned semaphores = 256;
inline constexpr unsigned reserved_semaphores = 3;  // 253, 254, 255 belong to the runtime

}  // namespace tilevp::neuroncore::registers
