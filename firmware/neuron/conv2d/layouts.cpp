#include "tilevp/neuron/conv2d/layouts.hpp"

#include <algorithm>
#include <cstring>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron::conv2d {
namespace {

template <class Layout>
struct Row {
  Layout layout;
  std::string_view name;
  std::string_view axes;
  Permutation permutation;
};

constexpr std::array images{Row<ImageLayout>{ImageLayout::chwn, "chwn", "C,H,W,N", {3, 0, 1, 2}},
                            Row<ImageLayout>{ImageLayout::nchw, "nchw", "N,C,H,W", {0, 1, 2, 3}},
                            Row<ImageLayout>{ImageLayout::cnhw, "cnhw", "C,N,H,W", {1, 0, 2, 3}},
                            Row<ImageLayout>{ImageLayout::nhwc, "nhwc", "N,H,W,C", {0, 3, 1, 2}}};
constexpr std::array filters{Row<FilterLayout>{FilterLayout::chwo, "chwo", "C,Hf,Wf,O", {3, 0, 1, 2}},
                             Row<FilterLayout>{FilterLayout::ohwc, "ohwc", "O,Hf,Wf,C", {0, 3, 1, 2}},
                             Row<FilterLayout>{FilterLayout::ochw, "ochw", "O,C,Hf,Wf", {0, 1, 2, 3}},
                             Row<FilterLayout>{FilterLayout::cohw, "cohw", "C,O,Hf,Wf", {1, 0, 2, 3}},
                             Row<FilterLayout>{FilterLayout::cowh, "cowh", "C,O,Wf,Hf", {1, 0, 3, 2}}};
constexpr std::array outputs{Row<OutputLayout>{OutputLayout::nchw, "nchw", "N,O,H,W", {0, 1, 2, 3}},
                             Row<OutputLayout>{OutputLayout::ohwn, "ohwn", "O,H,W,N", {3, 0, 1, 2}},
                             Row<OutputLayout>{OutputLayout::hwno, "hwno", "H,W,N,O", {2, 3, 0, 1}}};

template <class Table, class Layout>
constexpr const auto& row_of(const Table& table, Layout layout) {
  return *std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.layout == layout; });
}

std::string text_of(const Permutation& permutation) {
  std::string text;
  for (const std::size_t place : permutation) text += (text.empty() ? "" : ",") + std::to_string(place);
  return text;
}

template <class Table>
auto parse(const Table& table, const std::string& option, const std::string& text) {
  std::string all;
  for (const auto& row : table) {
    if (text == row.name || text == text_of(row.permutation)) return row.layout;
    all += (all.empty() ? "" : ", ") + std::string(row.name) + " (" + text_of(row.permutation) + ")";
  }
  throw UserError(option + " " + text, "unsupported permutation; supported are " + all);
}

// Elements in memory between neighbours of each logical axis.
Sizes strides_of(const Sizes& logical, const Permutation& permutation) {
  const Sizes memory = in_memory(logical, permutation);
  Sizes strides{};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    strides[axis] = 1;
    for (std::size_t place = permutation[axis] + 1; place < 4; ++place) strides[axis] *= memory[place];
  }
  return strides;
}

}  // namespace

Permutation permutation(ImageLayout layout) { return row_of(images, layout).permutation; }
Permutation permutation(FilterLayout layout) { return row_of(filters, layout).permutation; }
Permutation permutation(OutputLayout layout) { return row_of(outputs, layout).permutation; }
std::string_view name(ImageLayout layout) { return row_of(images, layout).name; }
std::string_view name(FilterLayout layout) { return row_of(filters, layout).name; }
std::string_view name(OutputLayout layout) { return row_of(outputs, layout).name; }
std::string_view axes(ImageLayout layout) { return row_of(images, layout).axes; }
std::string_view axes(FilterLayout layout) { return row_of(filters, layout).axes; }

ImageLayout parse_image_layout(const std::string& option, const std::string& text) {
  return parse(images, option, text);
}
FilterLayout parse_filter_layout(const std::string& option, const std::string& text) {
  return parse(filters, option, text);
}
OutputLayout parse_output_layout(const std::string& option, const std::string& text) {
  if (text == "1,2,3,0") return OutputLayout::ohwn;
  return parse(outputs, option, text);
}

Sizes image_sizes(const Problem& p) { return {p.N, p.C, p.H, p.W}; }
Sizes filter_sizes(const Problem& p) { return {p.O, p.filter_channels(), p.Hf, p.Wf}; }
Sizes output_sizes(const Problem& p) { return {p.output_images(), p.O, p.K0(), p.K1()}; }

Sizes in_memory(const Sizes& logical, const Permutation& permutation) {
  Sizes memory{};
  for (std::size_t axis = 0; axis < 4; ++axis) memory[permutation[axis]] = logical[axis];
  return memory;
}

Sizes logical_sizes(const Sizes& memory, const Permutation& permutation) {
  Sizes logical{};
  for (std::size_t axis = 0; axis < 4; ++axis) logical[axis] = memory[permutation[axis]];
  return logical;
}

bool same_order(const Sizes& logical, const Permutation& a, const Permutation& b) {
  const Sizes from = strides_of(logical, a);
  const Sizes to = strides_of(logical, b);
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (logical[axis] > 1 && from[axis] != to[axis]) return false;
  return true;
}

std::vector<std::byte> reordered(std::span<const std::byte> bytes, std::size_t element_bytes, const Sizes& logical,
                                 const Permutation& from, const Permutation& to) {
  std::vector<std::byte> out(bytes.size());
  if (same_order(logical, from, to)) {
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
  }
  const Sizes source = strides_of(logical, from);
  const Sizes target = strides_of(logical, to);
  const auto at = [&](std::int64_t element) { return static_cast<std::size_t>(element) * element_bytes; };
  for (std::int64_t i = 0; i < logical[0]; ++i)
    for (std::int64_t j = 0; j < logical[1]; ++j)
      for (std::int64_t k = 0; k < logical[2]; ++k)
        for (std::int64_t l = 0; l < logical[3]; ++l)
          std::memcpy(out.data() + at(i * target[0] + j * target[1] + k * target[2] + l * target[3]),
                      bytes.data() + at(i * source[0] + j * source[1] + k * source[2] + l * source[3]), element_bytes);
  return out;
}

ImageLayout staged(ImageLayout layout) { return layout == ImageLayout::nchw ? ImageLayout::nchw : ImageLayout::chwn; }
OutputLayout stored(OutputLayout layout) {
  return layout == OutputLayout::nchw ? OutputLayout::nchw : OutputLayout::ohwn;
}
bool takes_strides(ImageLayout layout) { return layout == ImageLayout::chwn || layout == ImageLayout::cnhw; }

}  // namespace tilevp::neuron::conv2d
