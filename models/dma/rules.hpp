#pragma once
// The rules of DMA engines.
#include <span>

#include "tilevp/base/rules.hpp"

namespace tilevp::dma {

// In the order of the table in rules.cpp; ids are unique.
std::span<const Rule> rules();

namespace rule {
inline constexpr char queue[] = "dma.queue";
inline constexpr char ring[] = "dma.ring";
inline constexpr char ring_busy[] = "dma.ring_busy";
inline constexpr char doorbell[] = "dma.doorbell";
inline constexpr char descriptor[] = "dma.descriptor";
inline constexpr char out_of_bounds[] = "dma.out_of_bounds";
inline constexpr char transpose[] = "dma.transpose";
inline constexpr char semaphore[] = "dma.semaphore";
inline constexpr char address_error[] = "dma.address_error";
}  // namespace rule

}  // namespace tilevp::dma
