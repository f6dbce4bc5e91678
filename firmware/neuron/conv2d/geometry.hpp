#pragma once
// The arithmetic of the convolution family that puts (input channel x filter row) on the 128 partitions ("Pcinh" in
// AWS's kernel library): pure functions of the problem.
//
//   Y[o, a, b, n] = sum over c, i, j of F[c, i, j, o] * X[c, a*sh + i*dh - top, b*sw + j*dw - left, n],  X = 0 outside.
#include <cstdint>
#include <string>
#include <vector>

namespace tilevp::neuron::conv2d {

struct Problem {
  std::int64_t N = 1, C = 1, H = 1, W = 1;  // images, channels, rows, columns
  std::int64_t O = 1, Hf = 1, Wf = 1;       // filters, their rows and columns
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;  // padding; below 0 crops
  std::int64_t dilation_h = 1, dilation_w = 1;
  // Groups of channels: filter o sees the C / groups channels of its own group. Groups of images: filter o sees the
  // N / batch_groups images of its own group, which are the images of the output.
  std::int64_t groups = 1, batch_groups = 1;
  std::int64_t image_dilation_h = 1, image_dilation_w = 1;  // distance of neighbouring pixels, zeros between them

  std::int64_t filter_channels() const { return C / groups; }
  std::int64_t output_images() const { return N / batch_groups; }
  std::int64_t extent_h() const { return (Hf - 1) * dilation_h + 1; }  // rows a filter spans (He)
  std::int64_t extent_w() const { return (Wf - 1) * dilation_w + 1; }
  std::int64_t dilated_h() const { return (H - 1) * image_dilation_h + 1; }  // the image with its zeros
  std::int64_t dilated_w() const { return (W - 1) * image_dilation_w + 1; }
  bool dilates_image() const { return image_dilation_h > 1 || image_dilation_w > 1; }
  std::int64_t K0() const { return (dilated_h() + top + bottom - extent_h()) / stride_h + 1; }  // output rows
  std::int64_t K1() const { return (dilated_w() + left + right - extent_w()) / stride_w + 1; }
  std::int64_t useful_macs() const { return output_images() * O * filter_channels() * Hf * Wf * K0() * K1(); }
  // UserError where a size, stride, dilation or number of groups is below 1, groups do not divide what they share out,
  // or nothing is left to compute.
  void check() const;
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// REP: how many adjacent filter rows (dilated) are stacked on the partitions beside `channels` channels.
std::int64_t replication(std::int64_t extent_h, std::int64_t channels, std::int64_t dilation_h,
                         std::int64_t partitions = 128);

// Up to 128 input channels, which one matmul contracts together with `rep` filter rows.
struct ChannelTile {
  std::int64_t first = 0;
  std::int64_t count = 1;
  std::int64_t rep = 1;          // image bands: band r holds rows t * step + r
  std::int64_t filter_rows = 1;  // real filter rows of an outer tile: rep / dilation, or 1
  std::int64_t step = 1;         // dilated rows from an outer tile to the next
  std::int64_t outer_tiles = 1;  // they sum in SBUF

  std::int64_t used_partitions() const { return count * rep; }
  // Filter row of band `r` (in filter rows) of outer tile t; it may be beyond the filter's last.
  std::int64_t filter_row(std::int64_t t, std::int64_t r) const { return t * filter_rows + r; }
  // Whether some band of outer tile t holds no filter row and must be zero.
  bool has_zero_bands(std::int64_t t, const Problem& problem) const {
    return rep > filter_rows || filter_row(t, filter_rows - 1) >= problem.Hf;
  }
};

std::vector<ChannelTile> channel_tiles(const Problem& problem, std::int64_t partitions = 128);

// Rows [first, first + rows) of the padded image: how many lie before, in and behind the image.
struct RowWindow {
  std::int64_t before = 0;
  std::int64_t inside = 0;
  std::int64_t behind = 0;
};
RowWindow row_window(std::int64_t first, std::int64_t rows, std::int64_t height);

}  // namespace tilevp::neuron::conv2d
