#pragma once
// What the emitters of dense convolutions share: buffers in SBUF, loads of filters and image bands, stores of parts of
// the output.
#include <string>
#include <vector>

#include "tilevp/neuron/allocator.hpp"
#include "tilevp/neuron/conv2d/emitter.hpp"

namespace tilevp::neuron::conv2d {

class Staging {
 public:
  // Declares the tensors in HBM and allocates the buffers of filters, images and slices. UserError where SBUF has no
  // room, with who holds what.
  Staging(Kernel& kernel, const Plan& plan, const Addresses& addresses);

  std::vector<Tensor> allocate(const std::string& name, std::int64_t count, numeric::DType dtype,
                               std::int64_t elements);

  const std::vector<Tensor>& weights() const { return weights_; }
  const std::vector<Tensor>& images() const { return images_; }
  const std::vector<Tensor>& banks() const { return banks_; }

  void load_filter(const ChannelTile& tile, std::int64_t t, const Tensor& to);
  // All bands of outer tile t, trimmed where the plan trims.
  void load_image(const Stage& stage, const ChannelTile& tile, std::int64_t t, const Tensor& to);

  // The image under filter column j, for `tile` of the output (relative to the stage, whose columns start at
  // `stage_column`).
  Access moving(const Tensor& image, const ChannelTile& channels, const Stage& tile, std::int64_t stage_column,
                std::int64_t j) const;
  Access stationary(const Tensor& weights, const ChannelTile& channels, std::int64_t j, std::int64_t o,
                    std::int64_t m) const;

  // Part of the stage's output (relative to it) for filters of `output_tile`, from SBUF: elements in the order row,
  // column, image. Images apart where the plan has slices: they go through one.
  void store(const Stage& stage, const Stage& part, std::int64_t output_tile, const Access& from);
  // As store() with a slice; `from` has its elements in the order image, row, column.
  void store_slice(const Stage& stage, const Stage& part, std::int64_t output_tile, const Access& from);

 private:
  void clear_margins();
  void clear_columns(const Tensor& tensor, std::int64_t first, std::int64_t count);
  void load_bands(const Stage& stage, const ChannelTile& tile, std::int64_t t, const Tensor& to);
  Access staged_rows(const Stage& stage, const ChannelTile& tile, const Tensor& to, std::int64_t partition,
                     std::int64_t row, std::int64_t rows) const;
  void add_zero_rows(std::vector<CopyPart>& parts, const Stage& stage, const ChannelTile& tile, const Tensor& to,
                     std::int64_t partition, std::int64_t row, std::int64_t rows) const;
  void add_image_rows(std::vector<CopyPart>& parts, const Stage& stage, const ChannelTile& tile, const Tensor& to,
                      std::int64_t partition, std::int64_t row, std::int64_t image_row, std::int64_t rows) const;
  void trim(const ChannelTile& tile, const Tensor& raw, const Tensor& to);
  Access in_memory(const Stage& stage, const Stage& part, std::int64_t output_tile, std::int64_t m) const;

  Kernel& k_;
  const Plan& plan_;
  const Problem& p_;
  Allocator sbuf_;
  Tensor image_, filter_, output_, zeros_;
  std::vector<Tensor> weights_, raw_, images_, slices_, banks_;
  std::size_t raw_turn_ = 0, slice_turn_ = 0;
};

}  // namespace tilevp::neuron::conv2d
