#include "tilevp/neuron/conv2d/depthwise.hpp"

namespace tilevp::neuron::conv2d {
namespace {

std::vector<float> as_floats(numeric::DType dtype, std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / numeric::size_bytes(dtype));
  numeric::load_as_fp32(dtype, bytes.data(), values.size(), 1, values.data());
  return values;
}

template <class Real>
class Reference {
 public:
  Reference(const DepthwisePlan& plan, std::span<const std::byte> image, std::span<const std::byte> filter)
      : plan_(plan), p_(plan.problem), image_(as_floats(plan.dtype, image)), filter_(as_floats(plan.dtype, filter)) {}

  std::vector<float> run() const {
    const std::int64_t K0 = plan_.K0(), K1 = plan_.K1();
    std::vector<float> out(static_cast<std::size_t>(p_.N * p_.C * K0 * K1));
    for (std::int64_t c = 0; c < p_.C; ++c)
      for (std::int64_t a = 0; a < K0; ++a)
        for (std::int64_t b = 0; b < K1; ++b)
          for (std::int64_t n = 0; n < p_.N; ++n) {
            const std::int64_t at = plan_.output == OutputLayout::nchw ? ((n * p_.C + c) * K0 + a) * K1 + b
                                                                       : ((c * K0 + a) * K1 + b) * p_.N + n;
            out[static_cast<std::size_t>(at)] = static_cast<float>(sum(c, a, b, n));
          }
    return out;
  }

 private:
  Real sum(std::int64_t c, std::int64_t a, std::int64_t b, std::int64_t n) const {
    Real total{};
    for (std::int64_t i = 0; i < p_.Hf; ++i)
      for (std::int64_t j = 0; j < p_.Wf; ++j) {
        const Real weight = filter_[static_cast<std::size_t>((c * p_.Hf + i) * p_.Wf + j)];
        const Real product = weight * pixel(c, a + i - p_.top, b + j - p_.left, n);
        total = i == 0 && j == 0 ? product : total + product;
      }
    return total;
  }

  // Of the dilated image; 0 outside and between its pixels.
  Real pixel(std::int64_t c, std::int64_t y, std::int64_t x, std::int64_t n) const {
    if (y < 0 || x < 0 || y % p_.image_dilation_h != 0 || x % p_.image_dilation_w != 0) return 0;
    y /= p_.image_dilation_h;
    x /= p_.image_dilation_w;
    if (y >= p_.H || x >= p_.W) return 0;
    const std::int64_t at = plan_.image == ImageLayout::chwn ? ((c * p_.H + y) * p_.W + x) * p_.N + n
                                                             : ((n * p_.C + c) * p_.H + y) * p_.W + x;
    return image_[static_cast<std::size_t>(at)];
  }

  const DepthwisePlan& plan_;
  const Problem& p_;
  std::vector<float> image_, filter_;
};

}  // namespace

std::vector<float> depthwise_in_order(const DepthwisePlan& plan, std::span<const std::byte> image,
                                      std::span<const std::byte> filter) {
  return Reference<float>(plan, image, filter).run();
}

std::vector<float> depthwise_in_double(const DepthwisePlan& plan, std::span<const std::byte> image,
                                       std::span<const std::byte> filter) {
  return Reference<double>(plan, image, filter).run();
}

}  // namespace tilevp::neuron::conv2d
