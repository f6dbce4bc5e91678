#pragma once
// Depthwise convolutions: channel c of the output sees channel c of the image alone, so there is nothing for the PE
// array to sum. Channels stand on the partitions; the vector engine multiplies and tensor_reduce sums the products of
// an output position, which lie side by side:  Y[c, a, b, n] = sum over i, j of F[c, i, j] * X[c, a + i - top, b + j -
// left, n].
//
//   conv1d  one row, images N,C,1,W: a step multiplies many positions by all taps at once (overlapping reads), one
//           reduction sums them. One step for all positions ("default") or ceil(512 / Wf) positions a step ("packed").
//   conv2d  windows of rows of about 16 KiB; for each output row a multiplication a tap and one reduction. The image
//   may
//           be dilated: its pixels are scattered into a window of zeros.
//
// Strides and filter dilation are 1, padding is 0 or more. Shapes, steps and budgets are those of AWS's kernels as
// public reverse engineering describes them (GrigoryEvko/nvopen-tools), where the scatter is a copy by DMA: a run an
// element. Here gpsimd copies, at an element a cycle.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tilevp/neuron/conv2d/layouts.hpp"
#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron::conv2d {

enum class DepthwiseKind : std::uint8_t { row_default, row_packed, planes };

// The filter lies as O,C,Hf,Wf with one C in HBM. Images N,C,H,W or C,H,W,N; the output likewise (C for O), fp32.
struct DepthwiseRequest {
  Problem problem{};  // groups = C = O
  numeric::DType dtype = numeric::DType::bf16;
  ImageLayout image = ImageLayout::chwn;
  OutputLayout output = OutputLayout::nchw;
  DepthwiseKind kind = DepthwiseKind::planes;
};

// Why there is no such kernel for the request ("strides are 2,1, it takes 1,1"); empty: there is one.
std::string depthwise_refusal(const DepthwiseRequest& request);
// Whether all positions make one step of the packed form.
bool depthwise_in_one_step(const Problem& problem);

struct DepthwisePlan : DepthwiseRequest {
  std::uint32_t sbuf_bytes = 0;
  std::int64_t stage_images = 1;  // side by side in a window
  std::int64_t rows = 1;          // output rows of a window
  std::int64_t positions = 1;     // output columns of a step, each for all images of the stage
  static constexpr std::int64_t slots = 2;

  std::int64_t K0() const { return problem.K0(); }
  std::int64_t K1() const { return problem.K1(); }
  std::int64_t taps() const { return problem.Hf * problem.Wf; }
  bool pads() const { return problem.top > 0 || problem.bottom > 0 || problem.left > 0 || problem.right > 0; }
  std::int64_t pitch() const { return problem.dilated_w() + problem.left + problem.right; }
  std::int64_t rows_loaded() const { return rows + problem.Hf - 1; }
  std::int64_t window_elements() const { return rows_loaded() * pitch() * stage_images; }
  std::int64_t raw_elements() const { return rows_loaded() * problem.W * stage_images; }  // before the scatter
  std::int64_t product_elements() const { return positions * stage_images * taps(); }
  std::int64_t output_elements() const { return rows * K1() * stage_images; }
  std::int64_t bytes() const;  // of SBUF, a partition
  std::string text() const;
};
DepthwisePlan plan_depthwise(const DepthwiseRequest& request, const Machine& machine);

// Work by the plan's loops.
struct DepthwisePrediction {
  std::int64_t multiplications = 0;  // tensor_tensor
  std::int64_t reductions = 0;       // tensor_reduce
  std::int64_t image_bytes = 0, filter_bytes = 0, output_bytes = 0;
};
DepthwisePrediction predict(const DepthwisePlan& plan);

struct DepthwiseAddresses {
  std::uint64_t image = 0;
  std::uint64_t filter = 0;
  std::uint64_t output = 0;
};
void emit(Kernel& kernel, const DepthwisePlan& plan, const DepthwiseAddresses& addresses);

// On the host, in the plan's output layout. In order: products rounded to fp32, summed tap by tap from the first one
// on, zeros of the padding included; so every bit is the machine's. In double: rounded at the end.
std::vector<float> depthwise_in_order(const DepthwisePlan& plan, std::span<const std::byte> image,
                                      std::span<const std::byte> filter);
std::vector<float> depthwise_in_double(const DepthwisePlan& plan, std::span<const std::byte> image,
                                       std::span<const std::byte> filter);

}  // namespace tilevp::neuron::conv2d
