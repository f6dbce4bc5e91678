#include "tilevp/neuron/conv2d/staging.hpp"
#include "tilevp/neuron/slots.hpp"

#include <algorithm>
#include <limits>

namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t max_outputs = neuroncore::max_stationary_free;

}  // namespace

Staging::Staging(Kernel& kernel, const Plan& plan, const Addresses& at)
    : k_(kernel),
      plan_(plan),
      p_(plan.problem),
      sbuf_("SBUF", "bytes a partition", kernel.machine().sbuf_bytes, 0, sbuf_alignment) {
  const bool chwn = plan.image_layout == ImageLayout::chwn;
  image_ = k_.hbm("image", plan.dtype, at.image, chwn ? p_.C : p_.N * p_.C, p_.H * p_.W * (chwn ? p_.N : 1));
  filter_ = k_.hbm("filter", plan.dtype, at.filter, p_.C, p_.Hf * p_.Wf * p_.O);
  const bool nchw = plan.output_layout == OutputLayout::nchw;
  const std::int64_t outputs = p_.K0() * p_.K1();
  output_ = k_.hbm("output", numeric::DType::fp32, at.output, nchw ? p_.N * p_.O : p_.O, outputs * (nchw ? 1 : p_.N));
  zeros_ = k_.hbm("zeros", plan.dtype, at.zeros, 1, zero_elements(plan));
  weights_ = allocate("filter", plan.weight_slots, plan.dtype, plan.weight_elements());
  if (plan.trims) raw_ = allocate("raw", Plan::raw_slots, plan.dtype, plan.raw_elements());
  images_ = allocate("image", plan.image_slots, plan.dtype, plan.image_elements());
  if (plan.slice_rows > 0) slices_ = allocate("slice", Plan::slice_slots, numeric::DType::fp32, plan.slice_elements());
  for (unsigned b = 0; b < k_.machine().psum_banks; ++b) banks_.push_back(k_.psum("bank" + std::to_string(b), b));
  clear_margins();
}

std::vector<Tensor> Staging::allocate(const std::string& name, std::int64_t count, numeric::DType dtype,
                                      std::int64_t elements) {
  return sbuf_slots(k_, sbuf_, name, count, dtype, elements);
}

// The zero columns beside the image: no copy ever writes them, so once is enough.
void Staging::clear_margins() {
  const std::int64_t nd = plan_.stage_images;
  const std::int64_t left = std::max<std::int64_t>(0, p_.left) * nd;
  const std::int64_t right = std::max<std::int64_t>(0, p_.right) * nd;
  for (const Tensor& tensor : plan_.trims ? raw_ : images_) {
    if (left > 0) clear_columns(tensor, 0, left);
    if (right > 0) clear_columns(tensor, plan_.pitch * nd - right, right);
  }
}

void Staging::clear_columns(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  const std::int64_t row = plan_.pitch * plan_.stage_images;
  const Pair all{tensor.info().free_size, tensor.info().rows};
  if (row <= std::numeric_limits<std::int16_t>::max()) {
    k_.memset(tensor.ap({all, {row, plan_.rows_loaded}, {1, count}}, first), 0.0F);
    return;
  }
  for (std::int64_t i = 0; i < plan_.rows_loaded; ++i) k_.memset(tensor.ap({all, {1, count}}, i * row + first), 0.0F);
}

void Staging::load_filter(const ChannelTile& tile, std::int64_t t, const Tensor& to) {
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
void Staging::load_bands(const Stage& stage, const ChannelTile& tile, std::int64_t t, const Tensor& to) {
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

Access Staging::staged_rows(const Stage& stage, const ChannelTile& tile, const Tensor& to, std::int64_t partition,
                            std::int64_t row, std::int64_t rows) const {
  const std::int64_t nd = plan_.stage_images;
  const std::int64_t size = to.info().free_size;
  const std::int64_t offset = partition * size + (row * plan_.pitch + std::max<std::int64_t>(0, p_.left)) * nd;
  return to.ap({{size, tile.count}, {plan_.pitch * nd, rows}, {nd, p_.W}, {1, stage.images}}, offset);
}

void Staging::add_zero_rows(std::vector<CopyPart>& parts, const Stage& stage, const ChannelTile& tile, const Tensor& to,
                            std::int64_t partition, std::int64_t row, std::int64_t rows) const {
  if (rows == 0) return;
  parts.push_back({staged_rows(stage, tile, to, partition, row, rows),
                   zeros_.ap({{0, tile.count}, {0, rows}, {1, p_.W * stage.images}})});
}

void Staging::add_image_rows(std::vector<CopyPart>& parts, const Stage& stage, const ChannelTile& tile,
                             const Tensor& to, std::int64_t partition, std::int64_t row, std::int64_t image_row,
                             std::int64_t rows) const {
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

void Staging::trim(const ChannelTile& tile, const Tensor& raw, const Tensor& to) {
  const std::int64_t nd = plan_.stage_images;
  const std::int64_t partitions = tile.used_partitions();
  k_.dma_copy(to.ap({{plan_.image_elements(), partitions}, {1, plan_.image_elements()}}),
              raw.ap({{plan_.raw_elements(), partitions}, {plan_.pitch * nd, plan_.rows_loaded}, {1, plan_.width * nd}},
                     std::max<std::int64_t>(0, -p_.left) * nd),
              QueueClass::local, Engine::gpsimd);
}

// The place of a part of the stage in the output tensor; nchw: image by image.
Access Staging::in_memory(const Stage& stage, const Stage& part, std::int64_t output_tile, std::int64_t m) const {
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

void Staging::load_image(const Stage& stage, const ChannelTile& tile, std::int64_t t, const Tensor& to) {
  if (!plan_.trims) {
    load_bands(stage, tile, t, to);
    return;
  }
  const Tensor& raw = raw_[raw_turn_++ % raw_.size()];
  load_bands(stage, tile, t, raw);
  trim(tile, raw, to);
}

Access Staging::moving(const Tensor& image, const ChannelTile& channels, const Stage& tile, std::int64_t stage_column,
                       std::int64_t j) const {
  const std::int64_t nd = plan_.stage_images;
  const std::int64_t row = plan_.width * nd;
  const std::int64_t column = (stage_column + tile.column0) * p_.stride_w + plan_.column_offset;
  return image.ap({{plan_.image_elements(), channels.used_partitions()},
                   {p_.stride_h * row, tile.rows},
                   {p_.stride_w * nd, tile.columns},
                   {1, tile.images}},
                  tile.row0 * p_.stride_h * row + (column + j * p_.dilation_w) * nd + tile.n0);
}

Access Staging::stationary(const Tensor& weights, const ChannelTile& channels, std::int64_t j, std::int64_t o,
                           std::int64_t m) const {
  return weights.ap({{plan_.weight_elements(), channels.used_partitions()}, {1, m}}, j * p_.O + o);
}

void Staging::store(const Stage& stage, const Stage& part, std::int64_t output_tile, const Access& from) {
  k_.dma_copy(in_memory(stage, part, output_tile, from.partitions()), from, QueueClass::outputs, Engine::scalar);
}

void Staging::store_slice(const Stage& stage, const Stage& part, std::int64_t output_tile, const Access& from) {
  const Tensor& slice = slices_[slice_turn_++ % slices_.size()];
  const Access packed =
      slice.ap({{slice.info().free_size, from.partitions()}, {1, part.images * part.rows * part.columns}});
  k_.activation(packed, neuroncore::Function::copy, from);
  store(stage, part, output_tile, packed);
}

}  // namespace tilevp::neuron::conv2d
