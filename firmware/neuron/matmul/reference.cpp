#include "tilevp/neuron/matmul/reference.hpp"

#include <algorithm>

namespace tilevp::neuron::matmul {
namespace {

template <class Real>
std::vector<Real> widened(numeric::DType dtype, std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / numeric::size_bytes(dtype));
  numeric::load_as_fp32(dtype, bytes.data(), values.size(), 1, values.data());
  return {values.begin(), values.end()};
}

template <class Real>
std::vector<float> product(const Plan& plan, std::span<const std::byte> lhs_bytes,
                           std::span<const std::byte> rhs_bytes) {
  const auto lhs = widened<Real>(plan.dtype, lhs_bytes);
  const auto rhs = widened<Real>(plan.dtype, rhs_bytes);
  const auto rows = static_cast<std::size_t>(plan.M);
  const auto depth = static_cast<std::size_t>(plan.K);
  const auto columns = static_cast<std::size_t>(plan.N);
  constexpr std::size_t tile = 128;
  std::vector<float> out(rows * columns);
  std::vector<Real> sum(columns);
  std::vector<Real> total(columns);
  for (std::size_t m = 0; m < rows; ++m) {
    for (std::size_t first = 0; first < depth; first += tile) {
      std::fill(sum.begin(), sum.end(), Real{0});
      for (std::size_t k = first; k < std::min(first + tile, depth); ++k) {
        const Real a = lhs[k * rows + m];
        const Real* __restrict b = rhs.data() + k * columns;
        Real* __restrict s = sum.data();
        for (std::size_t n = 0; n < columns; ++n) s[n] += a * b[n];
      }
      if (first == 0)
        total = sum;
      else
        for (std::size_t n = 0; n < columns; ++n) total[n] += sum[n];
    }
    for (std::size_t n = 0; n < columns; ++n) out[m * columns + n] = static_cast<float>(total[n]);
  }
  return out;
}

}  // namespace

std::vector<float> reference_in_order(const Plan& plan, std::span<const std::byte> lhs_t,
                                      std::span<const std::byte> rhs) {
  return product<float>(plan, lhs_t, rhs);
}

std::vector<float> reference_in_double(const Plan& plan, std::span<const std::byte> lhs_t,
                                       std::span<const std::byte> rhs) {
  return product<double>(plan, lhs_t, rhs);
}

}  // namespace tilevp::neuron::matmul
