#pragma once
// The address window of one CUBE core, as its programmer sees it. Offsets are from the core's base address.
#include <cstdint>

#include "tilevp/cube/isa.hpp"

namespace tilevp::cube::registers {

// Windows.
inline constexpr std::uint64_t control_window = 0x0000'0000;  // the registers below
inline constexpr std::uint64_t control_bytes = 0x1000;
inline constexpr std::uint64_t tile_window = 0x0100'0000;  // architectural bytes of tiles, read only
inline constexpr std::uint64_t tile_window_bytes = 0x0100'0000;
inline constexpr std::uint64_t window_bytes = 0x0200'0000;

// Byte 0 of the tile that source code `tile` of B.IOT (0-63) names, in one PE; in the tile window. Reads beyond the
// tile's storage, or where no tile is published in that PE, end in an address error.
constexpr std::uint64_t tile_stride(unsigned pe, unsigned tile) {
  return (std::uint64_t{pe} << 22) + (std::uint64_t{tile} << 16);
}
constexpr std::uint64_t tile(unsigned pe, unsigned tile) { return tile_window + tile_stride(pe, tile); }

// Offsets in the control window.

// Identity, ro u32.
inline constexpr std::uint64_t pe_count = 0x000;        // 4
inline constexpr std::uint64_t tile_count = 0x004;      // 64 local tile registers a PE
inline constexpr std::uint64_t isa_revision = 0x008;    // as the parameter of that name
inline constexpr std::uint64_t capacity_bytes = 0x00c;  // of tiles: the parameter tile_capacity_bytes
inline constexpr std::uint64_t reading = 0x038;         // ro u32: the bits below
inline constexpr unsigned reading_absolute = 0;         // tile selectors are register numbers
inline constexpr unsigned reading_per_pe = 1;           // capacity_bytes bounds each PE, not their sum
inline constexpr unsigned reading_accumulate = 2;       // two bits: an Accumulate

// Running.
inline constexpr std::uint64_t status = 0x010;         // ro u32: a Status
inline constexpr std::uint64_t interrupt = 0x014;      // w1c u32: the bits below
inline constexpr std::uint64_t fault_control = 0x018;  // rw u32: bit 0: faults stop the core, not the run
inline constexpr std::uint64_t reset = 0x01c;          // rw u32: 1 resets the core; reads 1 until that is done
inline constexpr std::uint64_t start_pc = 0x020;       // rw u64: address of the first instruction, even
inline constexpr std::uint64_t program_end = 0x028;  // rw u64: address after the last instruction: the core halts there
inline constexpr std::uint64_t start = 0x030;        // wo u32: 1 starts at start_pc, with no bundle open
inline constexpr std::uint64_t restart = 0x034;      // wo u32: a Restart; while faulted

inline constexpr unsigned interrupt_halted = 0;  // bits of `interrupt`
inline constexpr unsigned interrupt_faulted = 1;

enum class Status : std::uint32_t { idle = 0, running = 1, halted = 2, faulted = 3 };
// How to go on after a fault, at `pc`: with the header of the open bundle as it was, or with no bundle open.
enum class Restart : std::uint32_t { resume = 1, discard_header = 2 };

// Where it is, and why it stopped. After a fault everything before `pc` has happened and nothing from there on has.
inline constexpr std::uint64_t pc = 0x040;         // rw u64: next instruction; written while faulted: where it restarts
inline constexpr std::uint64_t bundle_pc = 0x048;  // ro u64: BSTART of the open bundle; 0: none is open
inline constexpr std::uint64_t fault_pc = 0x050;   // ro u64: the instruction that faulted
inline constexpr std::uint64_t fault_code = 0x058;  // ro u32: a FaultCode
inline constexpr std::uint64_t fault_step = 0x05c;  // ro u32: of the preflight (docs/cube.md); 0: not found by it
inline constexpr std::uint64_t flags = 0x060;       // rw u32: sticky NumericFlag bits
inline constexpr std::uint64_t release_tile =
    0x064;  // wo u32: frees the tile that a source code names; not while running

// GPR g, rw u64; 0 reads zero.
constexpr std::uint64_t gpr(unsigned g) { return 0x080 + 8 * std::uint64_t{g}; }

// Work counters, ro u64, since the core was built.
inline constexpr std::uint64_t counter_bundles = 0x200;      // committed, strict no-ops included
inline constexpr std::uint64_t counter_words = 0x208;        // instructions executed, of any length
inline constexpr std::uint64_t counter_macs = 0x210;         // M x N x K summed over matrix bundles and their PEs
inline constexpr std::uint64_t counter_issued_macs = 0x218;  // the same with M, N and K rounded up to whole steps
inline constexpr std::uint64_t counter_loads = 0x220;        // TLOAD bundles committed
inline constexpr std::uint64_t counter_stores = 0x228;       // TSTORE bundles committed
inline constexpr std::uint64_t counter_faults = 0x230;

// The tile that source code t (0-63) of B.IOT names, ro u32 each. 0 in all: none is published.
constexpr std::uint64_t tile_info(unsigned t) { return 0x400 + 0x20 * std::uint64_t{t}; }
inline constexpr std::uint64_t tile_capacity = 0x00;  // bytes a PE
inline constexpr std::uint64_t tile_mask = 0x04;      // PeMask
inline constexpr std::uint64_t tile_type = 0x08;      // a DataType
inline constexpr std::uint64_t tile_layout = 0x0c;    // a Layout
inline constexpr std::uint64_t tile_valid_rows = 0x10;
inline constexpr std::uint64_t tile_valid_columns = 0x14;

}  // namespace tilevp::cube::registers
