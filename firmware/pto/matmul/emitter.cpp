#include "tilevp/pto/matmul/emitter.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace tilevp::pto::matmul {
namespace {

using cube::DataType;
using cube::Hand;
using cube::Layout;
using cube::Operation;
using cube::Parameter;
using cube::PeMask;

constexpr std::uint8_t a_base = gpr::a0, b_base = gpr::a1, d_base = gpr::a2, bias_base = gpr::a3, a_stride = gpr::a4,
                       b_stride = gpr::a5, d_stride = gpr::a6, quant = gpr::a7, slope = gpr::s0, address = gpr::x0;

// One block of D, and how far its sum has come.
struct Block {
  std::uint64_t row = 0, column = 0;
  std::uint32_t rows = 0, columns = 0;
  PeMask mask = 0;
  std::optional<Tile> sum{};
};

// One bundle's work: k from `first`, `count` long.
struct Step {
  Block* block = nullptr;
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  bool is_first = false, is_last = false;
  Tile a{}, b{};
  std::optional<Tile> bias{}, quant{}, slope{};
};

struct TileOfA {
  std::uint64_t row = 0, first = 0;
  Tile tile{};
};

// A block whose D is made, by which product.
struct Done {
  const Block* block = nullptr;
  std::uint64_t product = 0;
};

class Emitter {
 public:
  Emitter(Code& code, const Plan& plan) : code_(code), plan_(plan), request_(plan.request) {}

  void run() {
    for (const auto& group : groups()) emit_group(group);
    while (!waiting_.empty()) emit_product();
    while (!done_.empty()) emit_store();
  }

 private:
  // Blocks that the PEs work on at the same time: several a PE, so that a tile of A serves them all. Sums wait for
  // their next piece of K as tiles of one hand, of which 16 live; where they start from the bias, so do the next
  // group's.
  std::vector<std::vector<Block*>> groups() {
    constexpr std::size_t blocks_a_pe = 3;
    const std::size_t group_size = request_.pes * (plan_.bias_is_c ? 1 : blocks_a_pe);
    std::vector<std::vector<Block*>> all;
    for (std::uint64_t m = 0; m < plan_.m_blocks(); ++m)
      for (std::uint64_t n = 0; n < plan_.n_blocks(); ++n) {
        const std::size_t pe = blocks_.size() % request_.pes;
        blocks_.push_back({.row = m * plan_.m_tile,
                           .column = n * plan_.n_tile,
                           .rows = part(request_.m, m, plan_.m_tile),
                           .columns = part(request_.n, n, plan_.n_tile),
                           .mask = static_cast<PeMask>(0b1000 >> pe)});
        if (blocks_.size() % group_size == 1 || group_size == 1) all.emplace_back();
        all.back().push_back(&blocks_.back());
      }
    return all;
  }

  static std::uint32_t part(std::uint64_t whole, std::uint64_t index, std::uint32_t tile) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(tile, whole - index * tile));
  }

  void emit_group(const std::vector<Block*>& group) {
    for (std::uint64_t k = 0; k < plan_.k_blocks(); ++k)
      for (Block* block : group) {
        Step step{.block = block,
                  .first = k * plan_.k_tile,
                  .count = part(request_.k, k, plan_.k_tile),
                  .is_first = k == 0,
                  .is_last = k + 1 == plan_.k_blocks()};
        load(step);
        waiting_.push_back(step);
        if (waiting_.size() > request_.pes) emit_product();
      }
  }

  // A GPR that holds base + offset.
  std::uint8_t at(std::uint8_t base, std::uint64_t offset) {
    if (offset == 0) return base;
    code_.add_offset(address, base, offset);
    return address;
  }

  static std::uint64_t row_bytes(std::uint64_t columns, DataType type) { return (columns * bits(type) + 7) / 8; }

  void load(Step& step) {
    const Block& block = *step.block;
    step.a = tile_of_a(step);
    step.b = code_.load({.type = request_.b_type,
                         .layout = Layout::cube_n8,
                         .rows = step.count,
                         .columns = block.columns,
                         .base = at(b_base, step.first * row_bytes(request_.n, request_.b_type) +
                                                block.column * bits(request_.b_type) / 8),
                         .stride = b_stride,
                         .bytes = plan_.b_bytes,
                         .hand = Hand::u,
                         .mask = block.mask});
    if (request_.bias && step.is_first) load_bias(step);
    if (step.is_last && request_.quant_is_vector()) step.quant = row(*step.block, quant, DataType::u64);
    if (step.is_last && request_.slope_is_vector()) step.slope = row(*step.block, slope, DataType::u64);
  }

  // A block's part of a row of parameters.
  Tile row(const Block& block, std::uint8_t base, DataType type) {
    return code_.load({.type = type,
                       .columns = block.columns,
                       .base = at(base, block.column * bits(type) / 8),
                       .hand = Hand::n,
                       .mask = block.mask});
  }

  // The PE's newest tile of A, if it is the one.
  Tile tile_of_a(const Step& step) {
    const Block& block = *step.block;
    TileOfA& newest = newest_a_[block.mask];
    if (newest.tile.number != 0 && newest.row == block.row && newest.first == step.first) return newest.tile;
    newest = {block.row, step.first,
              code_.load({.type = request_.a_type,
                          .layout = plan_.layout,
                          .rows = block.rows,
                          .columns = step.count,
                          .base = at(a_base, block.row * row_bytes(request_.k, request_.a_type) +
                                                 step.first * bits(request_.a_type) / 8),
                          .stride = a_stride,
                          .bytes = plan_.a_bytes,
                          .hand = Hand::t,
                          .mask = block.mask})};
    return newest.tile;
  }

  void load_bias(Step& step) {
    Block& block = *step.block;
    if (plan_.bias_is_c) {
      // Each row of C is the bias: a row stride of zero.
      block.sum = code_.load({.type = request_.accumulator(),
                              .layout = plan_.layout,
                              .rows = block.rows,
                              .columns = block.columns,
                              .base = at(bias_base, block.column * bits(request_.accumulator()) / 8),
                              .bytes = plan_.sum_bytes,
                              .hand = Hand::m,
                              .mask = block.mask});
      return;
    }
    step.bias = row(block, bias_base, request_.accumulator());
  }

  Operation operation(const Step& step) const {
    if (step.block->sum) return request_.gemv ? Operation::tgemv_acc : Operation::tmatmul_acc;
    if (step.bias) return request_.gemv ? Operation::tgemv_bias : Operation::tmatmul_bias;
    return request_.gemv ? Operation::tgemv : Operation::tmatmul;
  }

  void emit_product() {
    const Step step = waiting_.front();
    waiting_.pop_front();
    Multiply multiply{.operation = operation(step),
                      .a = step.a,
                      .b = step.b,
                      .c = step.block->sum,
                      .bias = step.bias,
                      .quant_vector = step.quant,
                      .slope_vector = step.slope,
                      .bytes = step.is_last ? plan_.d_bytes : plan_.sum_bytes,
                      .hand = Hand::m,
                      .mask = step.block->mask};
    if (step.is_last) post_process(multiply);
    step.block->sum = code_.multiply(multiply).d;
    ++products_;
    if (step.is_last) done_.push_back({step.block, products_});
    // Later, so that the core does not wait for the product; soon enough for the tile to be there.
    if (!done_.empty() && products_ - done_.front().product >= request_.pes) emit_store();
  }

  void post_process(Multiply& multiply) const {
    multiply.post.prequant = request_.prequant.code;
    multiply.post.relu = request_.relu;
    multiply.rounding = request_.rounding;
    multiply.saturate = request_.saturate;
    std::size_t next = 0;
    if (request_.prequant.parameter == Parameter::scalar) multiply.parameters[next++] = quant;
    if (request_.relu == 2) multiply.parameters[next] = slope;
  }

  void emit_store() {
    const Block& block = *done_.front().block;
    done_.pop_front();
    const DataType type = request_.d_type();
    code_.store({.tile = *block.sum,
                 .base = at(d_base, block.row * row_bytes(request_.n, type) + block.column * bits(type) / 8),
                 .stride = d_stride,
                 .mask = block.mask});
  }

  Code& code_;
  const Plan& plan_;
  const Request& request_;
  std::deque<Block> blocks_;
  std::deque<Step> waiting_;
  std::deque<Done> done_;
  std::map<PeMask, TileOfA> newest_a_;
  std::uint64_t products_ = 0;
};

// Of a parameter: where its row lies, or the word itself.
std::uint64_t start_of(bool is_vector, std::uint64_t lies_at, const std::vector<std::uint64_t>& words) {
  if (is_vector) return lies_at;
  return words.empty() ? 0 : words[0];
}

}  // namespace

std::vector<StartValue> start_values(const Plan& plan, const Addresses& addresses) {
  const Request& request = plan.request;
  return {{a_base, addresses.a},
          {b_base, addresses.b},
          {d_base, addresses.d},
          {bias_base, addresses.bias},
          {a_stride, addresses.a_stride},
          {b_stride, addresses.b_stride},
          {d_stride, addresses.d_stride},
          {quant, start_of(request.quant_is_vector(), addresses.quant, request.quant_words)},
          {slope, start_of(request.slope_is_vector(), addresses.slope, request.slope_words)}};
}

void emit(Code& code, const Plan& plan) { Emitter(code, plan).run(); }

}  // namespace tilevp::pto::matmul
