#include "tilevp/neuron/conv2d/geometry.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron::conv2d {

void Problem::check() const {
  const auto at_least_one = [](const char* what, std::int64_t value) {
    if (value < 1)
      throw UserError("conv2d", std::string(what) + ": expected at least 1, found " + std::to_string(value));
  };
  at_least_one("N", N);
  at_least_one("C", C);
  at_least_one("H", H);
  at_least_one("W", W);
  at_least_one("O", O);
  at_least_one("Hf", Hf);
  at_least_one("Wf", Wf);
  at_least_one("stride", std::min(stride_h, stride_w));
  at_least_one("dilation", std::min(dilation_h, dilation_w));
  at_least_one("image dilation", std::min(image_dilation_h, image_dilation_w));
  at_least_one("groups", groups);
  at_least_one("batch groups", batch_groups);
  const auto divides = [](const char* what, std::int64_t by, const char* parts, std::int64_t value) {
    if (value % by != 0)
      throw UserError("conv2d",
                      std::to_string(by) + " " + what + " do not divide " + std::to_string(value) + " " + parts);
  };
  divides("groups", groups, "channels", C);
  divides("groups", groups, "filters", O);
  divides("batch groups", batch_groups, "images", N);
  divides("batch groups", batch_groups, "filters", O);
  if (groups > 1 && batch_groups > 1)
    throw UserError("conv2d", "expected groups of channels or of images, found " + std::to_string(groups) + " and " +
                                  std::to_string(batch_groups));
  const auto fits = [](const char* axis, std::int64_t padded, std::int64_t extent) {
    if (padded < extent)
      throw UserError("conv2d", std::string("the filter spans ") + std::to_string(extent) + " " + axis +
                                    ", the padded image has " + std::to_string(padded));
  };
  fits("rows", H + top + bottom, extent_h());
  fits("columns", W + left + right, extent_w());
}

std::int64_t replication(std::int64_t extent_h, std::int64_t channels, std::int64_t dilation_h,
                         std::int64_t partitions) {
  for (std::int64_t rep = extent_h; rep > 1; --rep)
    if (rep * channels <= partitions && rep % dilation_h == 0) return rep;
  return 1;
}

std::vector<ChannelTile> channel_tiles(const Problem& problem, std::int64_t partitions) {
  std::vector<ChannelTile> tiles;
  for (std::int64_t first = 0; first < problem.C; first += partitions) {
    ChannelTile tile;
    tile.first = first;
    tile.count = std::min(partitions, problem.C - first);
    tile.rep = replication(problem.extent_h(), tile.count, problem.dilation_h, partitions);
    tile.filter_rows = tile.rep == 1 ? 1 : tile.rep / problem.dilation_h;
    // One row a tile: the next filter row is a dilation further down.
    tile.step = tile.rep == 1 ? problem.dilation_h : tile.rep;
    tile.outer_tiles = ceil_div(problem.extent_h(), tile.step);
    tiles.push_back(tile);
  }
  return tiles;
}

RowWindow row_window(std::int64_t first, std::int64_t rows, std::int64_t height) {
  RowWindow window;
  window.before = std::clamp<std::int64_t>(-first, 0, rows);
  window.behind = std::clamp<std::int64_t>(first + rows - height, 0, rows - window.before);
  window.inside = rows - window.before - window.behind;
  return window;
}

}  // namespace tilevp::neuron::conv2d
