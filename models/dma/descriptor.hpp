#pragma once
// The DMA descriptor as it lies in a ring in memory: 128 bytes, little endian. An encoding of ours; the limits it can
// express are those of the hardware (up to five loops a side, 16-bit element sizes, 64 KiB a transfer).
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilevp/memory/access_pattern.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::dma {

inline constexpr std::size_t descriptor_bytes = 128;
inline constexpr std::size_t max_loops = 5;
inline constexpr unsigned program_semaphores = 253;  // a descriptor may signal 0 to 252; the runtime has the rest
inline constexpr std::uint32_t max_increment = 0x7fffffff;  // semaphores are signed
inline constexpr std::uint32_t max_rows = 65536;            // that one descriptor chooses by indices

// Byte offsets:
//   0  u64 source address           8  u64 destination address
//  16  u8 source dtype (DType)     17  u8 destination dtype      18 u8 source loops   19 u8 destination loops
//  20  u16 element bytes at the source, without conversion also at the destination (1, 2, 4, 8, ... up to 65535)
//  22  u8 flags (Flags)            23  u8 semaphore
//  24  u32 semaphore increment     28 u32 reserved, zero
//  32  5 x {u32 size, i32 stride in bytes}, outermost first, source
//  72  5 x {u32 size, i32 stride in bytes}, outermost first, destination
// 112  u64 address of the indices, 120 u32 their bound, 124 u32 reserved: all zero without gather or scatter

// Which rows a descriptor moves when that is known at run time only: the outermost loop of one side takes its positions
// from int32 indices in memory, read when the descriptor begins (the indirect copies of AWS Neuron's NKI, nki.isa
// dma_copy, with its two ways to treat an index that is out of bounds).
enum class Indirect : std::uint8_t { none, gather, scatter };
struct Rows {
  Indirect side = Indirect::none;  // gather: indices choose the rows of the source, scatter: of the destination
  std::uint32_t count = 0;         // rows, as many as indices: 1 to max_rows
  std::int64_t source_stride = 0;  // bytes from one row to the next
  std::int64_t destination_stride = 0;
  std::uint64_t indices = 0;  // address of the first, four bytes each, contiguous
  std::uint32_t bound = 0;    // an index i is in bounds where 0 <= i < bound
  bool skip = false;          // a row out of bounds is left out; otherwise it is a fault
  friend bool operator==(const Rows&, const Rows&) = default;
};

struct Descriptor {
  memory::AccessPattern source;  // element bytes = size of the source dtype, or the copy's element when none converts
  memory::AccessPattern destination;
  Rows rows;  // with them, source and destination are row 0 of each side, encoded as loops of rows.count rows
  numeric::DType source_dtype = numeric::DType::uint8;
  numeric::DType destination_dtype = numeric::DType::uint8;
  bool transposes =
      false;             // reads runs, writes their elements wherever they go, in SBUF, at a rate of its own (NC-v3 on)
  bool empty = false;    // moves nothing, only signals: every engine of a copy posts its completion
  bool signals = false;  // adds `increment` to semaphore `semaphore` when the last byte is written
  bool interrupts = false;  // raises the engine's interrupt at that time
  std::uint8_t semaphore = 0;
  std::uint32_t increment = 0;
};

enum DescriptorFlags : std::uint8_t {
  flag_empty = 1,
  flag_signal = 2,
  flag_interrupt = 4,
  flag_convert = 8,
  flag_gather = 16,
  flag_scatter = 32,
  flag_skip = 64,  // rows out of bounds
  flag_transpose = 128
};

// Throws UserError when a loop, stride or element does not fit its field ("DMA descriptor: source loop 0 has size ...,
// the field holds at most 4294967295").
std::array<std::byte, descriptor_bytes> encode(const Descriptor& descriptor);
// Throws Fault `dma.descriptor` when the bytes are no descriptor: unknown dtype, a loop of size zero, more than five
// loops, element counts of the two sides that differ, reserved bytes that are not zero, an increment above
// max_increment, rows that are none or too many, a transpose that is empty, converts, gathers or scatters;
// `dma.semaphore` when it signals a reserved semaphore. `place` names
// the ring and index.
Descriptor decode(std::span<const std::byte, descriptor_bytes> bytes, const std::string& place);

}  // namespace tilevp::dma
