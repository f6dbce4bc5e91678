#include "tilevp/cube/matrix_timing.hpp"

#include <algorithm>

namespace tilevp::cube {
namespace {

constexpr std::uint64_t up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

std::uint64_t operand_bytes(const MatrixOperation& is) {
  constexpr std::uint64_t word_bytes = 8;  // of a vector parameter
  const std::uint64_t accumulator_bytes = bits(is.accumulator) / 8;
  std::uint64_t bytes = cell_storage_bytes(is.m_layout, bits(is.a_type), is.m, is.k) +
                        cell_storage_bytes(Layout::cube_n8, bits(is.b_type), is.k, is.n);
  if (is.c) bytes += cell_storage_bytes(is.m_layout, bits(is.accumulator), is.m, is.n);
  if (is.bias) bytes += is.n * accumulator_bytes;
  if (is.cscale) bytes += cell_storage_bytes(Layout::cube_m32, bits(DataType::u8), is.m, 1);
  if (is.row_max_in) bytes += is.m * accumulator_bytes;
  if (is.quant_vector) bytes += is.n * word_bytes;
  if (is.slope_vector) bytes += is.n * word_bytes;
  return bytes;
}

std::uint64_t groups(const MatrixOperation& is) {
  return is.group_max_out ? up(is.n, group_columns[is.post.group_n_code]) : 0;
}

std::uint64_t result_bytes(const MatrixOperation& is) {
  const std::uint64_t accumulator_bytes = bits(is.accumulator) / 8;
  std::uint64_t bytes = cell_storage_bytes(is.m_layout, bits(is.d_type), is.m, is.n);
  if (is.row_max_out) bytes += is.m * accumulator_bytes;
  return bytes + is.m * groups(is) * accumulator_bytes;
}

}  // namespace

MatrixWork work_of(const MatrixOperation& is, const MatrixUnitParameters& by) {
  const unsigned wider = std::max(bits(is.a_type), bits(is.b_type));
  const std::uint64_t tile_k = std::max<std::uint64_t>(1, std::uint64_t{by.tile_k_bytes} * 8 / wider);
  const std::uint64_t across_m = up(is.m, by.tile_m);
  const std::uint64_t across_n = up(is.n, by.tile_n);
  const std::uint64_t across_k = up(is.k, tile_k);
  const std::uint64_t step_cycles = wider >= 32 ? by.step_cycles_32bit : by.step_cycles;
  const std::uint64_t rows = across_m * by.tile_m;
  const std::uint64_t last_columns = is.n - (across_n - 1) * by.tile_n;
  const std::uint64_t reduced = (is.row_max_out ? across_n : 0) + groups(is);
  MatrixWork work;
  work.steps = across_m * across_n * across_k;
  work.useful_macs = std::uint64_t{is.m} * is.n * is.k;
  work.row_macs = rows * is.n * is.k;
  work.issued_macs = work.steps * by.tile_m * by.tile_n * tile_k;
  work.array_cycles = step_cycles * work.steps;
  work.read_cycles = up(operand_bytes(is), by.tile_read_bytes_per_cycle);
  work.first_tile_cycles = step_cycles * across_k;
  work.post_cycles = up(rows * is.n, by.post_elements_per_cycle) + by.reduction_cycles * reduced;
  work.last_post_cycles = std::min(work.post_cycles, up(by.tile_m * last_columns, by.post_elements_per_cycle) +
                                                         (reduced > 0 ? by.reduction_cycles : 0));
  work.write_cycles = up(result_bytes(is), by.tile_write_bytes_per_cycle);
  return work;
}

MatrixWork in_turns(MatrixWork work, unsigned count) {
  for (std::uint64_t* const figure : {&work.steps, &work.useful_macs, &work.row_macs, &work.issued_macs,
                                      &work.array_cycles, &work.read_cycles, &work.post_cycles, &work.write_cycles})
    *figure *= count;
  return work;
}

MatrixTimes MatrixPipeline::schedule(std::uint64_t ready, const MatrixWork& work) {
  const bool idle = !used_ || array_free_ < ready;
  used_ = true;
  MatrixTimes times;
  times.begin = std::max(ready, array_free_);
  const std::uint64_t start = times.begin + (idle ? parameters_.idle_start_cycles : 0);
  times.free = array_free_ = start + std::max(work.read_cycles, work.array_cycles);
  times.stalled = times.free - (start + work.array_cycles);
  times.sums_end = start + std::max(work.read_cycles, work.array_cycles + parameters_.fill_cycles);
  const std::uint64_t first_sums = start + parameters_.fill_cycles + work.first_tile_cycles;
  post_free_ = std::max(std::max(first_sums, post_free_) + work.post_cycles, times.sums_end + work.last_post_cycles);
  write_free_ = std::max(post_free_ + parameters_.post_latency_cycles, write_free_) + work.write_cycles;
  times.end = write_free_;
  return times;
}

}  // namespace tilevp::cube
