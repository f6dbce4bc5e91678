#include "tilevp/neuron/matmul/emitter.hpp"

#include <algorithm>
#include <vector>

#include "tilevp/neuron/allocator.hpp"
#include "tilevp/neuron/slots.hpp"

namespace tilevp::neuron::matmul {
namespace {

// A piece of an axis.
struct Span {
  std::int64_t first = 0;
  std::int64_t size = 1;
};

class Emitter {
 public:
  Emitter(Kernel& kernel, const Plan& plan, const Addresses& at) : k_(kernel), plan_(plan) {
    lhs_ = k_.hbm("lhs_t", plan.dtype, at.lhs_t, plan.K, plan.M);
    rhs_ = k_.hbm("rhs", plan.dtype, at.rhs, plan.K, plan.N);
    out_ = k_.hbm("out", numeric::DType::fp32, at.out, plan.M, plan.N);
    Allocator sbuf("SBUF", "bytes a partition", k_.machine().sbuf_bytes);
    lhs_slots_ = sbuf_slots(k_, sbuf, "lhs", plan.lhs_slots, plan.dtype, plan.row_block());
    rhs_slots_ = sbuf_slots(k_, sbuf, "rhs", plan.rhs_slots, plan.dtype, plan.column_block());
    out_slots_ = sbuf_slots(k_, sbuf, "out", plan.out_slots, numeric::DType::fp32, plan.column_block());
    for (unsigned b = 0; b < k_.machine().psum_banks; ++b) banks_.push_back(k_.psum("bank" + std::to_string(b), b));
  }

  void run() {
    for (std::int64_t n = 0; n < plan_.N; n += plan_.column_block()) {
      const Span columns{n, std::min(plan_.column_block(), plan_.N - n)};
      resident_.clear();
      for (std::int64_t m = 0; m < plan_.M; m += plan_.row_block())
        block({m, std::min(plan_.row_block(), plan_.M - m)}, columns);
    }
  }

 private:
  // Rows k of a matrix in HBM into a slot.
  const Tensor& load(const Tensor& matrix, const Span& k, const Span& part, std::vector<Tensor>& slots,
                     std::size_t& turn, QueueClass queue_class) {
    const Tensor& slot = slots[turn++ % slots.size()];
    const std::int64_t width = matrix.info().free_size;
    k_.dma_copy(slot.ap({{slot.info().free_size, k.size}, {1, part.size}}),
                matrix.ap({{width, k.size}, {1, part.size}}, k.first * width + part.first), queue_class);
    return slot;
  }

  // The right-hand tile of contraction tile `index`: from SBUF where the block of columns stays there.
  const Tensor& rhs_tile(std::size_t index, const Span& k, const Span& columns) {
    if (index < resident_.size()) return *resident_[index];
    const Tensor& tile = load(rhs_, k, columns, rhs_slots_, rhs_turn_, QueueClass::weights);
    if (plan_.rhs_resident()) resident_.push_back(&tile);
    return tile;
  }

  void block(const Span& rows, const Span& columns) {
    for (std::int64_t t = 0; t < plan_.depth_tiles(); ++t) {
      const Span k{t * 128, std::min<std::int64_t>(128, plan_.K - t * 128)};
      const Tensor& rhs = rhs_tile(static_cast<std::size_t>(t), k, columns);
      const Tensor& lhs = load(lhs_, k, rows, lhs_slots_, lhs_turn_, QueueClass::inputs);
      std::size_t bank = 0;
      for (std::int64_t m = 0; m < rows.size; m += 128)
        for (std::int64_t n = 0; n < columns.size; n += 512, ++bank) {
          const std::int64_t height = std::min<std::int64_t>(128, rows.size - m);
          const std::int64_t width = std::min<std::int64_t>(512, columns.size - n);
          k_.nc_matmul(banks_[bank].ap({{512, height}, {1, width}}),
                       lhs.ap({{lhs.info().free_size, k.size}, {1, height}}, m),
                       rhs.ap({{rhs.info().free_size, k.size}, {1, width}}, n),
                       {.start = t == 0, .stop = t + 1 == plan_.depth_tiles()});
        }
    }
    drain(rows, columns);
  }

  void drain(const Span& rows, const Span& columns) {
    std::size_t bank = 0;
    for (std::int64_t m = 0; m < rows.size; m += 128) {
      const std::int64_t height = std::min<std::int64_t>(128, rows.size - m);
      const Tensor& out = out_slots_[out_turn_++ % out_slots_.size()];
      const std::int64_t size = out.info().free_size;
      for (std::int64_t n = 0; n < columns.size; n += 512, ++bank) {
        const std::int64_t width = std::min<std::int64_t>(512, columns.size - n);
        k_.tensor_copy(out.ap({{size, height}, {1, width}}, n), banks_[bank].ap({{512, height}, {1, width}}));
      }
      k_.dma_copy(out_.ap({{plan_.N, height}, {1, columns.size}}, (rows.first + m) * plan_.N + columns.first),
                  out.ap({{size, height}, {1, columns.size}}), QueueClass::outputs, Engine::scalar);
    }
  }

  Kernel& k_;
  const Plan& plan_;
  Tensor lhs_, rhs_, out_;
  std::vector<Tensor> lhs_slots_, rhs_slots_, out_slots_, banks_;
  std::vector<const Tensor*> resident_;  // right-hand tiles of this block of columns
  std::size_t lhs_turn_ = 0, rhs_turn_ = 0, out_turn_ = 0;
};

}  // namespace

void emit(Kernel& kernel, const Plan& plan, const Addresses& addresses) { Emitter(kernel, plan, addresses).run(); }

}  // namespace tilevp::neuron::matmul
