#include "tilevp/neuron/allocator.hpp"

#include <algorithm>

#include "tilevp/base/errors.hpp"

namespace tilevp::neuron {

Allocator::Allocator(std::string memory, std::string unit, std::uint64_t size, std::uint64_t base,
                     std::uint64_t alignment)
    : memory_(std::move(memory)), unit_(std::move(unit)), size_(size), base_(base), alignment_(alignment) {}

std::uint64_t Allocator::allocate(const std::string& name, std::uint64_t size) {
  if (size == 0) throw UserError(memory_, "'" + name + "' has size 0");
  const auto same = [&](const Buffer& buffer) { return buffer.name == name; };
  if (std::any_of(buffers_.begin(), buffers_.end(), same))
    throw UserError(memory_, "'" + name + "' is allocated already");
  std::uint64_t start = base_;
  std::uint64_t largest = 0;
  for (auto at = buffers_.begin();; ++at) {
    const std::uint64_t end = at == buffers_.end() ? base_ + size_ : at->start;
    const std::uint64_t gap = end > start ? end - start : 0;
    if (gap >= size) {
      buffers_.insert(at, {name, start, size});
      return start;
    }
    largest = std::max(largest, gap);
    if (at == buffers_.end()) break;
    start = at->start + rounded(at->size);
  }
  throw UserError(memory_, "'" + name + "' needs " + std::to_string(size) + " " + unit_ + ", " +
                               std::to_string(free()) + " of " + std::to_string(size_) + " free (largest gap " +
                               std::to_string(largest) + "); held: " + held());
}

void Allocator::release(const std::string& name) {
  const auto at = std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& b) { return b.name == name; });
  if (at == buffers_.end()) throw UserError(memory_, "'" + name + "' is released but not allocated");
  buffers_.erase(at);
}

std::uint64_t Allocator::used() const {
  std::uint64_t total = 0;
  for (const Buffer& buffer : buffers_) total += std::min(rounded(buffer.size), base_ + size_ - buffer.start);
  return total;
}

std::string Allocator::held() const {
  if (buffers_.empty()) return "nothing";
  constexpr std::size_t named = 16;
  std::string text;
  std::uint64_t at = base_;
  const auto show = [&](const std::string& what, std::uint64_t start, std::uint64_t size) {
    text += (text.empty() ? "" : ", ") + what + " " + std::to_string(size) + " at " + std::to_string(start);
  };
  for (std::size_t i = 0; i < std::min(named, buffers_.size()); ++i) {
    if (buffers_[i].start > at) show("free", at, buffers_[i].start - at);
    show(buffers_[i].name, buffers_[i].start, buffers_[i].size);
    at = buffers_[i].start + rounded(buffers_[i].size);
  }
  if (buffers_.size() > named)
    text += " and " + std::to_string(buffers_.size() - named) + " more";
  else if (at < base_ + size_)
    show("free", at, base_ + size_ - at);
  return text;
}

}  // namespace tilevp::neuron
