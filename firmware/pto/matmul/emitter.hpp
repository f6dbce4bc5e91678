#pragma once
#include <cstdint>

#include "tilevp/pto/code.hpp"
#include "tilevp/pto/matmul/plan.hpp"

namespace tilevp::pto::matmul {

// Where the operands lie, and the bytes from row to row.
struct Addresses {
  std::uint64_t a = 0, b = 0, d = 0, bias = 0, quant = 0, slope = 0;
  std::uint64_t a_stride = 0, b_stride = 0, d_stride = 0;
};

// The GPRs that the program finds set when it starts.
struct StartValue {
  unsigned gpr = 0;
  std::uint64_t value = 0;
};
std::vector<StartValue> start_values(const Plan& plan, const Addresses& addresses);

// Appends the whole program. Loads run one bundle a PE ahead of the products.
void emit(Code& code, const Plan& plan);

}  // namespace tilevp::pto::matmul
