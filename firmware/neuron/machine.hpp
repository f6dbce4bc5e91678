#pragma once
// What a kernel must know of the core it is built for. Read from the core's registers (driver.hpp), never assumed.
#include <cstdint>

namespace tilevp::neuron {

struct Machine {
  std::uint32_t generation = 2;
  std::uint32_t partitions = 128;
  std::uint32_t sbuf_bytes = 180'224;  // a partition, usable by programs (NC-v2: 192 KiB less 16 KiB reserved)
  std::uint32_t psum_banks = 8;
  std::uint32_t dma_engines = 16;
  std::uint32_t dma_queues = 16;  // rings an engine
  bool has_dma_transpose() const { return generation >= 3; }
  std::uint64_t core_base = 0;  // of the core's window, as the DMA engines address it
};

}  // namespace tilevp::neuron
