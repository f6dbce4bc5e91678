#include "tilevp/cube/matrix_unit.hpp"

#include <algorithm>
#include <string>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/element.hpp"
#include "tilevp/cube/m_rows.hpp"
#include "tilevp/cube/matmul.hpp"
#include "tilevp/cube/postprocess.hpp"
#include "tilevp/cube/reductions.hpp"

namespace tilevp::cube {
namespace {

void require_bytes(std::string_view what, std::size_t have, std::size_t need) {
  if (have < need)
    throw Defect(std::string(what) + " has " + std::to_string(have) + " bytes, the operation takes " +
                 std::to_string(need));
}

std::uint8_t row_maxima(const MatrixOperation& op, const MatrixOperands& operands, const Workspace& space,
                        const TileTarget& out) {
  require_bytes("RowMaxOut", out.bytes.size(), (std::size_t{op.m - 1} * out.columns + 1) * 4);
  std::uint8_t flags = 0;
  for (std::uint32_t m = 0; m < op.m; ++m) {
    const std::uint32_t* sums = space.sums.data() + m * space.sums_stride;
    Maximum maximum(op.accumulator, op.post.max_abs, sums[0]);
    for (std::uint32_t n = 1; n < op.n; ++n) maximum.fold(sums[n]);
    if (op.row_max_in) {
      const std::uint64_t at = std::uint64_t{m} * operands.row_max_in.columns;
      require_bytes("RowMaxIn", operands.row_max_in.bytes.size(), (at + 1) * 4);
      maximum.fold(load_code(operands.row_max_in.bytes.data(), 32, at));
    }
    store_code(out.bytes.data(), 32, std::uint64_t{m} * out.columns, maximum.bits());
    flags |= maximum.flags();
  }
  return flags;
}

std::uint8_t group_maxima(const MatrixOperation& op, const Workspace& space, const TileTarget& out) {
  const std::uint32_t width = group_columns[op.post.group_n_code];
  const std::uint32_t groups = ceil_div(op.n, width);
  require_bytes("GroupMaxOut", out.bytes.size(), (std::size_t{op.m - 1} * out.columns + groups) * 4);
  std::uint8_t flags = 0;
  for (std::uint32_t m = 0; m < op.m; ++m) {
    const std::uint32_t* sums = space.sums.data() + m * space.sums_stride;
    for (std::uint32_t group = 0; group < groups; ++group) {
      const std::size_t first = std::size_t{group} * width;
      const std::size_t end = std::min<std::size_t>(op.n, first + width);
      Maximum maximum(op.accumulator, op.post.max_abs, sums[first]);
      for (std::size_t n = first + 1; n < end; ++n) maximum.fold(sums[n]);
      store_code(out.bytes.data(), 32, std::uint64_t{m} * out.columns + group, maximum.bits());
      flags |= maximum.flags();
    }
  }
  return flags;
}

// The parameter word of a column: from the vector tile, or the scalar one.
class Words {
 public:
  Words(std::string_view what, bool vector, const TileView& tile, std::uint64_t scalar, std::uint32_t columns)
      : tile_(vector ? tile.bytes.data() : nullptr), scalar_(scalar) {
    if (vector) require_bytes(what, tile.bytes.size(), std::size_t{columns} * 8);
  }
  std::uint64_t operator[](std::uint32_t column) const { return tile_ != nullptr ? load_word(tile_, column) : scalar_; }

 private:
  const std::byte* tile_;
  std::uint64_t scalar_;
};

std::uint8_t write_results(const MatrixOperation& op, const MatrixOperands& operands, Workspace& space,
                           const TileTarget& d) {
  const PostProcess process(op);
  const Words quant("the quantisation vector", op.quant_vector.has_value(), operands.quant_vector, op.quant_word, op.n);
  const Words slope("the slope vector", op.slope_vector.has_value(), operands.slope_vector, op.slope_word, op.n);
  const unsigned width = bits(op.d_type);
  space.codes.resize(std::max(space.codes.size(), gathered_bytes(op.m_layout, width, op.n)));
  std::uint8_t flags = 0;
  for (std::uint32_t m = 0; m < op.m; ++m) {
    const std::uint32_t* sums = space.sums.data() + m * space.sums_stride;
    if (process.passes()) {
      scatter_row(op.m_layout, width, d.bytes, m, op.n, reinterpret_cast<const std::byte*>(sums));
      continue;
    }
    for (std::uint32_t n = 0; n < op.n; ++n) {
      const Processed result = process(sums[n], quant[n], slope[n]);
      store_code(space.codes.data(), width, n, result.code);
      flags |= result.flags;
    }
    scatter_row(op.m_layout, width, d.bytes, m, op.n, space.codes.data());
  }
  return flags;
}

}  // namespace

std::uint8_t execute(const MatrixOperation& operation, const MatrixOperands& operands, const MatrixResults& results) {
  if (operation.m == 0 || operation.n == 0 || operation.k == 0) throw Defect("matrix operation of an empty shape");
  static thread_local Workspace space;
  std::uint8_t flags = accumulate(operation, operands, space);
  if (operation.post.row_max) flags |= row_maxima(operation, operands, space, results.row_max);
  if (operation.post.group_max) flags |= group_maxima(operation, space, results.group_max);
  flags |= write_results(operation, operands, space, results.d);
  return flags;
}

}  // namespace tilevp::cube
