#pragma once
// Orders of a tensor's axes in memory, slowest first, and what becomes of them. The convolution itself reads images as
// C,H,W,N (or N,C,H,W, image by image), filters as C,H,W,O and writes N,O,H,W or O,H,W,N; the machine transposes the
// others (layout_emitter.hpp).
//
// A permutation, as AWS's kernel library writes them, gives for each logical axis its place in memory: N,C,H,W of the
// image, O,C,H,W of the filter, N,O,H,W of the output.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/neuron/conv2d/geometry.hpp"

namespace tilevp::neuron::conv2d {

enum class ImageLayout : std::uint8_t { chwn, nchw, cnhw, nhwc };
enum class FilterLayout : std::uint8_t { chwo, ohwc, ochw, cohw, cowh };
enum class OutputLayout : std::uint8_t { nchw, ohwn, hwno };

using Permutation = std::array<std::size_t, 4>;
// Sizes of the logical axes, or of a tensor in memory.
using Sizes = std::array<std::int64_t, 4>;

Permutation permutation(ImageLayout layout);
Permutation permutation(FilterLayout layout);
Permutation permutation(OutputLayout layout);
std::string_view name(ImageLayout layout);
std::string_view name(FilterLayout layout);
std::string_view name(OutputLayout layout);
// "C,H,W,N"
std::string_view axes(ImageLayout layout);
std::string_view axes(FilterLayout layout);

// A name ("nhwc") or a permutation ("0,3,1,2"). The output's O,H,W,N is 3,0,1,2 and, inverted as older copies of the
// library spell it, 1,2,3,0. UserError(option) else, with all there are.
ImageLayout parse_image_layout(const std::string& option, const std::string& text);
FilterLayout parse_filter_layout(const std::string& option, const std::string& text);
OutputLayout parse_output_layout(const std::string& option, const std::string& text);

Sizes image_sizes(const Problem& problem);   // N, C, H, W
Sizes filter_sizes(const Problem& problem);  // O, C, Hf, Wf
Sizes output_sizes(const Problem& problem);  // N, O, K0, K1

// Sizes in the order of memory, and back.
Sizes in_memory(const Sizes& logical, const Permutation& permutation);
Sizes logical_sizes(const Sizes& memory, const Permutation& permutation);
// Whether both orders put all elements at the same places, because the axes that move have one element.
bool same_order(const Sizes& logical, const Permutation& a, const Permutation& b);
// The tensor in another order, on the host. `bytes`: element_bytes each.
std::vector<std::byte> reordered(std::span<const std::byte> bytes, std::size_t element_bytes, const Sizes& logical,
                                 const Permutation& from, const Permutation& to);

// The tensors as the program's user has them.
struct Layouts {
  ImageLayout image = ImageLayout::chwn;
  FilterLayout filter = FilterLayout::chwo;
  OutputLayout output = OutputLayout::nchw;
  bool operator==(const Layouts&) const = default;
};

// What the convolution reads and writes for it.
ImageLayout staged(ImageLayout layout);
OutputLayout stored(OutputLayout layout);
// Only C,H,W,N and what is transposed to it channel by channel takes strides.
bool takes_strides(ImageLayout layout);

}  // namespace tilevp::neuron::conv2d
