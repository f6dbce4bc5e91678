#pragma once
// A matrix product cut into tiles of the PE array: C[m, n] = sum over k of lhs_t[k, m] * rhs[k, n].
//
// The nest is: blocks of columns > blocks of rows > tiles of the contraction > PSUM banks. A block of rows x columns
// fills the PSUM banks, which accumulate over all of k; the right-hand tiles of a block of columns stay in SBUF while
// the rows pass, where they fit.
#include <cstdint>
#include <string>

#include "tilevp/neuron/machine.hpp"
#include "tilevp/numeric/dtype.hpp"

namespace tilevp::neuron::matmul {

struct Plan {
  std::int64_t M = 1, K = 1, N = 1;
  numeric::DType dtype = numeric::DType::bf16;
  std::uint32_t sbuf_bytes = 0;
  std::int64_t row_tiles = 1;     // of 128 rows of C in a block
  std::int64_t column_tiles = 1;  // of 512 columns in a block; row_tiles * column_tiles banks
  std::int64_t lhs_slots = 1;     // of 128 x row_block()
  std::int64_t rhs_slots = 1;     // of 128 x column_block()
  std::int64_t out_slots = 1;     // of 128 x column_block(), fp32

  std::int64_t row_block() const { return row_tiles * 128; }
  std::int64_t column_block() const { return column_tiles * 512; }
  std::int64_t depth_tiles() const { return (K + 127) / 128; }
  bool rhs_resident() const { return rhs_slots >= depth_tiles(); }
  std::int64_t bytes() const;  // of SBUF, a partition
  std::string text() const;
};

Plan make_plan(std::int64_t m, std::int64_t k, std::int64_t n, numeric::DType dtype, const Machine& machine);

struct Prediction {
  std::int64_t matmuls = 0;
  std::int64_t pe_cycles = 0;
  std::int64_t macs = 0;
  std::int64_t lhs_bytes = 0;
  std::int64_t rhs_bytes = 0;
};
Prediction predict(const Plan& plan);

}  // namespace tilevp::neuron::matmul
