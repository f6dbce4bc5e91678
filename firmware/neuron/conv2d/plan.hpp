#pragma once
// How a convolution is cut into pieces that fit the core: what `describe` prints and the kernel follows.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/neuron/conv2d/geometry.hpp"
#include "tilevp/neuron/conv2d/layouts.hpp"
#include "tilevp/neuron/machine.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::neuron::conv2d {

// How the work is cut. standard: stride 1, strips of rows staged once for all column tiles ("_default" in AWS's kernel
// library); strided: every tile of the output is staged anew, the stride lies in the access pattern of the matmul
// ("_stride"); packed: stride 1, the whole output stays in SBUF, tiles of a strip go through 8 PSUM banks at once
// ("_column_packing").
enum class Variant : std::uint8_t { standard, strided, packed };

// Buffers start at multiples of this in a partition.
inline constexpr std::int64_t sbuf_alignment = 64;

// Output rows, columns and images whose input is staged together.
struct Stage {
  std::int64_t n0 = 0, images = 1;
  std::int64_t row0 = 0, rows = 1;
  std::int64_t column0 = 0, columns = 1;
};

struct Plan {
  Problem problem{};
  numeric::DType dtype = numeric::DType::bf16;
  ImageLayout image_layout = ImageLayout::chwn;     // as the convolution reads it: chwn or nchw
  OutputLayout output_layout = OutputLayout::nchw;  // as it writes it: nchw or ohwn
  Layouts given{};                                  // as the user has the tensors; the machine transposes what differs
  Variant variant = Variant::standard;
  std::uint32_t sbuf_bytes = 0;  // a partition, of the machine
  std::vector<ChannelTile> tiles{};

  std::int64_t stage_images = 1;   // N_DMA
  std::int64_t stage_rows = 1;     // K0D: output rows of a strip
  std::int64_t stage_columns = 1;  // output columns of a stage
  std::int64_t rows_loaded = 1;    // image rows of a band
  std::int64_t tile_rows = 1;      // K0C, K1T, NC: output of one matmul, at most 512
  std::int64_t tile_columns = 1;
  std::int64_t tile_images = 1;
  std::int64_t pitch = 1;          // Wt: columns of a staged row with its zero columns
  bool trims = false;              // negative column padding: a second copy drops the columns that nothing reads
  std::int64_t width = 1;          // columns of a row as the matmul reads it: pitch, or what is left after trimming
  std::int64_t column_offset = 0;  // of output column 0 in that row
  std::int64_t psum_batch = 1;     // outer tiles resident at a time
  std::int64_t image_slots = 1;
  bool weights_resident = true;  // every filter tile has a slot of its own and is loaded once
  std::int64_t weight_slots = 1;
  std::int64_t output_slots = 1;
  std::int64_t slice_rows = 0;  // of the buffers that bring the images apart before an nchw store; 0: none
  std::int64_t slice_images = 0;
  static constexpr std::int64_t slice_slots = 2;
  static constexpr std::int64_t raw_slots = 2;  // of untrimmed images

  std::int64_t element_bytes() const { return static_cast<std::int64_t>(numeric::size_bytes(dtype)); }
  std::int64_t output_tiles() const { return ceil_div(problem.O, 128); }
  std::int64_t raw_elements() const { return rows_loaded * pitch * stage_images; }
  std::int64_t image_elements() const { return rows_loaded * width * stage_images; }  // of a slot
  std::int64_t weight_elements() const { return problem.Wf * problem.O; }
  std::int64_t tile_elements() const { return tile_rows * tile_columns * tile_images; }  // of a matmul, at most
  // Tiles of rows in a strip, of columns, of images. A strip counts its own: none reaches into the next.
  std::int64_t row_tiles() const { return ceil_div(stage_rows, tile_rows); }
  std::int64_t column_tiles() const { return ceil_div(stage_columns, tile_columns); }
  std::int64_t image_tiles() const { return ceil_div(stage_images, tile_images); }
  // Of the packed form: places for a tile in the output buffer.
  std::int64_t packed_slots() const { return strips() * row_tiles() * column_tiles() * image_tiles(); }
  std::int64_t output_elements() const {  // of a filter tile of 128
    return variant == Variant::packed ? packed_slots() * tile_elements() : stage_rows * stage_columns * stage_images;
  }
  std::int64_t slice_elements() const {
    return variant == Variant::packed ? tile_elements() : slice_rows * stage_columns * slice_images;
  }
  std::int64_t filter_tiles() const;  // channel x outer tiles
  // Of SBUF, bytes a partition.
  std::int64_t bytes() const;

  std::vector<Stage> stages() const;
  std::int64_t strips() const { return ceil_div(problem.K0(), stage_rows); }
  std::string text() const;
};

struct PlanRequest {
  Problem problem{};
  numeric::DType dtype = numeric::DType::bf16;
  Layouts layouts{};
  Variant variant = Variant::standard;
};

// Cuts the problem so that it fits the machine's SBUF where that is possible: fewer outer tiles at a time, then lower
// strips, then fewer images. Where nothing fits the smallest plan comes back and the allocation fails with who holds
// what.
Plan make_plan(const PlanRequest& request, const Machine& machine);

// Work the plan does, by its loops.
struct Prediction {
  std::int64_t matmuls = 0;
  std::int64_t macs = 0;       // K * M * N summed
  std::int64_t pe_cycles = 0;  // max(N, min(64, M)), four times that for fp32, summed
  std::int64_t image_bytes = 0;
  std::int64_t halo_bytes = 0;  // of those, zero rows above and below the image
  std::int64_t filter_bytes = 0;
  Prediction& operator+=(const Prediction& other);
};
Prediction predict(const Plan& plan);

// Runs of the image loads, as the DMA engines move them (the side of a copy with more contiguous pieces): length in
// bytes -> how many.
std::map<std::int64_t, std::int64_t> image_runs(const Plan& plan);

}  // namespace tilevp::neuron::conv2d
