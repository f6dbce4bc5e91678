#include "tilevp/neuron/tensor.hpp"

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron {

std::string_view name(Memory memory) {
  switch (memory) {
    case Memory::hbm:
      return "HBM";
    case Memory::sbuf:
      return "SBUF";
    case Memory::psum:
      return "PSUM";
  }
  return "?";
}

Access Tensor::ap(std::span<const Pair> pattern, std::int64_t offset) const { return {*info_, pattern, offset}; }

Access Tensor::ap(std::initializer_list<Pair> pattern, std::int64_t offset) const {
  return {*info_, std::span<const Pair>(pattern.begin(), pattern.size()), offset};
}

Access Tensor::all() const { return ap({{info_->free_size, info_->rows}, {1, info_->free_size}}); }

Access::Access(const TensorInfo& info, std::span<const Pair> pattern, std::int64_t offset)
    : tensor_(&info), offset_(offset) {
  if (pattern.empty()) throw UserError(text(), "an access pattern needs at least one [step, num] pair");
  pairs_[count_++] = pattern[0];
  for (const Pair& pair : pattern.subspan(1)) {
    if (pair.num == 1) continue;
    Pair& last = pairs_[count_ - 1];
    // An outer pair that continues this one becomes one pair with it.
    if (count_ > 1 && pair.num > 0 && last.step == pair.step * pair.num) {
      last = {pair.step, last.num * pair.num};
      continue;
    }
    if (count_ == max_pairs)
      throw UserError(text(), "access pattern of more than " + std::to_string(max_pairs) + " pairs after merging");
    pairs_[count_++] = pair;
  }
  if (count_ == 1) pairs_[count_++] = {1, 1};
  check();
}

void Access::check() const {
  std::int64_t lowest = offset_;
  std::int64_t highest = offset_;
  for (std::size_t i = 0; i < count_; ++i) {
    if (pairs_[i].num < 1)
      throw UserError(text(), "access pattern pair " + std::to_string(i) + " has num " + std::to_string(pairs_[i].num) +
                                  ", expected at least 1");
    if (i == 0 && memory() != Memory::hbm) continue;
    const std::int64_t reach = pairs_[i].step * (pairs_[i].num - 1);
    (reach < 0 ? lowest : highest) += reach;
  }
  if (memory() == Memory::hbm) {
    const std::int64_t total = tensor_->rows * tensor_->free_size;
    if (lowest < 0 || highest >= total)
      throw UserError(text(), "access pattern reaches elements " + std::to_string(lowest) + ".." +
                                  std::to_string(highest) + ", the tensor has " + std::to_string(total));
    return;
  }
  if (pairs_[0].step != tensor_->free_size && pairs_[0].num > 1)
    throw UserError(text(), "partition step " + std::to_string(pairs_[0].step) + ", expected the free size " +
                                std::to_string(tensor_->free_size));
  if (offset_ < 0 || first_partition() + partitions() > tensor_->rows)
    throw UserError(text(), "access pattern reaches partition " + std::to_string(first_partition() + partitions() - 1) +
                                ", the tensor has " + std::to_string(tensor_->rows));
  const std::int64_t row = offset_ - first_element();
  if (lowest < row || highest >= row + tensor_->free_size)
    throw UserError(text(), "access pattern reaches elements " + std::to_string(lowest - row) + ".." +
                                std::to_string(highest - row) + " of a partition, the tensor has " +
                                std::to_string(tensor_->free_size));
}

std::int64_t Access::elements() const {
  std::int64_t total = 1;
  for (const Pair& pair : free()) total *= pair.num;
  return total;
}

std::string Access::text() const { return "'" + tensor_->name + "' in " + std::string(name(tensor_->memory)); }

}  // namespace tilevp::neuron
