#include "tilevp/neuron/conv2d/emitter.hpp"

#include <algorithm>

#include "tilevp/neuron/conv2d/packing_emitter.hpp"
#include "tilevp/neuron/conv2d/staging.hpp"

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
      : k_(kernel), plan_(plan), p_(plan.problem), staging_(kernel, plan, addresses) {
    outputs_ =
        staging_.allocate("out", plan.output_slots * plan.output_tiles(), numeric::DType::fp32, plan.output_elements());
    loaded_.assign(staging_.weights().size(), false);
  }

  void run() {
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
          batch.image_slots.push_back(image_turn_++ % staging_.images().size());
          batch.weight_slots.push_back((plan_.weights_resident ? index : weight_turn_++) % staging_.weights().size());
        }
      }
    return batches;
  }

  void load(const Stage& stage, const Batch& batch) {
    const ChannelTile& tile = plan_.tiles[batch.channel_tile];
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::size_t slot = batch.weight_slots[at];
      if (!plan_.weights_resident || !loaded_[slot])
        staging_.load_filter(tile, batch.first + i, staging_.weights()[slot]);
      loaded_[slot] = true;
      staging_.load_image(stage, tile, batch.first + i, staging_.images()[batch.image_slots[at]]);
    }
  }

  // The matmuls of one tile of the output (relative to the stage, whose columns start at `stage_column`) and their
  // drains. A row is staged with all its columns.
  void compute(const Stage& tile, const Batch& batch, std::int64_t stage_column, bool first_batch) {
    const ChannelTile& channels = plan_.tiles[batch.channel_tile];
    for (std::int64_t i = 0; i < batch.count; ++i) {
      const Tensor& image = staging_.images()[batch.image_slots[static_cast<std::size_t>(i)]];
      const Tensor& weights = staging_.weights()[batch.weight_slots[static_cast<std::size_t>(i)]];
      for (std::int64_t o = 0; o < p_.O; o += max_outputs) {
        const std::int64_t m = std::min(max_outputs, p_.O - o);
        const auto& banks = staging_.banks();
        const Access bank =
            banks[bank_turn_++ % banks.size()].ap({{max_free, m}, {1, tile.rows * tile.columns * tile.images}});
        for (std::int64_t j = 0; j < p_.Wf; ++j)
          k_.nc_matmul(bank, staging_.stationary(weights, channels, j, o, m),
                       staging_.moving(image, channels, tile, stage_column, j),
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
        staging_.store(stage, part, o, staged_output(part, o, m));
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
    const Tensor& from =
        outputs_[output_turn_ * static_cast<std::size_t>(plan_.output_tiles()) + static_cast<std::size_t>(output_tile)];
    const std::int64_t nd = plan_.stage_images;
    const std::int64_t row = plan_.stage_columns * nd;
    staging_.store_slice(stage, part, output_tile,
                         from.ap({{from.info().free_size, m}, {1, part.images}, {row, part.rows}, {nd, part.columns}},
                                 part.row0 * row + part.column0 * nd + part.n0));
  }

  Kernel& k_;
  const Plan& plan_;
  const Problem& p_;
  Staging staging_;
  std::vector<Tensor> outputs_;
  std::vector<bool> loaded_;  // filter slots that hold their resident tile
  std::size_t image_turn_ = 0, weight_turn_ = 0, output_turn_ = 0, bank_turn_ = 0;
};

}  // namespace

std::int64_t zero_elements(const Plan& plan) { return plan.problem.W * plan.stage_images; }

void emit(Kernel& kernel, const Plan& plan, const Addresses& addresses) {
  if (plan.variant == Variant::packed)
    emit_packed(kernel, plan, addresses);
  else
    Emitter(kernel, plan, addresses).run();
}

}  // namespace tilevp::neuron::conv2d
