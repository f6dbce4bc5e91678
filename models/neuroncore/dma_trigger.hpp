#pragma once
// What a core knows of its DMA engines: queues to ring, and what they wrote.
#include <cstdint>

namespace tilevp::neuroncore {

class DmaTrigger {
 public:
  // Releases `descriptors` more descriptors of `queue` on every DMA engine of the core, at the present time. `cause` is
  // the id of the instruction.
  virtual void trigger(unsigned queue, std::uint32_t descriptors, std::uint64_t cause) = 0;
  // Bytes all engines wrote for `queue` since the start.
  virtual std::uint64_t bytes_written(unsigned queue) const = 0;

 protected:
  ~DmaTrigger() = default;
};

}  // namespace tilevp::neuroncore
