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

// Byte offsets:
//   0  u64 source address           8  u64 destination address
//  16  u8 source dtype (DType)     17  u8 destination dtype      18 u8 source loops   19 u8 destination loops
//  20  u16 element bytes at the source, without conversion also at the destination (1, 2, 4, 8, ... up to 65535)
//  22  u8 flags (Flags)            23  u8 semaphore
//  24  u32 semaphore increment     28 u32 reserved, zero
//  32  5 x {u32 size, i32 stride in bytes}, outermost first, source
//  72  5 x {u32 size, i32 stride in bytes}, outermost first, destination
// 112  16 bytes reserved, zero
struct Descriptor {
  memory::AccessPattern source;  // element bytes = size of the source dtype, or the copy's element when none converts
  memory::AccessPattern destination;
  numeric::DType source_dtype = numeric::DType::uint8;
  numeric::DType destination_dtype = numeric::DType::uint8;
  bool empty = false;       // moves nothing, only signals: every engine of a copy posts its completion
  bool signals = false;     // adds `increment` to semaphore `semaphore` when the last byte is written
  bool interrupts = false;  // raises the engine's interrupt at that time
  std::uint8_t semaphore = 0;
  std::uint32_t increment = 0;
};

enum DescriptorFlags : std::uint8_t { flag_empty = 1, flag_signal = 2, flag_interrupt = 4, flag_convert = 8 };

// Throws UserError when a loop, stride or element does not fit its field ("DMA descriptor: source loop 0 has size ...,
// the field holds at most 4294967295").
std::array<std::byte, descriptor_bytes> encode(const Descriptor& descriptor);
// Throws Fault `dma.descriptor` when the bytes are no descriptor: unknown dtype, a loop of size zero, more than five
// loops, element counts of the two sides that differ, reserved bytes that are not zero, an increment above
// max_increment; `dma.semaphore` when it signals a reserved semaphore. `place` names the ring and index.
Descriptor decode(std::span<const std::byte, descriptor_bytes> bytes, const std::string& place);

}  // namespace tilevp::dma
