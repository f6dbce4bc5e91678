#include "tilevp/neuron/conv2d/reference.hpp"

#include <algorithm>

namespace tilevp::neuron::conv2d {
namespace {

// The image in `Real` numbers as [channel][padded row][padded column][image], so that the loops need no bounds. Rows
// before the first that any output reads are left out where the padding is negative.
template <class Real>
class PaddedImage {
 public:
  PaddedImage(const Plan& plan, std::span<const std::byte> image) : p_(plan.problem) {
    rows_ = (p_.K0() - 1) * p_.stride_h + p_.extent_h();
    columns_ = (p_.K1() - 1) * p_.stride_w + p_.extent_w();
    data_.assign(static_cast<std::size_t>(p_.C * rows_ * columns_ * p_.N), Real{0});
    const bool chwn = plan.image_layout == ImageLayout::chwn;
    const auto size = numeric::size_bytes(plan.dtype);
    std::vector<float> line(static_cast<std::size_t>(p_.N));
    for (std::int64_t c = 0; c < p_.C; ++c)
      for (std::int64_t row = 0; row < rows_; ++row)
        for (std::int64_t column = 0; column < columns_; ++column) {
          const std::int64_t y = row - p_.top;
          const std::int64_t x = column - p_.left;
          if (y < 0 || y >= p_.H || x < 0 || x >= p_.W) continue;
          const std::int64_t first = chwn ? ((c * p_.H + y) * p_.W + x) * p_.N : (c * p_.H + y) * p_.W + x;
          numeric::load_as_fp32(plan.dtype, image.data() + static_cast<std::size_t>(first) * size, line.size(),
                                chwn ? 1 : p_.C * p_.H * p_.W, line.data());
          std::copy(line.begin(), line.end(), at(c, row, column));
        }
  }

  // The images of one pixel, then those of the next.
  Real* at(std::int64_t c, std::int64_t row, std::int64_t column) {
    return data_.data() + ((c * rows_ + row) * columns_ + column) * p_.N;
  }
  const Real* at(std::int64_t c, std::int64_t row, std::int64_t column) const {
    return data_.data() + ((c * rows_ + row) * columns_ + column) * p_.N;
  }

 private:
  const Problem& p_;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::vector<Real> data_;
};

constexpr std::int64_t filters_at_once = 4;  // they share the loads of the image

template <class Real>
class Reference {
 public:
  Reference(const Plan& plan, std::span<const std::byte> image, std::span<const std::byte> filter)
      : plan_(plan), p_(plan.problem), image_(plan, image), width_(p_.K1() * p_.N) {
    std::vector<float> values(filter.size() / numeric::size_bytes(plan.dtype));
    numeric::load_as_fp32(plan.dtype, filter.data(), values.size(), 1, values.data());
    filter_.assign(values.begin(), values.end());
    for (auto* row : {&sum_, &psum_, &total_}) row->assign(static_cast<std::size_t>(filters_at_once * width_), Real{0});
  }

  std::vector<float> run() {
    std::vector<float> out(static_cast<std::size_t>(p_.O * p_.K0() * width_));
    for (std::int64_t o = 0; o < p_.O; o += filters_at_once)
      for (std::int64_t a = 0; a < p_.K0(); ++a) {
        output_row(o, a);
        for (std::int64_t i = 0; i < std::min(filters_at_once, p_.O - o); ++i)
          put(out, o + i, a, total_.data() + i * width_);
      }
    return out;
  }

 private:
  // Output row a of filters o and up, in total_.
  void output_row(std::int64_t o, std::int64_t a) {
    bool first = true;
    for (const ChannelTile& tile : plan_.tiles)
      for (std::int64_t t = 0; t < tile.outer_tiles; ++t) {
        for (std::int64_t j = 0; j < p_.Wf; ++j) {
          std::fill(sum_.begin(), sum_.end(), Real{0});
          contract(tile, t, j, o, a);
          accumulate(psum_, j == 0);
        }
        sum_.swap(psum_);
        accumulate(total_, first);
        first = false;
      }
  }

  void accumulate(std::vector<Real>& into, bool overwrite) {
    if (overwrite) {
      into = sum_;
      return;
    }
    for (std::size_t i = 0; i < into.size(); ++i) into[i] += sum_[i];
  }

  // What one matmul sums: partition by partition.
  void contract(const ChannelTile& tile, std::int64_t t, std::int64_t j, std::int64_t o, std::int64_t a) {
    for (std::int64_t r = 0; r < tile.filter_rows; ++r) {
      const std::int64_t i = tile.filter_row(t, r);
      if (i >= p_.Hf) return;
      for (std::int64_t c = tile.first; c < tile.first + tile.count; ++c) {
        Real weights[filters_at_once] = {};
        const Real* at = filter_.data() + ((c * p_.Hf + i) * p_.Wf + j) * p_.O + o;
        std::copy(at, at + std::min(filters_at_once, p_.O - o), weights);
        add_row(image_.at(c, a * p_.stride_h + i * p_.dilation_h, j * p_.dilation_w), weights);
      }
    }
  }

  void add_row(const Real* pixels, const Real* weights) {
    if (p_.stride_w == 1) {
      multiply_add(pixels, weights, sum_.data(), width_);
      return;
    }
    for (std::int64_t b = 0; b < p_.K1(); ++b)
      multiply_add(pixels + b * p_.stride_w * p_.N, weights, sum_.data() + b * p_.N, p_.N);
  }

  void multiply_add(const Real* __restrict pixels, const Real* weights, Real* __restrict sum,
                    std::int64_t count) const {
    const Real w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
    Real* __restrict s0 = sum;
    Real* __restrict s1 = sum + width_;
    Real* __restrict s2 = sum + 2 * width_;
    Real* __restrict s3 = sum + 3 * width_;
    for (std::int64_t i = 0; i < count; ++i) {
      const Real x = pixels[i];
      s0[i] += w0 * x;
      s1[i] += w1 * x;
      s2[i] += w2 * x;
      s3[i] += w3 * x;
    }
  }

  void put(std::vector<float>& out, std::int64_t o, std::int64_t a, const Real* row) const {
    for (std::int64_t b = 0; b < p_.K1(); ++b)
      for (std::int64_t n = 0; n < p_.N; ++n) {
        const std::int64_t index = plan_.output_layout == OutputLayout::nchw
                                       ? ((n * p_.O + o) * p_.K0() + a) * p_.K1() + b
                                       : ((o * p_.K0() + a) * p_.K1() + b) * p_.N + n;
        out[static_cast<std::size_t>(index)] = static_cast<float>(row[b * p_.N + n]);
      }
  }

  const Plan& plan_;
  const Problem& p_;
  PaddedImage<Real> image_;
  std::int64_t width_;
  std::vector<Real> filter_;
  std::vector<Real> sum_, psum_, total_;  // [filter][column][image]
};

}  // namespace

std::vector<float> reference_in_order(const Plan& plan, std::span<const std::byte> image,
                                      std::span<const std::byte> filter) {
  return Reference<float>(plan, image, filter).run();
}

std::vector<float> reference_in_double(const Plan& plan, std::span<const std::byte> image,
                                       std::span<const std::byte> filter) {
  return Reference<double>(plan, image, filter).run();
}

}  // namespace tilevp::neuron::conv2d
