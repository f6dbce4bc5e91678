#pragma once
// Which bytes an access touches: partitions times a pattern of bytes that is the same in each of them.
#include <cstdint>
#include <functional>
#include <optional>

#include "tilevp/memory/access_pattern.hpp"
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

// On-chip memories, and everything else, by the addresses that the host and the DMA engines use.
enum class Place : std::uint8_t { sbuf, psum, memory };
inline constexpr std::size_t places = 3;

struct Footprint {
  Place place = Place::memory;
  std::uint16_t first = 0;  // partitions [first, end); of memory [0, 1)
  std::uint16_t end = 1;
  memory::AccessPattern bytes{};  // as a set: loops by descending stride, no repetition

  friend bool operator==(const Footprint&, const Footprint&) = default;
};

// Of a tile that is in bounds.
Footprint footprint_of(const Operand& tile, unsigned partitions, std::uint32_t element_bytes);
// Of a pattern of the address map where the core's window stands at `core_base`; mostly one footprint.
void for_each_footprint(const memory::AccessPattern& pattern, std::uint64_t core_base,
                        const std::function<void(const Footprint&)>& action);

// The first bytes that two sets have in common.
std::optional<memory::Run> first_common(const memory::AccessPattern& a, const memory::AccessPattern& b);
// True only where every byte of `inner` is in `outer`; decided without walking them.
bool surely_contains(const memory::AccessPattern& outer, const memory::AccessPattern& inner);

}  // namespace tilevp::neuroncore
