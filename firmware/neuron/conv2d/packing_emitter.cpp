#include "tilevp/neuron/conv2d/packing_emitter.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "tilevp/neuron/conv2d/staging.hpp"

// A filter tile is loaded once for all of the output, an image strip once for all its tiles; what they add up to stays
// in SBUF until the last outer tile. A combo is one tile of the output for up to 128 filters. Up to 8 of them, one a
// bank, take the filter columns in turn; then all are drained.
namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t max_outputs = neuroncore::max_stationary_free;
constexpr std::int64_t max_free = neuroncore::max_moving_free;

struct Combo {
  Stage tile{};  // relative to its strip
  std::int64_t output_tile = 0;
  std::int64_t slot = 0;  // in the output buffer of the filter tile
  std::int64_t elements() const { return tile.rows * tile.columns * tile.images; }
};

class PackingEmitter {
 public:
  PackingEmitter(Kernel& kernel, const Plan& plan, const Addresses& addresses)
      : k_(kernel), plan_(plan), p_(plan.problem), staging_(kernel, plan, addresses) {
    outputs_ = staging_.allocate("out", plan.output_tiles(), numeric::DType::fp32, plan.output_elements());
  }

  void run() {
    std::vector<Stage> strips;  // of one group of images
    for (const Stage& stage : plan_.stages()) {
      if (!strips.empty() && strips.front().n0 != stage.n0) run_images(std::exchange(strips, {}));
      strips.push_back(stage);
    }
    run_images(strips);
  }

 private:
  void run_images(const std::vector<Stage>& strips) {
    bool first = true;
    for (const ChannelTile& channels : plan_.tiles)
      for (std::int64_t t = 0; t < channels.outer_tiles; ++t) {
        const Tensor& weights = staging_.weights()[weight_turn_++ % staging_.weights().size()];
        staging_.load_filter(channels, t, weights);
        for (std::size_t strip = 0; strip < strips.size(); ++strip) {
          const Tensor& image = staging_.images()[image_turn_++ % staging_.images().size()];
          staging_.load_image(strips[strip], channels, t, image);
          const std::vector<Combo> combos = combos_of(strips[strip], static_cast<std::int64_t>(strip));
          const std::size_t banks = staging_.banks().size();
          for (std::size_t at = 0; at < combos.size(); at += banks)
            run_batch(std::span(combos).subspan(at, std::min(banks, combos.size() - at)), channels, weights, image,
                      first);
        }
        first = false;
      }
    for (std::size_t strip = 0; strip < strips.size(); ++strip)
      for (const Combo& combo : combos_of(strips[strip], static_cast<std::int64_t>(strip))) store(strips[strip], combo);
  }

  // Tiles of rows are counted inside the strip. Counted over the whole output, a tile could begin in one strip and end
  // in the next, where the image buffer has ended.
  std::vector<Combo> combos_of(const Stage& stage, std::int64_t strip) const {
    std::vector<Combo> combos;
    for (std::int64_t a = 0; a < stage.rows; a += plan_.tile_rows)
      for (std::int64_t b = 0; b < stage.columns; b += plan_.tile_columns)
        for (std::int64_t n = 0; n < stage.images; n += plan_.tile_images) {
          const std::int64_t row_tile = strip * plan_.row_tiles() + a / plan_.tile_rows;
          const std::int64_t slot =
              (row_tile * plan_.column_tiles() + b / plan_.tile_columns) * plan_.image_tiles() + n / plan_.tile_images;
          const Stage tile{n, std::min(plan_.tile_images, stage.images - n),
                           a, std::min(plan_.tile_rows, stage.rows - a),
                           b, std::min(plan_.tile_columns, stage.columns - b)};
          for (std::int64_t o = 0; o < plan_.output_tiles(); ++o) combos.push_back({tile, o, slot});
        }
    return combos;
  }

  std::int64_t filters_of(const Combo& combo) const {
    return std::min(max_outputs, p_.O - combo.output_tile * max_outputs);
  }

  Access bank_of(const Combo& combo, std::size_t bank) const {
    return staging_.banks()[bank].ap({{max_free, filters_of(combo)}, {1, combo.elements()}});
  }

  void run_batch(std::span<const Combo> combos, const ChannelTile& channels, const Tensor& weights, const Tensor& image,
                 bool first) {
    for (std::int64_t j = 0; j < p_.Wf; ++j)
      for (std::size_t b = 0; b < combos.size(); ++b) {
        const std::int64_t o = combos[b].output_tile * max_outputs;
        k_.nc_matmul(bank_of(combos[b], b), staging_.stationary(weights, channels, j, o, filters_of(combos[b])),
                     staging_.moving(image, channels, combos[b].tile, 0, j), {.start = j == 0, .stop = j + 1 == p_.Wf});
      }
    for (std::size_t b = 0; b < combos.size(); ++b) {
      const Access to = packed_output(combos[b]);
      if (first)
        k_.tensor_copy(to, bank_of(combos[b], b));
      else
        k_.tensor_tensor(to, bank_of(combos[b], b), to, AluOp::add);
    }
  }

  Access packed_output(const Combo& combo) const {
    const Tensor& to = outputs_[static_cast<std::size_t>(combo.output_tile)];
    return to.ap({{to.info().free_size, filters_of(combo)}, {1, combo.elements()}}, combo.slot * plan_.tile_elements());
  }

  void store(const Stage& stage, const Combo& combo) {
    if (plan_.slice_rows == 0) {
      staging_.store(stage, combo.tile, combo.output_tile, packed_output(combo));
      return;
    }
    const Tensor& from = outputs_[static_cast<std::size_t>(combo.output_tile)];
    const Stage& tile = combo.tile;
    staging_.store_slice(stage, tile, combo.output_tile,
                         from.ap({{from.info().free_size, filters_of(combo)},
                                  {1, tile.images},
                                  {tile.columns * tile.images, tile.rows},
                                  {tile.images, tile.columns}},
                                 combo.slot * plan_.tile_elements()));
  }

  Kernel& k_;
  const Plan& plan_;
  const Problem& p_;
  Staging staging_;
  std::vector<Tensor> outputs_;
  std::size_t image_turn_ = 0, weight_turn_ = 0;
};

}  // namespace

void emit_packed(Kernel& kernel, const Plan& plan, const Addresses& addresses) {
  PackingEmitter(kernel, plan, addresses).run();
}

}  // namespace tilevp::neuron::conv2d
