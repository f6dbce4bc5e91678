#include "tilevp/neuron/transposition.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tilevp/neuron/allocator.hpp"
#include "tilevp/neuron/slots.hpp"

namespace tilevp::neuron {
namespace {

constexpr std::int64_t tile_size = neuroncore::max_transpose_pe;
constexpr std::int64_t vector_size = neuroncore::max_transpose_vector;
constexpr std::int64_t most_columns = 512;  // loaded at a time: runs of 1 KiB in 16-bit types
constexpr std::int64_t most_blocks = 8;     // of 128 rows: a store has runs of 2 KiB
constexpr std::int64_t most_slots = 8;
constexpr std::int64_t slot_budget = 65'536;  // bytes a partition of all slots, beyond the two that every plan has
constexpr std::int64_t most_row_elements = 4096;
constexpr std::int64_t least_run = 64;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t element_bytes(const Tensor& tensor) {
  return static_cast<std::int64_t>(numeric::size_bytes(tensor.info().dtype));
}

Allocator whole_sbuf(const Kernel& kernel) { return {"SBUF", "bytes a partition", kernel.machine().sbuf_bytes, 0, 64}; }

// Up to 128 rows that make consecutive elements of the destination's runs, from element `first` on.
struct RowBlock {
  std::int64_t first = 0;
  std::int64_t group = 0, groups = 1;
  std::int64_t row = 0, rows = 1;
  std::int64_t count() const { return groups * rows; }
};

std::vector<RowBlock> row_blocks(const MatrixTranspose& m) {
  std::vector<RowBlock> blocks;
  const std::int64_t rows = std::max<std::int64_t>(1, tile_size / m.groups);
  for (std::int64_t r = 0; r < m.rows; r += rows)
    for (std::int64_t g = 0; g < m.groups; g += tile_size)
      blocks.push_back({r * m.groups + g, g, std::min(tile_size, m.groups - g), r, std::min(rows, m.rows - r)});
  return blocks;
}

class MatrixEmitter {
 public:
  MatrixEmitter(Kernel& kernel, const MatrixTranspose& size)
      : k_(kernel), size_(size), by_dma_(kernel.machine().has_dma_transpose()), blocks_(row_blocks(size)) {
    choose();
    Allocator sbuf = whole_sbuf(kernel);
    const auto dtype = size.source.info().dtype;
    if (!by_dma_) loaded_ = sbuf_slots(kernel, sbuf, "rows", slots_, dtype, loaded_elements());
    turned_ = sbuf_slots(kernel, sbuf, "columns", slots_, dtype, turned_elements());
    for (unsigned b = 0; b < kernel.machine().psum_banks; ++b)
      banks_.push_back(kernel.psum("turn" + std::to_string(b), b, dtype));
  }

  void run(const MatrixTranspose& matrix) {
    for (std::size_t first = 0; first < blocks_.size(); first += static_cast<std::size_t>(blocks_at_a_time_)) {
      const std::size_t count = std::min(static_cast<std::size_t>(blocks_at_a_time_), blocks_.size() - first);
      const std::span<const RowBlock> blocks(blocks_.data() + first, count);
      for (std::int64_t column = 0; column < size_.columns; column += columns_at_a_time_)
        part(matrix, blocks, column, std::min(columns_at_a_time_, size_.columns - column));
    }
  }

  const TranspositionWork& work() const { return work_; }

 private:
  std::int64_t loaded_elements() const { return blocks_at_a_time_ * columns_at_a_time_; }
  std::int64_t turned_elements() const {
    return ceil_div(columns_at_a_time_, tile_size) * blocks_at_a_time_ * tile_size;
  }
  std::int64_t slot_bytes() const {
    const auto aligned = [](std::int64_t bytes) { return ceil_div(bytes, 64) * 64; };
    const std::int64_t size = element_bytes(size_.source);
    return (by_dma_ ? 0 : aligned(loaded_elements() * size)) + aligned(turned_elements() * size);
  }

  // As much at a time as fits twice; the allocator says what is missing where nothing does.
  void choose() {
    columns_at_a_time_ = std::min(most_columns, size_.columns);
    blocks_at_a_time_ = std::min<std::int64_t>(most_blocks, static_cast<std::int64_t>(blocks_.size()));
    const std::int64_t sbuf = k_.machine().sbuf_bytes;
    while (2 * slot_bytes() > sbuf && (blocks_at_a_time_ > 1 || columns_at_a_time_ > tile_size)) {
      if (columns_at_a_time_ > tile_size)
        columns_at_a_time_ = std::max(tile_size, columns_at_a_time_ / 2);
      else
        blocks_at_a_time_ /= 2;
    }
    slots_ = std::clamp<std::int64_t>(std::min(slot_budget, sbuf) / slot_bytes(), 2, most_slots);
  }

  void part(const MatrixTranspose& matrix, std::span<const RowBlock> blocks, std::int64_t column,
            std::int64_t columns) {
    const std::size_t slot = turn_++ % turned_.size();
    const RowBlock& last = blocks.back();
    const std::int64_t rows = last.first + last.count() - blocks.front().first;
    if (by_dma_) {
      load_turned(matrix, blocks, column, columns, turned_[slot]);
    } else {
      load(matrix, blocks, column, columns, loaded_[slot]);
      for (std::size_t b = 0; b < blocks.size(); ++b)
        for (std::int64_t c = 0; c < columns; c += tile_size)
          turn(blocks[b], static_cast<std::int64_t>(b) * columns_at_a_time_ + c, std::min(tile_size, columns - c),
               loaded_[slot], turned_[slot], c * blocks_at_a_time_ + blocks[b].first - blocks.front().first);
    }
    store(matrix, blocks.front().first, rows, column, columns, turned_[slot]);
    work_.dma_bytes += 2 * rows * columns * element_bytes(size_.source);
  }

  void load(const MatrixTranspose& m, std::span<const RowBlock> blocks, std::int64_t column, std::int64_t columns,
            const Tensor& to) {
    std::vector<CopyPart> parts;
    const std::int64_t size = to.info().free_size;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const RowBlock& block = blocks[b];
      const auto add = [&](std::int64_t partition, Pair rows, std::int64_t from) {
        parts.push_back({to.ap({{size, rows.num}, {1, columns}},
                               partition * size + static_cast<std::int64_t>(b) * columns_at_a_time_),
                         m.source.ap({rows, {1, columns}}, m.source_offset + from + column)});
      };
      const std::int64_t from = block.group * m.group_step + block.row * m.row_step;
      if (block.rows == 1)
        add(0, {m.group_step, block.groups}, from);
      else
        for (std::int64_t g = 0; g < block.groups; ++g)
          add(g * block.rows, {m.row_step, block.rows}, from + g * m.group_step);
    }
    k_.dma_copy(std::move(parts), QueueClass::local, Engine::sync);
  }

  // The DMA engines turn the rows on their way: columns arrive on the partitions.
  void load_turned(const MatrixTranspose& m, std::span<const RowBlock> blocks, std::int64_t column,
                   std::int64_t columns, const Tensor& to) {
    std::vector<CopyPart> parts;
    const std::int64_t whole = columns / tile_size * tile_size;
    for (const RowBlock& block : blocks) {
      const std::int64_t place = block.first - blocks.front().first;
      add_turned(parts, m, block, column, whole / tile_size, tile_size, to, place);
      add_turned(parts, m, block, column + whole, 1, columns - whole, to, whole * blocks_at_a_time_ + place);
    }
    work_.dma_transposes += static_cast<std::int64_t>(parts.size());
    k_.dma_transpose(std::move(parts), QueueClass::local, Engine::sync);
  }

  // `tiles` of `count` columns each, from `column` on.
  void add_turned(std::vector<CopyPart>& parts, const MatrixTranspose& m, const RowBlock& block, std::int64_t column,
                  std::int64_t tiles, std::int64_t count, const Tensor& to, std::int64_t place) const {
    if (tiles * count == 0) return;
    const auto add = [&](Pair rows, std::int64_t from, Pair elements) {
      parts.push_back({to.ap({{to.info().free_size, count}, {blocks_at_a_time_ * tile_size, tiles}, elements}, place),
                       m.source.ap({rows, {1, tiles * count}}, m.source_offset + from + column)});
      ++place;
    };
    const std::int64_t from = block.group * m.group_step + block.row * m.row_step;
    if (block.rows == 1)
      add({m.group_step, block.groups}, from, {1, block.groups});
    else
      for (std::int64_t g = 0; g < block.groups; ++g)
        add({m.row_step, block.rows}, from + g * m.group_step, {block.groups, block.rows});
  }

  // Rows stand as (group, row) on the partitions; in a run of the destination they follow each other as (row, group).
  void turn(const RowBlock& block, std::int64_t from, std::int64_t columns, const Tensor& loaded, const Tensor& turned,
            std::int64_t to) {
    const Access rows = loaded.ap({{loaded.info().free_size, block.count()}, {1, columns}}, from);
    const Access result =
        turned.ap({{turned.info().free_size, columns}, {1, block.groups}, {block.groups, block.rows}}, to);
    if (block.count() <= vector_size && columns <= vector_size) {
      k_.nc_transpose(result, rows, Engine::vector);
      ++work_.vector_transposes;
      return;
    }
    const Tensor& bank = banks_[bank_turn_++ % banks_.size()];
    const Access psum = bank.ap({{bank.info().free_size, columns}, {1, block.count()}});
    k_.nc_transpose(psum, rows, Engine::pe);
    k_.tensor_copy(result, psum, Engine::vector);
    ++work_.pe_transposes;
    ++work_.copies;
    work_.pe_cycles += std::max(block.count(), std::min<std::int64_t>(64, columns));
  }

  void store(const MatrixTranspose& m, std::int64_t first, std::int64_t rows, std::int64_t column, std::int64_t columns,
             const Tensor& from) {
    std::vector<CopyPart> parts;
    for (std::int64_t c = 0; c < columns; c += tile_size) {
      const std::int64_t count = std::min(tile_size, columns - c);
      parts.push_back({m.destination.ap({{m.column_step, count}, {1, rows}},
                                        m.destination_offset + (column + c) * m.column_step + first),
                       from.ap({{from.info().free_size, count}, {1, rows}}, c * blocks_at_a_time_)});
    }
    k_.dma_copy(std::move(parts), QueueClass::local, Engine::scalar);
  }

  Kernel& k_;
  const MatrixTranspose size_;
  const bool by_dma_;
  std::vector<RowBlock> blocks_;
  std::int64_t columns_at_a_time_ = 1;
  std::int64_t blocks_at_a_time_ = 1;
  std::int64_t slots_ = 2;
  std::vector<Tensor> loaded_;
  std::vector<Tensor> turned_;
  std::vector<Tensor> banks_;
  std::size_t turn_ = 0;
  std::size_t bank_turn_ = 0;
  TranspositionWork work_;
};

class RowEmitter {
 public:
  RowEmitter(Kernel& kernel, const RowPermutation& permutation) : k_(kernel), p_(permutation) {
    choose();
    Allocator sbuf = whole_sbuf(kernel);
    const auto dtype = permutation.source.info().dtype;
    loaded_ = sbuf_slots(kernel, sbuf, "row", slots, dtype, middle_ * a_ * b_);
    permuted_ = sbuf_slots(kernel, sbuf, "permuted", slots, dtype, middle_ * a_ * b_);
  }

  void run() {
    for (std::int64_t row = 0; row < p_.rows; row += tile_size)
      for (std::int64_t m = 0; m < p_.middle; m += middle_)
        for (std::int64_t a = 0; a < p_.a; a += a_)
          for (std::int64_t b = 0; b < p_.b; b += b_) part(row, m, a, b);
  }

  const TranspositionWork& work() const { return work_; }

 private:
  static constexpr std::int64_t slots = 2;

  // Long runs on both sides, first of the source.
  void choose() {
    const std::int64_t size = element_bytes(p_.source);
    const std::int64_t most = std::clamp<std::int64_t>(
        (std::int64_t{k_.machine().sbuf_bytes} / (2 * slots) - 64) / size, 1, most_row_elements);
    a_ = std::min(p_.a, std::max<std::int64_t>(1, most / std::min(p_.b, least_run)));
    b_ = std::min(p_.b, most / a_);
    middle_ = a_ == p_.a && b_ == p_.b ? std::clamp<std::int64_t>(most / (a_ * b_), 1, p_.middle) : 1;
  }

  void part(std::int64_t row, std::int64_t m, std::int64_t a, std::int64_t b) {
    const std::int64_t rows = std::min(tile_size, p_.rows - row);
    const std::int64_t middle = std::min(middle_, p_.middle - m);
    const std::int64_t as = std::min(a_, p_.a - a);
    const std::int64_t bs = std::min(b_, p_.b - b);
    const Tensor& loaded = loaded_[turn_ % slots];
    const Tensor& permuted = permuted_[turn_++ % slots];
    const std::int64_t plane = p_.a * p_.b;
    const std::int64_t whole = p_.middle * plane;
    const std::int64_t elements = middle * as * bs;
    const std::int64_t origin = row * whole + m * plane;
    const Access staged = loaded.ap({{loaded.info().free_size, rows}, {1, elements}});
    const std::int64_t size = permuted.info().free_size;
    k_.dma_copy(staged, p_.source.ap({{whole, rows}, {plane, middle}, {p_.b, as}, {1, bs}}, origin + a * p_.b + b),
                QueueClass::local, Engine::sync);
    k_.tensor_copy(permuted.ap({{size, rows}, {as * bs, middle}, {1, as}, {as, bs}}), staged, Engine::vector);
    k_.dma_copy(p_.destination.ap({{whole, rows}, {plane, middle}, {p_.a, bs}, {1, as}}, origin + b * p_.a + a),
                permuted.ap({{size, rows}, {1, elements}}), QueueClass::local, Engine::scalar);
    ++work_.copies;
    work_.dma_bytes += 2 * rows * elements * element_bytes(p_.source);
  }

  Kernel& k_;
  const RowPermutation p_;
  std::int64_t middle_ = 1, a_ = 1, b_ = 1;  // at a time
  std::vector<Tensor> loaded_;
  std::vector<Tensor> permuted_;
  std::size_t turn_ = 0;
  TranspositionWork work_;
};

}  // namespace

TranspositionWork& TranspositionWork::operator+=(const TranspositionWork& other) {
  pe_transposes += other.pe_transposes;
  pe_cycles += other.pe_cycles;
  vector_transposes += other.vector_transposes;
  dma_transposes += other.dma_transposes;
  copies += other.copies;
  dma_bytes += other.dma_bytes;
  return *this;
}

TranspositionWork emit(Kernel& kernel, std::span<const MatrixTranspose> matrices) {
  MatrixEmitter emitter(kernel, matrices.front());
  for (const MatrixTranspose& matrix : matrices) emitter.run(matrix);
  return emitter.work();
}

TranspositionWork emit(Kernel& kernel, const RowPermutation& permutation) {
  RowEmitter emitter(kernel, permutation);
  emitter.run();
  return emitter.work();
}

bool permutes_in_rows(std::int64_t rows, std::int64_t a, std::int64_t b) {
  const std::int64_t in_rows = ceil_div(rows, tile_size) * 2 * a * b;
  const std::int64_t by_tiles =
      rows * ceil_div(b, tile_size) * (a / tile_size * tile_size + std::max<std::int64_t>(64, a % tile_size));
  return in_rows <= by_tiles;
}

}  // namespace tilevp::neuron
