#include "tilevp/neuron/conv2d/diagonal_operands.hpp"

#include <string>
#include <vector>

namespace tilevp::neuron::conv2d {
namespace {

// The groups are innermost already: a run for each pixel.
TranspositionWork copy_block(Kernel& k, const GroupedTensor& from, std::int64_t first, std::int64_t count,
                             std::uint64_t to) {
  const std::int64_t pixels = from.outer * from.plane();
  const Tensor source = k.hbm(std::string(from.name) + " as given", from.dtype, from.address, pixels, from.groups);
  const Tensor destination = k.hbm(from.name, from.dtype, to, pixels, count);
  k.dma_copy(destination.ap({{count, pixels}, {1, count}}), source.ap({{from.groups, pixels}, {1, count}}, first),
             QueueClass::local);
  TranspositionWork work;
  work.dma_bytes = pixels * count * static_cast<std::int64_t>(numeric::size_bytes(from.dtype));
  return work;
}

}  // namespace

TranspositionWork emit_block(Kernel& k, const GroupedTensor& from, std::int64_t first, std::int64_t count,
                             std::uint64_t to) {
  if (from.groups_innermost) return copy_block(k, from, first, count, to);
  const std::int64_t plane = from.plane();
  const Tensor source =
      k.hbm(std::string(from.name) + " as given", from.dtype, from.address, from.outer * from.groups, plane);
  const Tensor destination = k.hbm(from.name, from.dtype, to, from.outer * plane, count);
  // A matrix a channel, or a channel and column where these come before the rows.
  const std::int64_t matrices = from.columns_first ? from.columns : 1;
  const std::int64_t length = plane / matrices;
  std::vector<MatrixTranspose> list;
  for (std::int64_t c = 0; c < from.outer; ++c)
    for (std::int64_t j = 0; j < matrices; ++j)
      list.push_back({.source = source,
                      .source_offset = (c * from.groups + first) * plane + j * length,
                      .rows = count,
                      .row_step = plane,
                      .columns = length,
                      .destination = destination,
                      .destination_offset = (c * plane + j) * count,
                      .column_step = matrices * count});
  return emit(k, list);
}

}  // namespace tilevp::neuron::conv2d
