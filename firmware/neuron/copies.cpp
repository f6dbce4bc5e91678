#include "tilevp/neuron/copies.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuron {
namespace {

// An access as the DMA engines address it: its first element, bytes from an outermost element (partition) to the next.
struct Addressed {
  std::uint64_t start = 0;
  std::int64_t outer_stride = 0;
};

Addressed addressed(const Machine& machine, const Access& access) {
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(access.dtype()));
  if (access.memory() == Memory::hbm)
    return {access.tensor().address + static_cast<std::uint64_t>(access.offset() * size), access.outer().step * size};
  return {machine.core_base + neuroncore::registers::sbuf_window +
              (static_cast<std::uint64_t>(access.first_partition()) << neuroncore::sbuf_partition_shift) +
              access.tensor().address + static_cast<std::uint64_t>(access.first_element() * size),
          std::int64_t{1} << neuroncore::sbuf_partition_shift};
}

using Loops = boost::container::small_vector<memory::Loop, Access::max_pairs>;

memory::AccessPattern checked(const Access& access, std::uint64_t start, const Loops& loops) {
  const auto element = static_cast<std::uint32_t>(numeric::size_bytes(access.dtype()));
  if (const auto problem = memory::AccessPattern::problem(start, element, {loops.data(), loops.size()}))
    throw UserError("dma_copy", access.text() + ": " + *problem);
  return {start, element, std::span<const memory::Loop>(loops.data(), loops.size())};
}

// Partitions [first, first + count) of an access.
memory::AccessPattern pattern_of(const Machine& machine, const Access& access, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(access.dtype()));
  const Addressed at = addressed(machine, access);
  Loops loops{{static_cast<std::uint64_t>(count), at.outer_stride}};
  for (const Pair& pair : access.free()) loops.push_back({static_cast<std::uint64_t>(pair.num), pair.step * size});
  return checked(access, at.start + static_cast<std::uint64_t>(first * at.outer_stride), loops);
}

// Where rows [first, first + count) of the source of a transpose go, element by element: by rows, tiles, partitions.
memory::AccessPattern transposed_of(const Machine& machine, const CopyPart& part, std::int64_t first,
                                    std::int64_t count) {
  const Access& access = part.destination;
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(access.dtype()));
  const Addressed at = addressed(machine, access);
  const std::int64_t rows = part.source.partitions();
  const std::int64_t tiles = access.elements() / rows;
  // Tiles that follow each other are one pair with their rows.
  const auto pairs = access.free();
  const std::int64_t row_step = pairs.back().step * size;
  const std::int64_t tile_step = pairs.size() == 1 ? row_step * rows : pairs[0].step * size;
  return checked(access, at.start + static_cast<std::uint64_t>(first * row_step),
                 {{static_cast<std::uint64_t>(count), row_step},
                  {static_cast<std::uint64_t>(tiles), tile_step},
                  {static_cast<std::uint64_t>(access.partitions()), at.outer_stride}});
}

}  // namespace

std::uint32_t append_copy(const Machine& machine, const std::vector<CopyPart>& parts, std::uint8_t semaphore,
                          std::vector<std::vector<dma::Descriptor>>& rings) {
  std::vector<std::size_t> before;
  for (const auto& ring : rings) before.push_back(ring.size());
  std::size_t engine = 0;
  for (const CopyPart& part : parts) {
    const std::int64_t total = part.source.partitions();
    const auto engines = static_cast<std::int64_t>(machine.dma_engines);
    const std::int64_t share = (total + engines - 1) / engines;
    for (std::int64_t first = 0; first < total; first += share) {
      const std::int64_t count = std::min(share, total - first);
      dma::Descriptor descriptor;
      descriptor.source = pattern_of(machine, part.source, first, count);
      descriptor.destination = part.transposes ? transposed_of(machine, part, first, count)
                                               : pattern_of(machine, part.destination, first, count);
      descriptor.transposes = part.transposes;
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
