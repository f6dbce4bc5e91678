#pragma once
// What a matrix bundle does once its preflight has passed: everything resolved, nothing left that could fault. Made by
// the preflight (legality), executed by the matrix unit (matmul, postprocess), timed by the core.
#include <array>
#include <cstdint>
#include <optional>

#include "tilevp/cube/isa.hpp"
#include "tilevp/numeric/rounding.hpp"

namespace tilevp::cube {

// How products are summed: `two_round` rounds the product to fp32 and then the sum; `fma` rounds once; `raw_asl` adds
// the low 64 bits of the products of the raw codes (the reference profile of pto-spec 0.58.3).
enum class Accumulate : std::uint8_t { two_round, fma, raw_asl };

struct MatrixOperation {
  Operation operation = Operation::tgemv;
  PeMask mask = 0;
  std::uint32_t m = 1, n = 1, k = 1;
  DataType a_type = DataType::fp32, b_type = DataType::fp32;
  DataType accumulator = DataType::fp32;  // type of C, Bias, RowMax, GroupMax
  DataType d_type = DataType::fp32;
  Layout m_layout = Layout::cube_m16;  // of A, C and D
  numeric::Rounding rounding = numeric::Rounding::rne;
  bool saturate = false;
  Accumulate accumulate = Accumulate::two_round;
  BFpatr post{};

  // Physical tile registers (0-63).
  std::uint8_t a = 0, b = 0;
  std::optional<std::uint8_t> c{}, bias{}, cscale{};
  std::optional<std::uint8_t> row_max_in{}, quant_vector{}, slope_vector{};
  std::uint64_t quant_word = 0, slope_word = 0;  // scalar parameters, checked
  std::uint8_t d = 0;
  std::optional<std::uint8_t> row_max_out{}, group_max_out{};
};

}  // namespace tilevp::cube
