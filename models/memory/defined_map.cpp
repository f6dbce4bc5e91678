#include "tilevp/memory/defined_map.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "tilevp/base/errors.hpp"

namespace tilevp::memory {
namespace {

constexpr std::uint64_t all_defined = ~std::uint64_t{0};
constexpr std::uint64_t not_found = ~std::uint64_t{0};

// Bits [first, first + count) of a word; count 1 to 64.
constexpr std::uint64_t mask(std::uint64_t first, std::uint64_t count) {
  return (all_defined >> (64 - count)) << first;
}

void set_bits(std::uint64_t* words, std::uint64_t start, std::uint64_t count) {
  std::uint64_t* word = words + start / 64;
  const std::uint64_t first = start % 64;
  if (first + count <= 64) {
    *word |= mask(first, count);
    return;
  }
  *word++ |= all_defined << first;
  count -= 64 - first;
  std::memset(word, 0xff, count / 64 * 8);
  if (count % 64 != 0) word[count / 64] |= mask(0, count % 64);
}

void clear_bits(std::uint64_t* words, std::uint64_t start, std::uint64_t count) {
  std::uint64_t* word = words + start / 64;
  const std::uint64_t first = start % 64;
  if (first + count <= 64) {
    *word &= ~mask(first, count);
    return;
  }
  *word++ &= ~(all_defined << first);
  count -= 64 - first;
  std::memset(word, 0, count / 64 * 8);
  if (count % 64 != 0) word[count / 64] &= ~mask(0, count % 64);
}

// The first clear bit of [start, start + count), or not_found.
std::uint64_t first_clear(const std::uint64_t* words, std::uint64_t start, std::uint64_t count) {
  std::uint64_t at = start / 64;
  const std::uint64_t last = (start + count - 1) / 64;
  std::uint64_t missing = ~words[at] & (all_defined << start % 64);
  if (at < last && missing == 0) {
    ++at;
    while (at + 4 <= last && (words[at] & words[at + 1] & words[at + 2] & words[at + 3]) == all_defined) at += 4;
    while (at < last && words[at] == all_defined) ++at;
    missing = ~words[at];
  }
  if (at == last) missing &= mask(0, (start + count - 1) % 64 + 1);
  return missing == 0 ? not_found : at * 64 + static_cast<std::uint64_t>(std::countr_zero(missing));
}

const std::uint64_t* words_of(const SparseStore& store) { return reinterpret_cast<const std::uint64_t*>(store.data()); }
std::uint64_t* words_of(SparseStore& store) { return reinterpret_cast<std::uint64_t*>(store.data()); }

}  // namespace

DefinedMap::DefinedMap(std::uint64_t bytes, std::string_view place)
    : words_store_(bytes / 64 * 8 + (bytes % 64 != 0 ? 8 : 0), place), size_(bytes) {}

void DefinedMap::require_inside(std::uint64_t start, std::uint64_t bytes) const {
  if (start > size_ || bytes > size_ - start)
    throw Defect("defined map: " + std::to_string(bytes) + " bytes at " + std::to_string(start) + " leave the " +
                 std::to_string(size_) + " bytes of the memory");
}

void DefinedMap::mark(std::uint64_t start, std::uint64_t bytes) {
  require_inside(start, bytes);
  if (bytes > 0) set_bits(words_of(words_store_), start, bytes);
}

void DefinedMap::unmark(std::uint64_t start, std::uint64_t bytes) {
  require_inside(start, bytes);
  if (bytes > 0) clear_bits(words_of(words_store_), start, bytes);
}

void DefinedMap::mark(const AccessPattern& pattern) {
  const AccessPattern set = pattern.as_set();
  require_inside(set.lowest(), set.highest() - set.lowest() + 1);
  std::uint64_t* words = words_of(words_store_);
  set.for_each_run([words](std::uint64_t start, std::uint64_t bytes) { set_bits(words, start, bytes); });
}

std::optional<std::uint64_t> DefinedMap::first_undefined(std::uint64_t start, std::uint64_t bytes) const {
  require_inside(start, bytes);
  if (bytes == 0) return std::nullopt;
  const std::uint64_t found = first_clear(words_of(words_store_), start, bytes);
  return found == not_found ? std::nullopt : std::optional(found);
}

std::optional<std::uint64_t> DefinedMap::first_undefined(const AccessPattern& pattern) const {
  const AccessPattern set = pattern.as_set();
  require_inside(set.lowest(), set.highest() - set.lowest() + 1);
  const std::uint64_t* words = words_of(words_store_);
  std::uint64_t found = not_found;
  // No way out of the walk, so the rest is skipped at a test a run.
  set.for_each_run([&](std::uint64_t start, std::uint64_t bytes) {
    if (found == not_found) found = first_clear(words, start, bytes);
  });
  return found == not_found ? std::nullopt : std::optional(found);
}

}  // namespace tilevp::memory
