#include "tilevp/neuron/conv2d/plan.hpp"

#include <algorithm>
#include <limits>

#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t max_free = neuroncore::max_moving_free;
constexpr std::int64_t max_strips = 8;
constexpr std::int64_t max_strided_images = 32;
constexpr std::int64_t batch_bytes = 20'000'000;  // of outer tiles resident at a time, over all partitions
constexpr std::int64_t slice_bytes = 16'384;
constexpr std::int64_t max_step = std::numeric_limits<std::int16_t>::max();

// Rows and columns of one matmul, for the images staged.
void choose_tile(Plan& plan) {
  const Problem& p = plan.problem;
  plan.tile_images = std::min(plan.stage_images, max_free);
  plan.tile_columns = std::clamp<std::int64_t>(max_free / plan.tile_images, 1, p.K1());
  if (p.stride_w * plan.stage_images > max_step) plan.tile_columns = 1;
  const std::int64_t rows = max_free / (plan.tile_images * plan.tile_columns);
  plan.tile_rows = std::clamp<std::int64_t>(rows, 1, p.K0());
  const std::int64_t read_step = p.stride_h * plan.width * plan.stage_images;
  const std::int64_t write_step = p.K1() * plan.stage_images;
  if (std::max(read_step, write_step) > max_step) plan.tile_rows = 1;
}

void choose_columns(Plan& plan) {
  const Problem& p = plan.problem;
  plan.pitch = p.W + std::max<std::int64_t>(0, p.left) + std::max<std::int64_t>(0, p.right);
  plan.trims = plan.variant == Variant::standard && std::min(p.left, p.right) < 0;
  plan.width = plan.trims ? p.W + p.left + p.right : plan.pitch;
  plan.column_offset = plan.trims ? 0 : std::max<std::int64_t>(0, -p.left);
}

void set_strip(Plan& plan, std::int64_t rows) {
  const Problem& p = plan.problem;
  plan.stage_rows = rows;
  plan.tile_rows = std::min(plan.tile_rows, rows);
  const std::int64_t last = (rows - 1) * p.stride_h;
  // The strided form stages the whole window of its rows, though each band reads only its own part of it.
  plan.rows_loaded = last + (plan.variant == Variant::strided ? p.extent_h() : 1);
}

// A store wants long runs: many rows of an image first, then many images.
void choose_slice(Plan& plan) {
  plan.slice_rows = plan.slice_images = 0;
  if (plan.output_layout != OutputLayout::nchw || plan.stage_images == 1) return;
  if (plan.variant == Variant::packed) {  // tile by tile
    plan.slice_rows = plan.tile_rows;
    plan.slice_images = plan.tile_images;
    return;
  }
  constexpr std::int64_t elements = slice_bytes / 4;
  plan.slice_rows = std::clamp<std::int64_t>(elements / plan.stage_columns, 1, plan.stage_rows);
  plan.slice_images = std::clamp<std::int64_t>(elements / (plan.slice_rows * plan.stage_columns), 1, plan.stage_images);
}

// Tries outer tiles a batch from most to fewest, each with image buffers for the batch being loaded as well.
bool choose_buffers(Plan& plan) {
  std::int64_t most_outer = 1;
  for (const ChannelTile& tile : plan.tiles) most_outer = std::max(most_outer, tile.outer_tiles);
  const std::int64_t tile_bytes = 128 * plan.element_bytes() * (plan.image_elements() + plan.weight_elements());
  const std::int64_t most = std::clamp<std::int64_t>(
      std::min<std::int64_t>(neuroncore::psum_banks / plan.output_tiles(), batch_bytes / tile_bytes), 1, most_outer);
  const auto fits = [&] { return plan.bytes() <= plan.sbuf_bytes; };
  plan.output_slots = 1;
  const std::int64_t resident = plan.filter_tiles() * plan.weight_elements() * plan.element_bytes();
  plan.weights_resident = resident <= plan.sbuf_bytes / 3;
  for (std::int64_t batch = most; batch >= 1; --batch) {
    plan.psum_batch = batch;
    plan.weight_slots = plan.weights_resident ? plan.filter_tiles() : std::min(2 * batch, plan.filter_tiles());
    plan.image_slots = 2 * batch;
    if (!fits()) continue;
    plan.output_slots = 2;
    if (!fits()) plan.output_slots = 1;
    return true;
  }
  plan.image_slots = 1;  // no overlap of copies and matmuls
  if (fits()) return true;
  if (!plan.weights_resident) plan.weight_slots = 1;
  return fits();
}

// Two buffers each for images and filters, one place for all of the output.
bool choose_packed_buffers(Plan& plan) {
  plan.psum_batch = plan.output_slots = 1;
  plan.weights_resident = false;
  plan.weight_slots = std::min<std::int64_t>(2, plan.filter_tiles());
  for (const std::int64_t slots : {2, 1}) {
    plan.image_slots = slots;
    if (plan.bytes() <= plan.sbuf_bytes) return true;
  }
  plan.weight_slots = 1;
  return plan.bytes() <= plan.sbuf_bytes;
}

// The strips for the images staged, lowered until everything fits.
bool choose_strips(Plan& plan) {
  const Problem& p = plan.problem;
  choose_tile(plan);
  const bool strided = plan.variant == Variant::strided;
  plan.stage_columns = strided ? plan.tile_columns : p.K1();
  std::int64_t rows = strided ? plan.tile_rows : std::max(plan.tile_rows, ceil_div(p.K0(), max_strips));
  for (;; rows = ceil_div(rows, 2)) {
    set_strip(plan, rows);
    choose_slice(plan);
    if (plan.variant == Variant::packed ? choose_packed_buffers(plan) : choose_buffers(plan)) return true;
    if (rows == 1) return false;
  }
}

}  // namespace

std::int64_t Plan::filter_tiles() const {
  std::int64_t total = 0;
  for (const ChannelTile& tile : tiles) total += tile.outer_tiles;
  return total;
}

std::int64_t Plan::bytes() const {
  const auto aligned = [](std::int64_t bytes) { return ceil_div(bytes, sbuf_alignment) * sbuf_alignment; };
  std::int64_t total = image_slots * aligned(image_elements() * element_bytes());
  if (trims) total += raw_slots * aligned(raw_elements() * element_bytes());
  total += weight_slots * aligned(weight_elements() * element_bytes());
  total += output_slots * output_tiles() * aligned(output_elements() * 4);
  if (slice_rows > 0) total += slice_slots * aligned(slice_elements() * 4);
  return total;
}

Plan make_plan(const PlanRequest& request, const Machine& machine) {
  Plan plan;
  plan.problem = request.problem;
  plan.dtype = request.dtype;
  plan.given = request.layouts;
  plan.image_layout = staged(request.layouts.image);
  plan.output_layout = stored(request.layouts.output);
  plan.variant = request.variant;
  plan.sbuf_bytes = machine.sbuf_bytes;
  plan.tiles = channel_tiles(request.problem, machine.partitions);
  choose_columns(plan);
  const bool single = plan.image_layout == ImageLayout::nchw;
  const std::int64_t all = request.problem.N;
  std::int64_t images = single ? 1 : all;
  if (request.variant == Variant::strided) images = std::min(images, max_strided_images);
  for (;; images = ceil_div(images, 2)) {
    plan.stage_images = images;
    if (choose_strips(plan) || images == 1) return plan;
  }
}

std::vector<Stage> Plan::stages() const {
  std::vector<Stage> list;
  const auto images = [&](auto&& body) {
    for (std::int64_t n = 0; n < problem.N; n += stage_images) body(n, std::min(stage_images, problem.N - n));
  };
  const auto tiles_of_output = [&](auto&& body) {
    for (std::int64_t a = 0; a < problem.K0(); a += stage_rows)
      for (std::int64_t b = 0; b < problem.K1(); b += stage_columns)
        body(Stage{0, 1, a, std::min(stage_rows, problem.K0() - a), b, std::min(stage_columns, problem.K1() - b)});
  };
  const auto add = [&](Stage stage, std::int64_t n, std::int64_t count) {
    stage.n0 = n;
    stage.images = count;
    list.push_back(stage);
  };
  if (variant != Variant::strided)
    images([&](auto n, auto count) { tiles_of_output([&](const Stage& s) { add(s, n, count); }); });
  else
    tiles_of_output([&](const Stage& s) { images([&](auto n, auto count) { add(s, n, count); }); });
  return list;
}

Prediction& Prediction::operator+=(const Prediction& other) {
  matmuls += other.matmuls;
  macs += other.macs;
  pe_cycles += other.pe_cycles;
  image_bytes += other.image_bytes;
  halo_bytes += other.halo_bytes;
  filter_bytes += other.filter_bytes;
  return *this;
}

Prediction predict(const Plan& plan) {
  const Problem& p = plan.problem;
  Prediction sum;
  const std::int64_t passes = plan.dtype == numeric::DType::fp32 ? 4 : 1;
  std::int64_t weight_bytes = 0;
  for (const ChannelTile& tile : plan.tiles) weight_bytes += tile.count * p.Hf * p.Wf * p.O * plan.element_bytes();
  for (const Stage& stage : plan.stages()) {
    const std::int64_t row_bytes = p.W * stage.images * plan.element_bytes();
    for (const ChannelTile& tile : plan.tiles)
      for (std::int64_t t = 0; t < tile.outer_tiles; ++t)
        for (std::int64_t r = 0; r < tile.rep; ++r) {
          const auto window = row_window(t * tile.step + r + stage.row0 * p.stride_h - p.top, plan.rows_loaded, p.H);
          sum.image_bytes += tile.count * plan.rows_loaded * row_bytes;
          sum.halo_bytes += tile.count * (window.before + window.behind) * row_bytes;
        }
    const bool loads_filter = plan.variant == Variant::packed ? stage.row0 == 0 : !plan.weights_resident;
    if (loads_filter) sum.filter_bytes += weight_bytes;
    for (std::int64_t a = 0; a < stage.rows; a += plan.tile_rows)
      for (std::int64_t b = 0; b < stage.columns; b += plan.tile_columns)
        for (std::int64_t n = 0; n < stage.images; n += plan.tile_images) {
          const std::int64_t free = std::min(plan.tile_rows, stage.rows - a) *
                                    std::min(plan.tile_columns, stage.columns - b) *
                                    std::min(plan.tile_images, stage.images - n);
          for (std::int64_t o = 0; o < p.O; o += 128) {
            const std::int64_t m = std::min<std::int64_t>(128, p.O - o);
            for (const ChannelTile& tile : plan.tiles) {
              const std::int64_t count = tile.outer_tiles * p.Wf;
              sum.matmuls += count;
              sum.macs += count * tile.used_partitions() * m * free;
              sum.pe_cycles += count * passes * std::max(free, std::min<std::int64_t>(64, m));
            }
          }
        }
  }
  if (plan.weights_resident) sum.filter_bytes = weight_bytes;
  return sum;
}

// In SBUF a row with its zero columns is one piece for all images of the stage, or a piece a column where a stage holds
// fewer images than fit; without zero columns rows continue each other. In memory chwn has the images innermost.
std::map<std::int64_t, std::int64_t> image_runs(const Plan& plan) {
  const Problem& p = plan.problem;
  std::map<std::int64_t, std::int64_t> runs;
  const bool chwn = plan.image_layout == ImageLayout::chwn;
  for (const Stage& stage : plan.stages()) {
    const bool whole_columns = stage.images == plan.stage_images;
    const bool near = whole_columns && (!chwn || stage.images == p.N);
    const auto add = [&](std::int64_t rows, bool pieces_are_rows, std::int64_t channels) {
      if (rows == 0) return;
      const bool joined = pieces_are_rows && plan.pitch == p.W;
      const std::int64_t columns = pieces_are_rows ? p.W : 1;
      const std::int64_t length = columns * stage.images * (joined ? rows : 1) * plan.element_bytes();
      runs[length] += channels * rows * p.W / columns / (joined ? rows : 1);
    };
    for (const ChannelTile& tile : plan.tiles)
      for (std::int64_t t = 0; t < tile.outer_tiles; ++t)
        for (std::int64_t r = 0; r < tile.rep; ++r) {
          const auto window = row_window(t * tile.step + r + stage.row0 * p.stride_h - p.top, plan.rows_loaded, p.H);
          add(window.inside, near, tile.count);
          // Zero rows come from one row of zeros, so each is a piece of its own.
          for (const std::int64_t rows : {window.before, window.behind})
            for (std::int64_t i = 0; i < rows; ++i) add(1, whole_columns, tile.count);
        }
  }
  return runs;
}

}  // namespace tilevp::neuron::conv2d
