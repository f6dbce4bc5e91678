#include "tilevp/platform/race_watch.hpp"

#include <algorithm>
#include <cstring>

#include "tilevp/dma/registers.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::platform {

namespace dma_map = dma::registers;

RaceWatch::RaceWatch(const neuroncore::RaceSetup& setup, const std::vector<std::unique_ptr<dma::DmaEngine>>& engines)
    : detector_(setup), dma_window_(setup.core_base + neuroncore::registers::dma_window) {
  for (unsigned e = 0; e < engines.size(); ++e) {
    engines_.push_back(std::make_unique<EngineWatch>(detector_, e));
    engines[e]->observe(*engines_[e]);
  }
}

void RaceWatch::read(std::uint64_t address, std::span<const std::byte> bytes) {
  const std::uint64_t offset = address - dma_window_;
  if (offset >= engines_.size() * dma_map::window_bytes || bytes.empty()) return detector_.host_read(address, bytes);
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  read_dma(static_cast<unsigned>(offset / dma_map::window_bytes), offset % dma_map::window_bytes, value);
}

void RaceWatch::read_dma(unsigned engine, std::uint64_t offset, std::uint64_t value) {
  if ((offset == dma_map::status || offset == dma_map::reset) && value == 0) detector_.host_saw_idle(engine);
  for (unsigned q = 0; q < dma_map::queues; ++q) {
    if (offset == dma_map::interrupt && (value >> q & 1) != 0) detector_.host_saw_interrupt(engine, q);
    if (offset == dma_map::queue_base(q) + dma_map::head)
      detector_.host_saw_ended(engine, q, static_cast<std::uint32_t>(value));
  }
}

void RaceWatch::interrupted(unsigned line) {
  if (line == dma_map::interrupt_line)
    detector_.host_took_dma_interrupt();
  else
    detector_.host_took_core_interrupt();
}

}  // namespace tilevp::platform
