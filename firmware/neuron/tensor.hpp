#pragma once
// Tensors of a kernel and the access patterns over them.
//
// A pattern is [[step, num], ...] in elements, outermost first. For SBUF and PSUM the first pair is the partition pair,
// whose step is the tensor's whole free size; the offset counts elements likewise (partition * free size + element).
// `.ap()` looks at the tensor, never at another view of it (AWS Neuron documentation, "NKI access patterns").
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "tilevp/numeric/dtype.hpp"

namespace tilevp::neuron {

enum class Memory : std::uint8_t { hbm, sbuf, psum };
std::string_view name(Memory memory);

struct Pair {
  std::int64_t step = 1;  // elements
  std::int64_t num = 1;
  bool operator==(const Pair&) const = default;
};

// What a tensor is; owned by its Kernel. On chip: `rows` partitions from partition 0, each `free_size` elements at byte
// `address` of the partition (PSUM: bank * 2048). In HBM: `rows` rows of `free_size` elements, dense, from `address`;
// hazards are found row by row.
struct TensorInfo {
  std::string name;
  Memory memory = Memory::hbm;
  numeric::DType dtype = numeric::DType::fp32;
  std::uint64_t address = 0;
  std::int64_t rows = 1;
  std::int64_t free_size = 1;
  std::uint32_t index = 0;  // in its kernel
};

class Access;

// A handle; valid as long as its Kernel.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(const TensorInfo* info) : info_(info) {}
  const TensorInfo& info() const { return *info_; }
  // UserError naming the tensor where the pattern leaves it, or where the partition pair is none.
  Access ap(std::span<const Pair> pattern, std::int64_t offset = 0) const;
  Access ap(std::initializer_list<Pair> pattern, std::int64_t offset = 0) const;
  // All of it: [[free_size, rows], [1, free_size]].
  Access all() const;

 private:
  const TensorInfo* info_ = nullptr;
};

class Access {
 public:
  static constexpr std::size_t max_pairs = 6;

  Access(const TensorInfo& info, std::span<const Pair> pattern, std::int64_t offset);

  const TensorInfo& tensor() const { return *tensor_; }
  Memory memory() const { return tensor_->memory; }
  numeric::DType dtype() const { return tensor_->dtype; }
  std::int64_t offset() const { return offset_; }  // elements
  // The pair of partitions (HBM: the outermost pair).
  Pair outer() const { return pairs_[0]; }
  // The other pairs, merged where one continues the next; at least one.
  std::span<const Pair> free() const { return {pairs_.data() + 1, count_ - 1}; }
  std::int64_t partitions() const { return pairs_[0].num; }
  std::int64_t first_partition() const { return offset_ / tensor_->free_size; }  // on chip
  std::int64_t first_element() const { return offset_ % tensor_->free_size; }    // of the partition, on chip
  std::int64_t elements() const;                                                 // a partition
  // `'img0' in SBUF`
  std::string text() const;

 private:
  void check() const;

  const TensorInfo* tensor_;
  std::int64_t offset_;
  std::array<Pair, max_pairs> pairs_{};
  std::size_t count_ = 0;
};

}  // namespace tilevp::neuron
