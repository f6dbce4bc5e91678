#include "tilevp/neuron/conv2d/emitter.hpp"

#include <algorithm>
#include <limits>

#include "tilevp/neuron/allocator.hpp"

// The reduction has three levels: input channels and stacked filter rows inside one matmul, filter columns in a PSUM
// bank, outer tiles and channel tiles in SBUF.
//
// Engines: matmuls on PE; the vector engine drains PSUM; sync triggers the loads, which so run ahead as far as there
// are buffers; gpsimd clears buffers and triggers the trimming copies; the scalar engine brings images apart and
// triggers stores.
namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t store_bytes = 4096;  // a store waits for this much of a partition, or for the end of the stage
constexpr std::int64_t max_outputs = neuroncore::max_stationary_free;
constexpr std::int64_t max_free = neuroncore::max_moving_free;

class Emitter {
 public:
  Emitter(Kernel& kernel, const Plan& plan, const Addresses& addresses)
      : k_(kernel),
        plan_(plan),
        p_(plan.problem),
        sbuf_("SBUF", "bytes a partition", kernel.machine().sbuf_bytes, 0, sbuf_alignment) {
    declare_tensors(addresses);
    allocate();
  }

  void run() {
    clear_margins();
    for (const Stage& stage : plan_.stages()) run_stage(stage);
  }

 private:
  // Outer tiles [first, first + count) of a channel tile, resident together.
  struct Batch {
    std::size_t channel_tile = 0;
    std::int64_t first = 0;
    std::int64_t count = 1;
    std::vector<std::size_t> image_slots{};
    std::vector<std::size_t> weight_slots{};
  };

  void declare_tensors(const Addresses& at) {
    const bool chwn = plan_.image_layout == ImageLayout::chwn;
    image_ = k_.hbm("image", plan_.dtype, at.image, chwn ? p_.C : p_.N * p_.C, p_.H * p_.W * (chwn ? p_.N : 1));
    filter_ = k_.hbm("filter", plan_.dtype, at.filter, p_.C, p_.Hf * p_.Wf * p_.O);
    const bool nchw = plan_.output_layout == OutputLayout::nchw;
    const std::int64_t outputs = p_.K0() * p_.K1();
    output_ = k_.hbm("output", numeric::DType::fp32, at.output, nchw ? p_.N * p_.O : p_.O, outputs * (nchw ? 1 : p_.N));
    zeros_ = k_.hbm("zeros", plan_.dtype, at.zeros, 1, zero_elements(plan_));
  }

  Tensor allocate(const std::string& name, numeric::DType dtype, std::int64_t elements) {
    const auto bytes = static_cast<std::uint64_t>(elements) * numeric::size_bytes(dtype);
    return k_.sbuf(name, dtype, sbuf_.allocate(name, bytes), elements);
  }

  void allocate(std::vector<Tensor>& list, const std::string& name, std::int64_t count, numeric::DType dtype,
                std::int64_t elements) {
    for (std::int64_t i = 0; i < count; ++i) list.push_back(allocate(name + std::to_string(i), dtype, elements));
  }

  void allocate() {
    allocate(weights_, "filter", plan_.weight_slots, plan_.dtype, plan_.weight_elements());
    if (plan_.trims) allocate(raw_, "raw", Plan::raw_slots, plan_.dtype, plan_.raw_elements());
    allocate(images_, "image", plan_.image_slots, plan_.dtype, plan_.image_elements());
    allocate(outputs_, "out", plan_.output_slots * plan_.output_tiles(), numeric::DType::fp32, plan_.output_elements());
    if (plan_.slice_rows > 0)
      allocate(slices_, "slice", Plan::slice_slots, numeric::DType::fp32, plan_.slice_elements());
    for (unsigned b = 0; b < k_.machine().psum_banks; ++b) banks_.push_back(k_.psum("bank" + std::to_string(b), b));
    loaded_.assign(weights_.size(), false);
  }

  // The zero columns beside the image: no copy ever writes them, so once is enough.
  void clear_margins() {
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t left = std::max<std::int64_t>(0, p_.left) * nd;
    const std::int64_t right = std::max<std::int64_t>(0, p_.right) * nd;
    for (const Tensor& tensor : plan_.trims ? raw_ : images_) {
      if (left > 0) clear_columns(tensor, 0, left);
      if (right > 0) clear_columns(tensor, plan_.pitch * nd - right, right);
    }
  }

  void clear_columns(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    const std::int64_t row = plan_.pitch * plan_.stage_images;
    const Pair all{tensor.info().free_size, tensor.info().rows};
    if (row <= std::numeric_limits<std::int16_t>::max()) {
      k_.memset(tensor.ap({all, {row, plan_.rows_loaded}, {1, count}}, first), 0.0F);
      return;
    }
    for (std::int64_t i = 0; i < plan_.rows_loaded; ++i) k_.memset(tensor.ap({all, {1, count}}, i * row + first), 0.0F);
  }

  void run_stage(const Stage& stage) {
    const std::vector<Batch> batches = batches_of_stage();
    for (const Batch& batch : batches) {
      load(stage, batch);
      const bool first = &batch == &batches.front();
      const bool last = &batch == &batches.back();
      std::int64_t stored = 0;
      for (std::int64_t a = 0; a < stage.rows; a += plan_.tile_rows) {
        const std::int64_t rows = std::min(plan_.tile_rows, stage.rows - a);
        for (std::int64_t b = 0; b < stage.columns; b += plan_.tile_columns)
          for (std::int64_t n = 0; n < stage.images; n += plan_.tile_images)
            compute({n, std::min(plan_.tile_images, stage.images - n), a, rows, b,
                     std::min(plan_.tile_columns, stage.columns - b)},
                    batch, stage.column0, first);
        const std::int64_t ready = a + rows - stored;
        const bool enough = ready * stage.columns * (plan_.slice_rows > 0 ? 1 : stage.images) * 4 >= store_bytes;
        if (last && (enough || a + rows == stage.rows)) {
          store(stage, stored, ready);
          stored += ready;
        }
      }
    }
    output_turn_ = (output_turn_ + 1) % static_cast<std::size_t>(plan_.output_slots);
  }

  std::vector<Batch> batches_of_stage() {
    std::vector<Batch> batches;
    std::size_t index = 0;  // of the filter tile
    for (std::size_t c = 0; c < plan_.tiles.size(); ++c)
      for (std::int64_t t = 0; t < plan_.tiles[c].outer_tiles; t += plan_.psum_batch) {
        Batch& batch = batches.emplace_back();
        batch.channel_tile = c;
        batch.first = t;
        batch.count = std::min(plan_.psum_batch, plan_.tiles[c].outer_tiles - t);
        for (std::int64_t i = 0; i < batch.count; ++i, ++index) {
          batch.image_slots.push_back(image_turn_++ % images_.size());
          batch.weight_slots.push_back((plan_.weights_resident ? index : weight_turn_++) % weights_.size());
        }
      }
    return batches;
  }

  void load(const Stage& stage, const Batch& batch) {
    const ChannelTile& tile = plan_.tiles[batch.channel_tile];
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      load_weights(tile, batch.first + i, batch.weight_slots[at]);
      if (!plan_.trims) {
        load_image(stage, tile, batch.first + i, images_[batch.image_slots[at]]);
        continue;
      }
      const Tensor& raw = raw_[raw_turn_++ % raw_.size()];
      load_image(stage, tile, batch.first + i, raw);
      trim(tile, raw, images_[batch.image_slots[at]]);
    }
  }

  void load_weights(const ChannelTile& tile, std::int64_t t, std::size_t slot) {
    if (plan_.weights_resident && loaded_[slot]) return;
    loaded_[slot] = true;
    const Tensor& to = weights_[slot];
    const std::int64_t size = plan_.weight_elements();
    if (tile.has_zero_bands(t, p_)) k_.memset(to.ap({{size, tile.used_partitions()}, {1, size}}), 0.0F);
    std::vector<CopyPart> parts;
    for (std::int64_t r = 0; r < tile.filter_rows; ++r) {
      const std::int64_t row = tile.filter_row(t, r);
      if (row >= p_.Hf) break;
      // A filter row stands on the band of the image row that it meets: a dilation further for each.
      const std::int64_t partition = tile.rep == 1 ? 0 : r * p_.dilation_h * tile.count;
      parts.push_back({to.ap({{size, tile.count}, {1, size}}, partition * size),
                       filter_.ap({{p_.Hf * size, tile.count}, {1, size}}, tile.first * p_.Hf * size + row * size)});
    }
    k_.dma_copy(std::move(parts), QueueClass::weights, Engine::sync);
  }

  // One copy for all bands: band r holds the rows one further down than band r - 1.
  void load_image(const Stage& stage, const ChannelTile& tile, std::int64_t t, const Tensor& to) {
    std::vector<CopyPart> parts;
    for (std::int64_t r = 0; r < tile.rep; ++r) {
      const std::int64_t first = t * tile.step + r + stage.row0 * p_.stride_h - p_.top;
      const RowWindow window = row_window(first, plan_.rows_loaded, p_.H);
      const std::int64_t partition = r * tile.count;
      add_zero_rows(parts, stage, tile, to, partition, 0, window.before);
      add_image_rows(parts, stage, tile, to, partition, window.before, first + window.before, window.inside);
      add_zero_rows(parts, stage, tile, to, partition, window.before + window.inside, window.behind);
    }
    k_.dma_copy(std::move(parts), QueueClass::inputs, Engine::sync);
  }

  Access staged_rows(const Stage& stage, const ChannelTile& tile, const Tensor& to, std::int64_t partition,
                     std::int64_t row, std::int64_t rows) const {
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t size = to.info().free_size;
    const std::int64_t offset = partition * size + (row * plan_.pitch + std::max<std::int64_t>(0, p_.left)) * nd;
    return to.ap({{size, tile.count}, {plan_.pitch * nd, rows}, {nd, p_.W}, {1, stage.images}}, offset);
  }

  void add_zero_rows(std::vector<CopyPart>& parts, const Stage& stage, const ChannelTile& tile, const Tensor& to,
                     std::int64_t partition, std::int64_t row, std::int64_t rows) const {
    if (rows == 0) return;
    parts.push_back({staged_rows(stage, tile, to, partition, row, rows),
                     zeros_.ap({{0, tile.count}, {0, rows}, {1, p_.W * stage.images}})});
  }

  void add_image_rows(std::vector<CopyPart>& parts, const Stage& stage, const ChannelTile& tile, const Tensor& to,
                      std::int64_t partition, std::int64_t row, std::int64_t image_row, std::int64_t rows) const {
    if (rows == 0) return;
    const std::int64_t plane = p_.H * p_.W;
    const Access source =
        plan_.image_layout == ImageLayout::chwn
            ? image_.ap({{plane * p_.N, tile.count}, {p_.W * p_.N, rows}, {p_.N, p_.W}, {1, stage.images}},
                        (tile.first * plane + image_row * p_.W) * p_.N + stage.n0)
            : image_.ap({{plane, tile.count}, {1, rows * p_.W}},
                        (stage.n0 * p_.C + tile.first) * plane + image_row * p_.W);
    parts.push_back({staged_rows(stage, tile, to, partition, row, rows), source});
  }

  void trim(const ChannelTile& tile, const Tensor& raw, const Tensor& to) {
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t partitions = tile.used_partitions();
    k_.dma_copy(
        to.ap({{plan_.image_elements(), partitions}, {1, plan_.image_elements()}}),
        raw.ap({{plan_.raw_elements(), partitions}, {plan_.pitch * nd, plan_.rows_loaded}, {1, plan_.width * nd}},
               std::max<std::int64_t>(0, -p_.left) * nd),
        QueueClass::local, Engine::gpsimd);
  }

  // The matmuls of one tile of the output (relative to the stage, whose columns start at `stage_column`) and their
  // drains. A row is staged with all its columns.
  void compute(const Stage& tile, const Batch& batch, std::int64_t stage_column, bool first_batch) {
    const ChannelTile& channels = plan_.tiles[batch.channel_tile];
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t row = plan_.width * nd;
    const std::int64_t partitions = channels.used_partitions();
    const std::int64_t column = (stage_column + tile.column0) * p_.stride_w + plan_.column_offset;
    const std::int64_t origin = tile.row0 * p_.stride_h * row + column * nd + tile.n0;
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const Tensor& image = images_[batch.image_slots[static_cast<std::size_t>(i)]];
      const Tensor& weights = weights_[batch.weight_slots[static_cast<std::size_t>(i)]];
      for (std::int64_t o = 0; o < p_.O; o += max_outputs) {
        const std::int64_t m = std::min(max_outputs, p_.O - o);
        const Access bank =
            banks_[bank_turn_++ % banks_.size()].ap({{max_free, m}, {1, tile.rows * tile.columns * tile.images}});
        for (std::int64_t j = 0; j < p_.Wf; ++j)
          k_.nc_matmul(bank, weights.ap({{plan_.weight_elements(), partitions}, {1, m}}, j * p_.O + o),
                       image.ap({{plan_.image_elements(), partitions},
                                 {p_.stride_h * row, tile.rows},
                                 {p_.stride_w * nd, tile.columns},
                                 {1, tile.images}},
                                origin + j * p_.dilation_w * nd),
                       {.start = j == 0, .stop = j + 1 == p_.Wf});
        drain(tile, o / max_outputs, m, bank, first_batch && i == 0);
      }
    }
  }

  Access staged_output(const Stage& tile, std::int64_t output_tile, std::int64_t m) const {
    const Tensor& to =
        outputs_[output_turn_ * static_cast<std::size_t>(plan_.output_tiles()) + static_cast<std::size_t>(output_tile)];
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t row = plan_.stage_columns * nd;
    return to.ap({{to.info().free_size, m}, {row, tile.rows}, {nd, tile.columns}, {1, tile.images}},
                 tile.row0 * row + tile.column0 * nd + tile.n0);
  }

  void drain(const Stage& tile, std::int64_t output_tile, std::int64_t m, const Access& bank, bool first) {
    const Access to = staged_output(tile, output_tile, m);
    if (first)
      k_.tensor_copy(to, bank);
    else
      k_.tensor_tensor(to, bank, to, AluOp::add);
  }

  void store(const Stage& stage, std::int64_t row0, std::int64_t rows) {
    for (std::int64_t o = 0; o < plan_.output_tiles(); ++o) {
      const std::int64_t m = std::min(max_outputs, p_.O - o * max_outputs);
      if (plan_.slice_rows == 0) {
        const Stage part{0, stage.images, row0, rows, 0, stage.columns};
        k_.dma_copy(in_memory(stage, part, o, m), staged_output(part, o, m), QueueClass::outputs, Engine::scalar);
        continue;
      }
      for (std::int64_t a = row0; a < row0 + rows; a += plan_.slice_rows)
        for (std::int64_t n = 0; n < stage.images; n += plan_.slice_images)
          store_slice(stage,
                      {n, std::min(plan_.slice_images, stage.images - n), a,
                       std::min(plan_.slice_rows, row0 + rows - a), 0, stage.columns},
                      o, m);
    }
  }

  // Brings the images apart, so that each is one run of the store.
  void store_slice(const Stage& stage, const Stage& part, std::int64_t output_tile, std::int64_t m) {
    const Tensor& slice = slices_[slice_turn_++ % slices_.size()];
    const Tensor& from =
        outputs_[output_turn_ * static_cast<std::size_t>(plan_.output_tiles()) + static_cast<std::size_t>(output_tile)];
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t row = plan_.stage_columns * nd;
    const Access packed = slice.ap({{slice.info().free_size, m}, {1, part.images * part.rows * part.columns}});
    k_.activation(packed, neuroncore::Function::copy,
                  from.ap({{from.info().free_size, m}, {1, part.images}, {row, part.rows}, {nd, part.columns}},
                          part.row0 * row + part.column0 * nd + part.n0));
    k_.dma_copy(in_memory(stage, part, output_tile, m), packed, QueueClass::outputs, Engine::scalar);
  }

  // The place of a part of the stage in the output tensor; nchw: image by image.
  Access in_memory(const Stage& stage, const Stage& part, std::int64_t output_tile, std::int64_t m) const {
    const std::int64_t o = output_tile * max_outputs;
    const std::int64_t n = stage.n0 + part.n0;
    const std::int64_t plane = p_.K0() * p_.K1();
    const std::int64_t first = (stage.row0 + part.row0) * p_.K1() + stage.column0 + part.column0;
    if (plan_.output_layout == OutputLayout::nchw)
      return output_.ap({{plane, m}, {p_.O * plane, part.images}, {p_.K1(), part.rows}, {1, part.columns}},
                        (n * p_.O + o) * plane + first);
    return output_.ap({{plane * p_.N, m}, {p_.K1() * p_.N, part.rows}, {p_.N, part.columns}, {1, part.images}},
                      (o * plane + first) * p_.N + n);
  }

  Kernel& k_;
  const Plan& plan_;
  const Problem& p_;
  Allocator sbuf_;
  Tensor image_, filter_, output_, zeros_;
  std::vector<Tensor> weights_, raw_, images_, outputs_, slices_, banks_;
  std::vector<bool> loaded_;  // filter slots that hold their resident tile
  std::size_t image_turn_ = 0, weight_turn_ = 0, raw_turn_ = 0, output_turn_ = 0, slice_turn_ = 0, bank_turn_ = 0;
};

}  // namespace

std::int64_t zero_elements(const Plan& plan) { return plan.problem.W * plan.stage_images; }

void emit(Kernel& kernel, const Plan& plan, const Addresses& addresses) { Emitter(kernel, plan, addresses).run(); }

}  // namespace tilevp::neuron::conv2d
