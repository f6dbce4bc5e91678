#include "tilevp/neuron/matmul/plan.hpp"

#include <algorithm>
#include <sstream>

namespace tilevp::neuron::matmul {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t Plan::bytes() const {
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(dtype));
  return (lhs_slots * row_block() + rhs_slots * column_block()) * size + out_slots * column_block() * 4;
}

Plan make_plan(std::int64_t m, std::int64_t k, std::int64_t n, numeric::DType dtype, const Machine& machine) {
  Plan plan;
  plan.M = m;
  plan.K = k;
  plan.N = n;
  plan.dtype = dtype;
  plan.sbuf_bytes = machine.sbuf_bytes;
  plan.row_tiles = std::min<std::int64_t>(4, ceil_div(m, 128));
  plan.lhs_slots = 6;
  plan.out_slots = 2 * plan.row_tiles;
  const auto fits = [&] { return plan.bytes() <= machine.sbuf_bytes; };
  for (plan.column_tiles = std::min<std::int64_t>(2, ceil_div(n, 512)); plan.column_tiles >= 1; --plan.column_tiles)
    for (const std::int64_t blocks : {2, 1}) {
      plan.rhs_slots = blocks * plan.depth_tiles();
      if (fits()) return plan;
    }
  plan.column_tiles = 1;
  plan.rhs_slots = 4;  // streamed, like the left-hand tiles
  return plan;
}

Prediction predict(const Plan& plan) {
  Prediction sum;
  const auto size = static_cast<std::int64_t>(numeric::size_bytes(plan.dtype));
  const std::int64_t passes = plan.dtype == numeric::DType::fp32 ? 4 : 1;
  for (std::int64_t m = 0; m < plan.M; m += 128)
    for (std::int64_t n = 0; n < plan.N; n += 512) {
      const std::int64_t rows = std::min<std::int64_t>(128, plan.M - m);
      const std::int64_t columns = std::min<std::int64_t>(512, plan.N - n);
      sum.matmuls += plan.depth_tiles();
      sum.pe_cycles += plan.depth_tiles() * passes * std::max(columns, std::min<std::int64_t>(64, rows));
    }
  sum.macs = plan.M * plan.K * plan.N;
  sum.lhs_bytes = plan.M * plan.K * size * ceil_div(plan.N, plan.column_block());
  sum.rhs_bytes = plan.K * plan.N * size * (plan.rhs_resident() ? 1 : ceil_div(plan.M, plan.row_block()));
  return sum;
}

std::string Plan::text() const {
  const Prediction p = predict(*this);
  std::ostringstream out;
  out << "matmul " << M << "x" << K << " by " << K << "x" << N << ", " << numeric::name(dtype)
      << "\n  block: " << row_tiles << " tiles of 128 rows x " << column_tiles << " tiles of 512 columns, "
      << row_tiles * column_tiles << " PSUM banks, " << depth_tiles()
      << " tiles of 128 along the contraction\n  SBUF, bytes a partition: " << bytes() << " of " << sbuf_bytes
      << ": lhs " << lhs_slots << " slots, rhs " << rhs_slots << " slots ("
      << (rhs_resident() ? "loaded once" : "loaded for every block of rows") << "), out " << out_slots << " slots\n";
  if (bytes() > sbuf_bytes)
    out << "    does not fit: this is the smallest plan there is for " << numeric::name(dtype) << ", and "
        << bytes() - sbuf_bytes << " bytes a partition are missing, whatever the sizes\n";
  out << "  predicted: " << p.matmuls << " matmuls, " << p.pe_cycles << " PE cycles, " << p.macs << " MACs, lhs DMA "
      << p.lhs_bytes << " bytes, rhs DMA " << p.rhs_bytes << " bytes\n";
  return out.str();
}

}  // namespace tilevp::neuron::matmul
