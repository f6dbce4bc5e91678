#pragma once
// How a product D = A.B (+ bias) of any size is cut into bundles.
//
// A is M x K, B is K x N, both row major in memory. D is cut into blocks of m_tile x n_tile, dealt to the PEs in turn;
// a block is made by one bundle for each k_tile of K, in increasing order: the first multiplies, the others add to the
// D before them (.ACC), and the last one also post-processes. A PE works on several blocks in turn, which share its
// tiles of A. Bias: where one bundle makes the whole sum, that bundle's
// (.BIAS, added last); else the sum starts from it (C of the first bundle).
#include <cstdint>
#include <string>
#include <vector>

#include "tilevp/cube/isa.hpp"
#include "tilevp/cube/prequant.hpp"
#include "tilevp/pto/machine.hpp"

namespace tilevp::pto::matmul {

struct Request {
  bool gemv = true;  // M is 1, with the TGEMV operations
  std::uint64_t m = 1, n = 1, k = 1;
  cube::DataType a_type = cube::DataType::fp16;
  cube::DataType b_type = cube::DataType::fp16;
  bool bias = false;
  unsigned pes = cube::pes;  // that take part
  cube::PreQuantMode prequant = cube::prequant_modes[0];
  std::uint8_t relu = 0;
  std::uint8_t rounding = 0;
  bool saturate = false;
  // Parameter words of the conversion and of ReLU: none, one for all columns, or one a column (vector modes).
  std::vector<std::uint64_t> quant_words{};
  std::vector<std::uint64_t> slope_words{};
  bool quant_is_vector() const { return prequant.parameter == cube::Parameter::vector; }
  bool slope_is_vector() const { return relu == 3; }
  cube::DataType accumulator() const { return accumulator_of(numeric_class(a_type)); }
  cube::DataType d_type() const { return result_type(prequant, accumulator()); }
};

struct Plan {
  Request request{};
  cube::Layout layout = cube::Layout::cube_m16;  // of A, C, D
  std::uint32_t m_tile = 1, n_tile = 1, k_tile = 1;
  // Bytes of a tile, a PE. Sums in flight and D have sizes of their own.
  std::uint32_t a_bytes = 0, b_bytes = 0, sum_bytes = 0, d_bytes = 0;
  bool bias_is_c = false;  // the sum starts from the bias

  std::uint64_t m_blocks() const { return (request.m + m_tile - 1) / m_tile; }
  std::uint64_t n_blocks() const { return (request.n + n_tile - 1) / n_tile; }
  std::uint64_t k_blocks() const { return (request.k + k_tile - 1) / k_tile; }
  std::uint64_t products() const { return m_blocks() * n_blocks() * k_blocks(); }
  std::uint64_t stores() const { return m_blocks() * n_blocks(); }
  // What a person reads, several lines; `loads`: bundles of the program.
  std::string text(std::uint64_t loads) const;
};

// The largest tiles of which as many fit as the core holds on to. UserError where the machine's reading of selectors
// has no room for the program.
Plan make_plan(const Request& request, const Machine& machine);

}  // namespace tilevp::pto::matmul
