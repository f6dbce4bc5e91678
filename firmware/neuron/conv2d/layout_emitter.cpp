#include "tilevp/neuron/conv2d/layout_emitter.hpp"

#include <vector>

namespace tilevp::neuron::conv2d {
namespace {

// [outer][a][b] -> [outer][b][a], the way that takes fewer cycles.
TranspositionWork swap_inner(Kernel& k, const char* what, numeric::DType dtype, std::uint64_t from, std::uint64_t to,
                             std::int64_t outer, std::int64_t a, std::int64_t b) {
  if (permutes_in_rows(outer, a, b)) {
    const Tensor source = k.hbm(std::string(what) + " as given", dtype, from, outer, a * b);
    const Tensor destination = k.hbm(what, dtype, to, outer, a * b);
    return emit(k, RowPermutation{.source = source, .destination = destination, .rows = outer, .a = a, .b = b});
  }
  const Tensor source = k.hbm(std::string(what) + " as given", dtype, from, outer * a, b);
  const Tensor destination = k.hbm(what, dtype, to, outer * b, a);
  std::vector<MatrixTranspose> matrices;
  for (std::int64_t o = 0; o < outer; ++o)
    matrices.push_back({.source = source,
                        .source_offset = o * a * b,
                        .rows = a,
                        .row_step = b,
                        .columns = b,
                        .destination = destination,
                        .destination_offset = o * a * b,
                        .column_step = a});
  return emit(k, matrices);
}

// [groups][rows][columns] -> [columns][rows][groups]; one group: a plain transpose.
TranspositionWork turn(Kernel& k, const char* what, numeric::DType dtype, std::uint64_t from, std::uint64_t to,
                       std::int64_t groups, std::int64_t rows, std::int64_t columns) {
  const MatrixTranspose matrix{.source = k.hbm(std::string(what) + " as given", dtype, from, groups * rows, columns),
                               .groups = groups,
                               .group_step = rows * columns,
                               .rows = rows,
                               .row_step = columns,
                               .columns = columns,
                               .destination = k.hbm(what, dtype, to, columns, groups * rows),
                               .column_step = groups * rows};
  return emit(k, std::span(&matrix, 1));
}

TranspositionWork emit_image(Kernel& k, const Problem& p, numeric::DType dtype, ImageLayout layout,
                             const LayoutAddresses& at) {
  if (layout == ImageLayout::cnhw) return swap_inner(k, "image", dtype, at.given_image, at.image, p.C, p.N, p.H * p.W);
  return turn(k, "image", dtype, at.given_image, at.image, p.N, p.H * p.W, p.C);
}

TranspositionWork emit_filter_rows(Kernel& k, const Problem& p, numeric::DType dtype, std::uint64_t from,
                                   std::uint64_t to) {
  const std::int64_t channels = p.filter_channels();
  const std::int64_t row = p.O * p.Hf * p.Wf;
  const Tensor source = k.hbm("filter as given", dtype, from, channels, row);
  const Tensor destination = k.hbm("filter, rows first", dtype, to, channels, row);
  return emit(k,
              RowPermutation{
                  .source = source, .destination = destination, .rows = channels, .middle = p.O, .a = p.Wf, .b = p.Hf});
}

TranspositionWork emit_filter(Kernel& k, const Problem& p, numeric::DType dtype, FilterLayout layout,
                              std::uint64_t from, std::uint64_t to) {
  const std::int64_t taps = p.Hf * p.Wf;
  const std::int64_t channels = p.filter_channels();
  if (layout == FilterLayout::chwo) return turn(k, "filter", dtype, from, to, 1, channels * taps, p.O);
  if (layout == FilterLayout::ochw) return turn(k, "filter", dtype, from, to, 1, p.O, channels * taps);
  if (layout == FilterLayout::ohwc) return turn(k, "filter", dtype, from, to, p.O, taps, channels);
  return swap_inner(k, "filter", dtype, from, to, channels, p.O, taps);
}

}  // namespace

LayoutPasses layout_passes(const Problem& p, const Layouts& layouts, FilterLayout filter) {
  LayoutPasses passes;
  passes.image = !same_order(image_sizes(p), permutation(layouts.image), permutation(staged(layouts.image)));
  const bool columns_first = layouts.filter == FilterLayout::cowh;
  const FilterLayout then = columns_first ? FilterLayout::cohw : layouts.filter;
  passes.filter_rows = !same_order(filter_sizes(p), permutation(layouts.filter), permutation(then));
  passes.filter = !same_order(filter_sizes(p), permutation(then), permutation(filter));
  passes.output = !same_order(output_sizes(p), permutation(layouts.output), permutation(stored(layouts.output)));
  return passes;
}

LayoutAddresses place_tensors(const Problem& p, numeric::DType dtype, const Layouts& layouts,
                              const std::function<std::uint64_t(const std::string&, std::uint64_t)>& allocate,
                              FilterLayout filter_layout) {
  const LayoutPasses passes = layout_passes(p, layouts, filter_layout);
  const auto bytes = [](const Sizes& sizes, std::size_t element) {
    return static_cast<std::uint64_t>(sizes[0] * sizes[1] * sizes[2] * sizes[3]) * element;
  };
  const std::uint64_t image = bytes(image_sizes(p), numeric::size_bytes(dtype));
  const std::uint64_t filter = bytes(filter_sizes(p), numeric::size_bytes(dtype));
  const std::uint64_t output = bytes(output_sizes(p), sizeof(float));
  LayoutAddresses at;
  at.given_image = at.image = allocate("image", image);
  at.given_filter = at.filter = allocate("filter", filter);
  at.given_output = at.output = allocate("output", output);
  if (passes.image) at.image = allocate("image, transposed", image);
  if (passes.filter_rows && passes.filter) at.filter_between = allocate("filter, rows first", filter);
  if (passes.filter_rows || passes.filter) at.filter = allocate("filter, transposed", filter);
  if (passes.output) at.output = allocate("output, to be transposed", output);
  return at;
}

TranspositionWork emit_inputs(Kernel& kernel, const Problem& problem, numeric::DType dtype, const Layouts& layouts,
                              const LayoutAddresses& at, FilterLayout filter) {
  const LayoutPasses passes = layout_passes(problem, layouts, filter);
  TranspositionWork work;
  if (passes.image) work += emit_image(kernel, problem, dtype, layouts.image, at);
  if (passes.filter_rows)
    work += emit_filter_rows(kernel, problem, dtype, at.given_filter, passes.filter ? at.filter_between : at.filter);
  if (passes.filter_rows && passes.filter) kernel.barrier();
  if (passes.filter)
    work += emit_filter(kernel, problem, dtype, layouts.filter,
                        passes.filter_rows ? at.filter_between : at.given_filter, at.filter);
  if (passes.image || passes.filter_rows || passes.filter) kernel.barrier();
  return work;
}

TranspositionWork emit_output(Kernel& kernel, const Problem& p, const Layouts& layouts, const LayoutAddresses& at) {
  if (!layout_passes(p, layouts).output) return {};
  kernel.barrier();
  return turn(kernel, "output", numeric::DType::fp32, at.output, at.given_output, 1, p.O,
              p.K0() * p.K1() * p.output_images());
}

}  // namespace tilevp::neuron::conv2d
