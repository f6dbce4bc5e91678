// Engines: the vector engine multiplies and sums; sync triggers the loads; gpsimd clears windows and scatters dilated
// images; the scalar engine triggers the stores.
#include <algorithm>
#include <limits>
#include <vector>

#include "tilevp/neuron/allocator.hpp"
#include "tilevp/neuron/conv2d/depthwise.hpp"
#include "tilevp/neuron/slots.hpp"

namespace tilevp::neuron::conv2d {
namespace {

constexpr std::int64_t max_step = std::numeric_limits<std::int16_t>::max();
constexpr std::int64_t max_num = std::numeric_limits<std::uint16_t>::max();

// Channels [first, first + count) on the partitions.
struct Channels {
  std::int64_t first = 0;
  std::int64_t count = 1;
};

// Images and output rows whose input is in one window.
struct Window {
  std::int64_t n0 = 0, images = 1;
  std::int64_t row0 = 0, rows = 1;
};

class Emitter {
 public:
  Emitter(Kernel& kernel, const DepthwisePlan& plan, const DepthwiseAddresses& at)
      : k_(kernel), plan_(plan), p_(plan.problem) {
    const bool chwn = plan.image == ImageLayout::chwn;
    const bool nchw = plan.output == OutputLayout::nchw;
    const std::int64_t outputs = plan.K0() * plan.K1();
    image_ = k_.hbm("image", plan.dtype, at.image, chwn ? p_.C : p_.N * p_.C, p_.H * p_.W * (chwn ? p_.N : 1));
    filter_ = k_.hbm("filter", plan.dtype, at.filter, p_.C, plan.taps());
    output_ = k_.hbm("output", numeric::DType::fp32, at.output, nchw ? p_.N * p_.C : p_.C, outputs * (nchw ? 1 : p_.N));
    allocate();
  }

  void run() {
    for (std::int64_t c = 0; c < p_.C; c += 128) {
      const Channels channels{c, std::min<std::int64_t>(128, p_.C - c)};
      weights_ = filters_[filter_turn_++ % filters_.size()];
      k_.dma_copy(weights_.ap({{plan_.taps(), channels.count}, {1, plan_.taps()}}),
                  filter_.ap({{plan_.taps(), channels.count}, {1, plan_.taps()}}, c * plan_.taps()),
                  QueueClass::weights);
      for (std::int64_t n = 0; n < p_.N; n += plan_.stage_images)
        for (std::int64_t a = 0; a < plan_.K0(); a += plan_.rows)
          run_window(channels, {n, std::min(plan_.stage_images, p_.N - n), a, std::min(plan_.rows, plan_.K0() - a)});
    }
  }

 private:
  void allocate() {
    Allocator sbuf("SBUF", "bytes a partition", k_.machine().sbuf_bytes, 0, 64);
    const auto slots = [&](const char* name, numeric::DType dtype, std::int64_t elements) {
      return sbuf_slots(k_, sbuf, name, DepthwisePlan::slots, dtype, elements);
    };
    filters_ = slots("filter", plan_.dtype, plan_.taps());
    if (p_.dilates_image()) raw_ = slots("raw", plan_.dtype, plan_.raw_elements());
    windows_ = slots("window", plan_.dtype, plan_.window_elements());
    products_ = slots("product", numeric::DType::fp32, plan_.product_elements());
    outputs_ = slots("out", numeric::DType::fp32, plan_.output_elements());
  }

  void run_window(const Channels& channels, const Window& window) {
    const Tensor& image = windows_[window_turn_ % windows_.size()];
    const Tensor& out = outputs_[window_turn_++ % outputs_.size()];
    if (plan_.pads() || p_.dilates_image()) clear(image, channels.count);
    load(channels, window, image);
    for (std::int64_t a = 0; a < window.rows; ++a)
      for (std::int64_t b = 0; b < plan_.K1(); b += plan_.positions)
        step(channels, window, image, out, a, b, std::min(plan_.positions, plan_.K1() - b));
    store(channels, window, out);
  }

  void clear(const Tensor& tensor, std::int64_t partitions) {
    const std::int64_t size = tensor.info().free_size;
    for (std::int64_t at = 0; at < size; at += max_num)
      k_.memset(tensor.ap({{size, partitions}, {1, std::min(max_num, size - at)}}, at), 0.0F);
  }

  // The rows of the image in the window, at their places in it: directly, or through a raw buffer where they spread.
  void load(const Channels& channels, const Window& window, const Tensor& image) {
    const std::int64_t dilation = p_.image_dilation_h;
    const std::int64_t top = window.row0 - p_.top;  // of the window, in rows of the dilated image
    const std::int64_t first = std::max<std::int64_t>(0, ceil_div(std::max<std::int64_t>(0, top), dilation));
    const std::int64_t bottom = top + window.rows + p_.Hf - 1;
    const std::int64_t rows = std::min(p_.H, bottom <= 0 ? 0 : ceil_div(bottom, dilation)) - first;
    if (rows <= 0) return;
    const std::int64_t nd = window.images;
    const std::int64_t row0 = first * dilation - top;
    const std::int64_t plane = p_.H * p_.W;
    const Access source = plan_.image == ImageLayout::chwn
                              ? image_.ap({{plane * p_.N, channels.count}, {p_.W * p_.N, rows}, {p_.N, p_.W}, {1, nd}},
                                          (channels.first * plane + first * p_.W) * p_.N + window.n0)
                              : image_.ap({{plane, channels.count}, {1, rows * p_.W}},
                                          (window.n0 * p_.C + channels.first) * plane + first * p_.W);
    const std::int64_t size = image.info().free_size;
    if (!p_.dilates_image()) {
      k_.dma_copy(image.ap({{size, channels.count}, {plan_.pitch() * nd, rows}, {nd, p_.W}, {1, nd}},
                           (row0 * plan_.pitch() + p_.left) * nd),
                  source, QueueClass::inputs);
      return;
    }
    const Tensor& raw = raw_[raw_turn_++ % raw_.size()];
    k_.dma_copy(raw.ap({{raw.info().free_size, channels.count}, {1, rows * p_.W * nd}}), source, QueueClass::inputs);
    scatter(channels, raw, image, row0, rows, nd);
  }

  void scatter(const Channels& channels, const Tensor& raw, const Tensor& image, std::int64_t row0, std::int64_t rows,
               std::int64_t nd) {
    const std::int64_t row_step = p_.image_dilation_h * plan_.pitch() * nd;
    const std::int64_t at_a_time = row_step <= max_step ? rows : 1;
    const std::int64_t size = image.info().free_size;
    for (std::int64_t r = 0; r < rows; r += at_a_time)
      k_.tensor_copy(
          image.ap({{size, channels.count}, {row_step, at_a_time}, {p_.image_dilation_w * nd, p_.W}, {1, nd}},
                   (row0 * plan_.pitch() + p_.left) * nd + r * row_step),
          raw.ap({{raw.info().free_size, channels.count}, {1, at_a_time * p_.W * nd}}, r * p_.W * nd), Engine::gpsimd);
  }

  // Output columns [b, b + columns) of row a of the window.
  void step(const Channels& channels, const Window& window, const Tensor& image, const Tensor& out, std::int64_t a,
            std::int64_t b, std::int64_t columns) {
    const Tensor& product = products_[product_turn_++ % products_.size()];
    const std::int64_t nd = window.images;
    const std::int64_t taps = plan_.taps();
    const std::int64_t size = product.info().free_size;
    const Pair image_lanes{image.info().free_size, channels.count};
    if (plan_.kind == DepthwiseKind::planes) {
      for (std::int64_t t = 0; t < taps; ++t)
        k_.tensor_tensor(
            product.ap({{size, channels.count}, {taps, columns * nd}}, t),
            image.ap({image_lanes, {1, columns * nd}}, ((a + t / p_.Wf) * plan_.pitch() + b + t % p_.Wf) * nd),
            weights_.ap({{taps, channels.count}, {0, columns * nd}}, t), AluOp::multiply);
    } else {
      k_.tensor_tensor(product.ap({{size, channels.count}, {1, columns * taps}}),
                       image.ap({image_lanes, {1, columns}, {1, taps}}, b),
                       weights_.ap({{taps, channels.count}, {0, columns}, {1, taps}}), AluOp::multiply);
    }
    k_.tensor_reduce(result(channels, window, out, a, b, columns), AluOp::add,
                     product.ap({{size, channels.count}, {1, columns * nd * taps}}));
  }

  // Where the sums of a step go: (column, image) in the order of the output.
  Access result(const Channels& channels, const Window& window, const Tensor& out, std::int64_t a, std::int64_t b,
                std::int64_t columns) const {
    const Pair lanes{out.info().free_size, channels.count};
    if (plan_.output == OutputLayout::nchw)
      return out.ap({lanes, {1, columns}, {window.rows * plan_.K1(), window.images}}, a * plan_.K1() + b);
    return out.ap({lanes, {1, columns * window.images}}, (a * plan_.K1() + b) * window.images);
  }

  void store(const Channels& channels, const Window& window, const Tensor& out) {
    const std::int64_t plane = plan_.K0() * plan_.K1();
    const std::int64_t row = window.row0 * plan_.K1();
    const std::int64_t elements = window.rows * plan_.K1();
    const Access to = plan_.output == OutputLayout::nchw
                          ? output_.ap({{plane, channels.count}, {p_.C * plane, window.images}, {1, elements}},
                                       (window.n0 * p_.C + channels.first) * plane + row)
                          : output_.ap({{plane * p_.N, channels.count}, {p_.N, elements}, {1, window.images}},
                                       (channels.first * plane + row) * p_.N + window.n0);
    k_.dma_copy(to, out.ap({{out.info().free_size, channels.count}, {1, elements * window.images}}),
                QueueClass::outputs, Engine::scalar);
  }

  Kernel& k_;
  const DepthwisePlan& plan_;
  const Problem& p_;
  Tensor image_, filter_, output_, weights_;
  std::vector<Tensor> filters_, raw_, windows_, products_, outputs_;
  std::size_t filter_turn_ = 0, raw_turn_ = 0, window_turn_ = 0, product_turn_ = 0;
};

}  // namespace

void emit(Kernel& kernel, const DepthwisePlan& plan, const DepthwiseAddresses& addresses) {
  Emitter(kernel, plan, addresses).run();
}

}  // namespace tilevp::neuron::conv2d
