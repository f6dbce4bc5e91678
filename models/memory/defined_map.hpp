#pragma once
// Which bytes of a memory were ever written: one bit a byte, as sparse as the memory itself.
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
  void clear() { words_store_.clear(); }

  // The lowest address in the range, or of the pattern's runs in ascending loop order (AccessPattern::as_set), that
  // nobody wrote.
  std::optional<std::uint64_t> first_undefined(std::uint64_t start, std::uint64_t bytes) const;
  std::optional<std::uint64_t> first_undefined(const AccessPattern& pattern) const;

 private:
  void require_inside(std::uint64_t start, std::uint64_t bytes) const;

  SparseStore words_store_;
  std::uint64_t size_ = 0;
};

}  // namespace tilevp::memory
