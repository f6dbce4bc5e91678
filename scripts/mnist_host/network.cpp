#include "mnist_host/network.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>

namespace tilevp::mnist {
namespace {

void expect(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("expected ") + what);
}

}  // namespace

float to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t tie_to_even = (bits >> 16) & 1;
  return std::bit_cast<float>((bits + 0x7FFF + tie_to_even) & 0xFFFF0000);
}

Tensor convolution(const Tensor& images, const Tensor& weights) {
  expect(images.shape.size() == 4 && weights.shape.size() == 4, "images N,C,H,W and weights C,H,W,O");
  const std::size_t n = images.shape[0], c = images.shape[1], h = images.shape[2], w = images.shape[3];
  const std::size_t hf = weights.shape[1], wf = weights.shape[2], o = weights.shape[3];
  expect(weights.shape[0] == c && h >= hf && w >= wf,
         "as many channels in the weights as in the images, and a filter no larger");
  const std::size_t ho = h - hf + 1, wo = w - wf + 1;
  Tensor out{{n, o, ho, wo}, std::vector<float>(n * o * ho * wo)};
  std::vector<float> sums(o);
  for (std::size_t image = 0; image < n; ++image)
    for (std::size_t row = 0; row < ho; ++row)
      for (std::size_t column = 0; column < wo; ++column) {
        std::fill(sums.begin(), sums.end(), 0.0F);
        for (std::size_t k = 0; k < c * hf * wf; ++k) {
          const std::size_t channel = k / (hf * wf), y = row + k / wf % hf, x = column + k % wf;
          const float pixel = images.values[((image * c + channel) * h + y) * w + x];
          const float* taps = &weights.values[k * o];
          for (std::size_t i = 0; i < o; ++i) sums[i] += pixel * taps[i];
        }
        for (std::size_t i = 0; i < o; ++i) out.values[((image * o + i) * ho + row) * wo + column] = sums[i];
      }
  return out;
}

Tensor activation(const Tensor& sums, const Tensor& bias, bool pool) {
  expect(sums.shape.size() == 4 && bias.values.size() == sums.shape[1], "sums N,O,H,W and a bias for each O");
  const std::size_t step = pool ? 2 : 1;
  const std::size_t planes = sums.shape[0] * sums.shape[1], h = sums.shape[2], w = sums.shape[3];
  const std::size_t ho = h / step, wo = w / step;
  Tensor out{{sums.shape[0], sums.shape[1], ho, wo}, std::vector<float>(planes * ho * wo)};
  for (std::size_t plane = 0; plane < planes; ++plane)
    for (std::size_t row = 0; row < ho; ++row)
      for (std::size_t column = 0; column < wo; ++column) {
        float largest = 0;  // ReLU
        for (std::size_t y = row * step; y < (row + 1) * step; ++y)
          for (std::size_t x = column * step; x < (column + 1) * step; ++x)
            largest = std::max(largest, sums.values[(plane * h + y) * w + x] + bias.values[plane % sums.shape[1]]);
        out.values[(plane * ho + row) * wo + column] = to_bf16(largest);
      }
  return out;
}

Tensor flatten(const Tensor& activation) {
  expect(activation.shape.size() == 4, "an activation N,C,H,W");
  const std::size_t channels = activation.shape[1], pixels = activation.shape[2] * activation.shape[3];
  Tensor out{{activation.shape[0], channels * pixels}, std::vector<float>(activation.values.size())};
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    const std::size_t image = i / (channels * pixels), channel = i / pixels % channels, pixel = i % pixels;
    out.values[(image * pixels + pixel) * channels + channel] = activation.values[i];
  }
  return out;
}

Tensor transposed(const Tensor& matrix) {
  expect(matrix.shape.size() == 2, "a matrix");
  const std::size_t rows = matrix.shape[0], columns = matrix.shape[1];
  Tensor out{{columns, rows}, std::vector<float>(rows * columns)};
  for (std::size_t i = 0; i < out.values.size(); ++i) out.values[i % columns * rows + i / columns] = matrix.values[i];
  return out;
}

Tensor dense(const Tensor& inputs, const Tensor& weights, const Tensor& bias) {
  const std::size_t classes = bias.values.size();
  expect(inputs.shape.size() == 2 && weights.values.size() == classes * inputs.shape[1],
         "inputs N,I and dense weights for each class and input");
  Tensor out{{inputs.shape[0], classes}, {}};
  for (std::size_t image = 0; image < inputs.shape[0]; ++image)
    for (std::size_t k = 0; k < classes; ++k) {
      float score = bias.values[k];
      for (std::size_t i = 0; i < inputs.shape[1]; ++i)
        score += inputs.values[image * inputs.shape[1] + i] * weights.values[k * inputs.shape[1] + i];
      out.values.push_back(score);
    }
  return out;
}

std::vector<int> classify(const Tensor& scores) {
  expect(scores.shape.size() == 2 && scores.shape[1] > 0, "scores N,classes");
  std::vector<int> found;
  for (auto row = scores.values.begin(); row != scores.values.end();
       row += static_cast<std::ptrdiff_t>(scores.shape[1]))
    found.push_back(static_cast<int>(std::max_element(row, row + static_cast<std::ptrdiff_t>(scores.shape[1])) - row));
  return found;
}

}  // namespace tilevp::mnist
