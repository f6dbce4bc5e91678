// The plan as `tilevp describe program conv2d` prints it.
#include <sstream>

#include "tilevp/neuron/conv2d/layout_emitter.hpp"
#include "tilevp/neuron/conv2d/plan.hpp"

namespace tilevp::neuron::conv2d {
namespace {

void print_problem(std::ostream& out, const Plan& plan) {
  const Problem& p = plan.problem;
  out << "conv2d " << p.C << "->" << p.O << " " << p.Hf << "x" << p.Wf << " on " << p.H << "x" << p.W << ", N " << p.N
      << ", stride " << p.stride_h << "," << p.stride_w << ", padding " << p.top << "," << p.bottom << "," << p.left
      << "," << p.right << ", dilation " << p.dilation_h << "," << p.dilation_w << ", " << numeric::name(plan.dtype)
      << "\n  output " << p.K0() << "x" << p.K1() << "\n";
}

// The passes of the machine over tensors whose axes lie otherwise.
void print_layouts(std::ostream& out, const Plan& plan) {
  const LayoutPasses passes = layout_passes(plan.problem, plan.given);
  if (!passes.any()) return;
  out << "  transposes:";
  if (passes.image) out << " image " << name(plan.given.image) << " -> " << name(plan.image_layout) << ";";
  if (passes.filter_rows) out << " filter cowh -> cohw;";
  if (passes.filter) out << " filter " << (passes.filter_rows ? "cohw" : name(plan.given.filter)) << " -> chwo;";
  if (passes.output) out << " output " << name(plan.output_layout) << " -> " << name(plan.given.output) << ";";
  out << " through HBM\n";
}

void print_channel_tile(std::ostream& out, const ChannelTile& tile, const Problem& p) {
  out << "  channels " << tile.first << ".." << tile.first + tile.count - 1 << ": H_REP " << tile.rep
      << ", outer tiles " << tile.outer_tiles << " of " << tile.step << " dilated rows, " << tile.used_partitions()
      << " of 128 partitions\n";
  for (std::int64_t r = 0; r < tile.rep; ++r) {
    out << "    partitions " << r * tile.count << ".." << (r + 1) * tile.count - 1 << ": image row a*" << p.stride_h
        << " + " << tile.step << "*t + " << r - p.top << ", ";
    if (tile.rep > 1 && r % p.dilation_h != 0)
      out << "no filter row (zero)\n";
    else
      out << "filter row " << tile.filter_rows << "*t + " << (tile.rep == 1 ? 0 : r / p.dilation_h) << "\n";
  }
}

// The most filters, fewer than the plan's, with which the same convolution has a plan that fits; 0: none.
std::int64_t fitting_filters(const Plan& plan) {
  PlanRequest request{plan.problem, plan.dtype, plan.given, plan.variant};
  const Machine machine{.sbuf_bytes = plan.sbuf_bytes};
  std::int64_t fits = 0;
  for (std::int64_t fits_not = plan.problem.O; fits_not - fits > 1;) {
    request.problem.O = fits + (fits_not - fits) / 2;
    const Plan tried = make_plan(request, machine);
    (tried.bytes() <= tried.sbuf_bytes ? fits : fits_not) = request.problem.O;
  }
  return fits;
}

void print_overflow(std::ostream& out, const Plan& plan) {
  out << "    does not fit: this is the smallest plan there is, and " << plan.bytes() - plan.sbuf_bytes
      << " bytes a partition are missing; ";
  if (const std::int64_t filters = fitting_filters(plan); filters > 0)
    out << "up to " << filters << (filters == 1 ? " filter fits\n" : " filters fit\n");
  else
    out << "not even one filter fits\n";
}

void print_memory(std::ostream& out, const Plan& plan) {
  const std::int64_t size = plan.element_bytes();
  out << "  SBUF, bytes a partition: " << plan.bytes() << " of " << plan.sbuf_bytes << "\n";
  if (plan.bytes() > plan.sbuf_bytes) print_overflow(out, plan);
  out << "    image   " << plan.image_slots << " x " << plan.image_elements() * size << " (" << plan.rows_loaded
      << " rows x " << plan.width << " columns x " << plan.stage_images << " images)\n";
  if (plan.trims)
    out << "    raw     " << Plan::raw_slots << " x " << plan.raw_elements() * size << " (" << plan.pitch
        << " columns before trimming)\n";
  out << "    filter  " << plan.weight_slots << " x " << plan.weight_elements() * size
      << (plan.variant == Variant::packed ? " (loaded once, or once for each group of images)\n"
          : plan.weights_resident         ? " (resident)\n"
                                          : " (loaded for every strip)\n")
      << "    output  " << plan.output_slots * plan.output_tiles() << " x " << plan.output_elements() * 4
      << " (fp32)\n";
  if (plan.slice_rows > 0)
    out << "    slice   " << Plan::slice_slots << " x " << plan.slice_elements() * 4 << " (brings images apart)\n";
}

void print_banks(std::ostream& out, const Plan& plan) {
  if (plan.variant == Variant::packed)
    out << "  PSUM: up to 8 tiles at once, one a bank; " << plan.packed_slots() << " slots of " << plan.tile_elements()
        << " in SBUF hold the output\n";
  else
    out << "  PSUM: batches of " << plan.psum_batch << " outer tiles x " << plan.output_tiles()
        << " filter tiles in turn over 8 banks\n";
}

void print_runs(std::ostream& out, const Plan& plan) {
  out << "  image DMA:";
  const char* separator = " ";
  for (const auto& [bytes, count] : image_runs(plan)) {
    out << separator << count << (count == 1 ? " run of " : " runs of ") << bytes << " bytes";
    separator = ", ";
  }
  out << "\n";
}

}  // namespace

std::string Plan::text() const {
  std::ostringstream out;
  print_problem(out, *this);
  print_layouts(out, *this);
  for (const ChannelTile& tile : tiles) print_channel_tile(out, tile, problem);
  out << "  strips: " << strips() << " of " << stage_rows << " output rows x " << stage_columns << " columns x "
      << stage_images << " images, " << rows_loaded << " image rows loaded a band\n"
      << "  tile of a matmul: " << tile_rows << " rows x " << tile_columns << " columns x " << tile_images
      << " images = " << tile_rows * tile_columns * tile_images << " of 512; filters in " << output_tiles()
      << " tiles of 128\n";
  print_banks(out, *this);
  print_memory(out, *this);
  const Prediction p = predict(*this);
  out << "  predicted: " << p.matmuls << " matmuls, " << p.pe_cycles << " PE cycles, " << p.macs << " MACs ("
      << problem.useful_macs() << " useful), image DMA " << p.image_bytes << " bytes (" << p.halo_bytes
      << " of them zero rows beside the image), filter DMA " << p.filter_bytes << " bytes\n";
  print_runs(out, *this);
  return out.str();
}

}  // namespace tilevp::neuron::conv2d
