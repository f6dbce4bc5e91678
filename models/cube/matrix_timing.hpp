#pragma once
// How long a matrix bundle takes, as arithmetic on cycles of the core's clock; no simulation.
//
// A step multiplies tile_m x Kt by Kt x tile_n, Kt = tile_k_bytes / bytes of an element of the wider operand:
//   steps = ceil(M / tile_m) * ceil(N / tile_n) * ceil(K / Kt)
//   array = step_cycles * steps                        (step_cycles_32bit where an operand has 32 bits)
//   read  = ceil(bytes of all operands, in whole cells / tile_read_bytes_per_cycle)
//   post  = ceil(rows * N / post_elements_per_cycle) + reduction_cycles * column groups,  rows = tile_m * ceil(M /
//   tile_m) write = ceil(bytes of D and reductions / tile_write_bytes_per_cycle)
// The unit is a pipeline; each stage takes bundles one after the other:
//   start     = when it is ready and the array is free; + idle_start_cycles where the array had nothing to do
//   array     is taken for max(read, array); the last sum is there fill_cycles after it
//   post      takes outputs as tiles of them are summed, so it ends after the last sum by what the last tile takes, or
//             later where it is the slower one; results leave it post_latency_cycles later
//   write     follows post
// M is rounded up to tile_m: a TGEMV costs what a TMATMUL of 16 rows costs.
// Sources: hw-native-sys/pto-isa, include/pto/costmodel (steps, cycles a step, 6 cycles from idle); the rest is ours.
#include <cstdint>

#include "tilevp/cube/matrix_operation.hpp"
#include "tilevp/cube/parameters.hpp"

namespace tilevp::cube {

// Of one bundle in one PE.
struct MatrixWork {
  std::uint64_t steps = 0;
  std::uint64_t useful_macs = 0;  // M * N * K
  std::uint64_t row_macs = 0;     // the same with M in whole steps
  std::uint64_t issued_macs = 0;  // M, N and K in whole steps: what the array does
  std::uint64_t array_cycles = 0;
  std::uint64_t read_cycles = 0;
  std::uint64_t first_tile_cycles = 0;  // of the array, until outputs of one tile are summed
  std::uint64_t post_cycles = 0;
  std::uint64_t last_post_cycles = 0;  // of post_cycles, those for the last tile
  std::uint64_t write_cycles = 0;
};

MatrixWork work_of(const MatrixOperation& operation, const MatrixUnitParameters& parameters);
// The same bundle for `count` PEs, one after the other.
MatrixWork in_turns(MatrixWork work, unsigned count);

// In cycles.
struct MatrixTimes {
  std::uint64_t begin = 0;     // the array is taken from here
  std::uint64_t free = 0;      // to here
  std::uint64_t stalled = 0;   // of these, cycles in which it had to wait for operands
  std::uint64_t sums_end = 0;  // the last sum is there
  std::uint64_t end = 0;       // the last result is written
  bool operator==(const MatrixTimes&) const = default;
};

class MatrixPipeline {
 public:
  explicit MatrixPipeline(const MatrixUnitParameters& parameters) : parameters_(parameters) {}
  // When the array can take the next bundle.
  std::uint64_t free() const { return array_free_; }
  // Takes a bundle that is ready at cycle `ready`; calls come in program order.
  MatrixTimes schedule(std::uint64_t ready, const MatrixWork& work);

 private:
  MatrixUnitParameters parameters_;
  bool used_ = false;
  std::uint64_t array_free_ = 0;
  std::uint64_t post_free_ = 0;
  std::uint64_t write_free_ = 0;
};

}  // namespace tilevp::cube
