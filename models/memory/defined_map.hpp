#pragma once
// Which bytes of a memory were ever written: one bit a byte, as sparse as the memory itself, and beside the bits a few
// ranges known to be written as a whole: tensors come whole, and what lies in one of them needs no look at its bits.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tilevp/memory/access_pattern.hpp"
#include "tilevp/memory/byte_store.hpp"

namespace tilevp::memory {

// Addresses are 0 to bytes - 1. Every call throws Defect for a range that leaves them: the memory has checked bounds
// before.
class DefinedMap {
 public:
  DefinedMap() = default;
  // Nothing is defined. Throws UserError as SparseStore does.
  DefinedMap(std::uint64_t bytes, std::string_view place);

  std::uint64_t size() const { return size_; }

  void mark(std::uint64_t start, std::uint64_t bytes);
  void mark(const AccessPattern& pattern);
  // Undefined again.
  void unmark(std::uint64_t start, std::uint64_t bytes);
  void clear() {
    words_store_.clear();
    whole_ = {};
  }

  // The lowest address in the range, or of the pattern's runs in ascending loop order (AccessPattern::as_set), that
  // nobody wrote.
  std::optional<std::uint64_t> first_undefined(std::uint64_t start, std::uint64_t bytes) const;
  std::optional<std::uint64_t> first_undefined(const AccessPattern& pattern) const;

 private:
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  void require_inside(std::uint64_t start, std::uint64_t bytes) const;
  bool is_whole(std::uint64_t start, std::uint64_t end) const {
    for (const Range& range : whole_)
      if (start >= range.start && end <= range.end) return true;
    return false;
  }
  bool is_whole(const AccessPattern& pattern) const { return is_whole(pattern.lowest(), pattern.highest() + 1); }
  void note_whole(std::uint64_t start, std::uint64_t end);

  SparseStore words_store_;
  std::uint64_t size_ = 0;
  std::array<Range, 4> whole_{};  // every byte of each is defined
};

}  // namespace tilevp::memory
