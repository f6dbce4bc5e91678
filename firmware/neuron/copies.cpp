#include "tilevp/neuron/copies.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuron {
namespace {

// Partitions [first, first + count) of an access, as the DMA engines address it.
memory::AccessPattern pattern_of(const Machine& machine, const Access& access, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(access.dtype()));
  std::uint64_t start = 0;
  std::int64_t outer_stride = 0;
  if (access.memory() == Memory::hbm) {
    outer_stride = access.outer().step * size;
    start = access.tensor().address + static_cast<std::uint64_t>(access.offset() * size + first * outer_stride);
  } else {
    outer_stride = std::int64_t{1} << neuroncore::sbuf_partition_shift;
    start = machine.core_base + neuroncore::registers::sbuf_window +
            (static_cast<std::uint64_t>(access.first_partition() + first) << neuroncore::sbuf_partition_shift) +
            access.tensor().address + static_cast<std::uint64_t>(access.first_element() * size);
  }
  boost::container::small_vector<memory::Loop, Access::max_pairs> loops;
  loops.push_back({static_cast<std::uint64_t>(count), outer_stride});
  for (const Pair& pair : access.free()) loops.push_back({static_cast<std::uint64_t>(pair.num), pair.step * size});
  const auto element = static_cast<std::uint32_t>(size);
  if (const auto problem = memory::AccessPattern::problem(start, element, {loops.data(), loops.size()}))
    throw UserError("dma_copy", access.text() + ": " + *problem);
  return {start, element, std::span<const memory::Loop>(loops.data(), loops.size())};
}

}  // namespace

std::uint32_t append_copy(const Machine& machine, const std::vector<CopyPart>& parts, std::uint8_t semaphore,
                          std::vector<std::vector<dma::Descriptor>>& rings) {
  std::vector<std::size_t> before;
  for (const auto& ring : rings) before.push_back(ring.size());
  std::size_t engine = 0;
  for (const CopyPart& part : parts) {
    const std::int64_t total = part.destination.partitions();
    const auto engines = static_cast<std::int64_t>(machine.dma_engines);
    const std::int64_t share = (total + engines - 1) / engines;
    for (std::int64_t first = 0; first < total; first += share) {
      const std::int64_t count = std::min(share, total - first);
      dma::Descriptor descriptor;
      descriptor.source = pattern_of(machine, part.source, first, count);
      descriptor.destination = pattern_of(machine, part.destination, first, count);
      descriptor.source_dtype = part.source.dtype();
      descriptor.destination_dtype = part.destination.dtype();
      rings[engine].push_back(descriptor);
      engine = (engine + 1) % rings.size();
    }
  }
  std::size_t most = 1;
  for (std::size_t e = 0; e < rings.size(); ++e) most = std::max(most, rings[e].size() - before[e]);
  for (std::size_t e = 0; e < rings.size(); ++e) {
    while (rings[e].size() - before[e] < most) {
      dma::Descriptor nothing;
      nothing.empty = true;
      rings[e].push_back(nothing);
    }
    dma::Descriptor& last = rings[e].back();
    last.signals = true;
    last.semaphore = semaphore;
    last.increment = 1;
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace tilevp::neuron
