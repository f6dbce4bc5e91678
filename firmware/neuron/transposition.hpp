#pragma once
// Tensors in HBM brought into another order of their axes, by the machine.
//
// Where the outermost axes stay, rows stand on the partitions and the vector engine copies within them
// (RowPermutation). Else tiles of rows are turned (MatrixTranspose): by the DMA engines that load them, where they can
// (NC-v3 on); else on the PE array up to 128 x 128, drained from PSUM by the vector engine, or on the vector engine
// itself where a tile is at most 32 x 32.
//
// All copies go through the queues of QueueClass::local. What was called before must have been written: callers put a
// barrier() in front and behind.
#include <cstdint>
#include <span>

#include "tilevp/neuron/kernel.hpp"

namespace tilevp::neuron {

// destination[s][r][g] = source(g, r, s). A column of the source becomes one run of rows x groups elements.
struct MatrixTranspose {
  Tensor source;
  std::int64_t source_offset = 0;
  std::int64_t groups = 1, group_step = 0;  // steps in elements of the source
  std::int64_t rows = 1, row_step = 0;      // of a group
  std::int64_t columns = 1;                 // contiguous
  Tensor destination;
  std::int64_t destination_offset = 0;
  std::int64_t column_step = 0;  // from the run of a column to that of the next
};

// destination[row][m][b][a] = source[row][m][a][b], both dense.
struct RowPermutation {
  Tensor source;
  Tensor destination;
  std::int64_t rows = 1, middle = 1, a = 1, b = 1;
};

// What emitting does.
struct TranspositionWork {
  std::int64_t pe_transposes = 0;
  std::int64_t pe_cycles = 0;  // max(P, min(64, F)) summed
  std::int64_t vector_transposes = 0;
  std::int64_t dma_transposes = 0;  // parts: up to 128 rows
  std::int64_t copies = 0;          // tensor_copy: drains of PSUM, permutations
  std::int64_t dma_bytes = 0;       // loads and stores
  TranspositionWork& operator+=(const TranspositionWork& other);
};

// Matrices of one size, one after the other. All lie in two tensors.
TranspositionWork emit(Kernel& kernel, std::span<const MatrixTranspose> matrices);
TranspositionWork emit(Kernel& kernel, const RowPermutation& permutation);

// The cheaper way to bring [rows][a][b] into [rows][b][a], by the vector engine's cycles: a permutation of all rows at
// once at half rate, or a drain for each tile of 128 x 128 of each row.
bool permutes_in_rows(std::int64_t rows, std::int64_t a, std::int64_t b);

}  // namespace tilevp::neuron
