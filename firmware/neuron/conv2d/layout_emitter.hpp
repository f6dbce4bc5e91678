#pragma once
// The transposes in front of and behind a convolution whose tensors lie otherwise than it reads and writes them.
//
//   image    cnhw -> chwn   in rows or by tiles, a channel at a time      nhwc -> chwn   by tiles
//   filter   cohw -> chwo   likewise                                      ochw, ohwc -> chwo   by tiles
//            cowh -> cohw in rows, then as cohw: two passes
//            chwo -> ochw by tiles, where there is one channel a group
//   output   ohwn -> hwno   by tiles, fp32
#include <cstdint>
#include <functional>
#include <string>

#include "tilevp/neuron/conv2d/layouts.hpp"
#include "tilevp/neuron/transposition.hpp"

namespace tilevp::neuron::conv2d {

// What has to be transposed; nothing where the order in memory is the same.
struct LayoutPasses {
  bool image = false;
  bool filter_rows = false;  // rows and columns of each filter change places
  bool filter = false;       // filters become innermost
  bool output = false;
  bool any() const { return image || filter_rows || filter || output; }
};
// `filter`: as the convolution reads it, chwo, or of depthwise ones (one channel a group) ochw.
LayoutPasses layout_passes(const Problem& problem, const Layouts& layouts, FilterLayout filter = FilterLayout::chwo);

// Where the tensors lie in HBM: as given, and as the convolution has them.
struct LayoutAddresses {
  std::uint64_t given_image = 0, image = 0;
  std::uint64_t given_filter = 0, filter_between = 0, filter = 0;
  std::uint64_t output = 0, given_output = 0;
};

// Room for each: allocate(name, bytes) gives an address.
LayoutAddresses place_tensors(const Problem& problem, numeric::DType dtype, const Layouts& layouts,
                              const std::function<std::uint64_t(const std::string&, std::uint64_t)>& allocate,
                              FilterLayout filter = FilterLayout::chwo);

// Appends the transposes of image and filter, and a barrier behind them.
TranspositionWork emit_inputs(Kernel& kernel, const Problem& problem, numeric::DType dtype, const Layouts& layouts,
                              const LayoutAddresses& at, FilterLayout filter = FilterLayout::chwo);
// Appends a barrier and the transpose of the output.
TranspositionWork emit_output(Kernel& kernel, const Problem& problem, const Layouts& layouts,
                              const LayoutAddresses& at);

}  // namespace tilevp::neuron::conv2d
