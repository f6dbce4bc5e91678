#include "tilevp/memory/defined_map.hpp"

#include <algorithm>
#include <array>
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

// The bits of `count` runs, each `stride` after the one before, as words: strided windows are marked and checked a word
// at a time instead of an element at a time.
class Comb {
 public:
  static constexpr std::uint64_t max_span = 1024;

  // (count - 1) * stride + run <= max_span
  Comb(std::uint64_t run, std::uint64_t stride, std::uint64_t count) : words_(((count - 1) * stride + run + 63) / 64) {
    for (std::uint64_t i = 0; i < count; ++i) set_bits(teeth_.data(), i * stride, run);
  }

  // Calls fn(index, bits) for each word of a bitmap that the comb touches when its first bit is at `start`.
  template <class Fn>
  void for_each_word(std::uint64_t start, Fn&& fn) const {
    const std::uint64_t shift = start % 64;
    std::uint64_t index = start / 64;
    std::uint64_t carry = 0;
    for (std::uint64_t i = 0; i < words_; ++i, ++index) {
      fn(index, teeth_[i] << shift | carry);
      carry = shift == 0 ? 0 : teeth_[i] >> (64 - shift);
    }
    if (carry != 0) fn(index, carry);
  }

 private:
  std::array<std::uint64_t, max_span / 64> teeth_{};
  std::uint64_t words_;
};

// Calls fn(index, bits) for the words of a pattern whose innermost run loop makes a comb of at least two teeth a word;
// false, with nothing called, where it does not or where building the comb costs more than it saves.
template <class Fn>
bool for_each_comb_word(const AccessPattern& set, Fn&& fn) {
  const std::span<const Loop> nest = set.run_loops();
  if (nest.empty() || nest.back().stride > 32 || set.runs() < 64) return false;
  const std::uint64_t run = set.run_bytes();
  const auto stride = static_cast<std::uint64_t>(nest.back().stride);
  if (run > Comb::max_span / 2) return false;
  const std::uint64_t some = std::min(nest.back().size, (Comb::max_span - run) / stride + 1);
  const std::uint64_t whole = nest.back().size / some;
  const std::uint64_t rest = nest.back().size % some;
  const Comb body(run, stride, some);
  const Comb tail(run, stride, std::max<std::uint64_t>(rest, 1));
  const AccessPattern heads(set.start(), 1, nest.first(nest.size() - 1));
  heads.for_each_run([&](std::uint64_t first, std::uint64_t neighbours) {
    for (std::uint64_t head = first; head < first + neighbours; ++head) {
      for (std::uint64_t k = 0; k < whole; ++k) body.for_each_word(head + k * some * stride, fn);
      if (rest > 0) tail.for_each_word(head + whole * some * stride, fn);
    }
  });
  return true;
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

// Grows a range that it touches, or takes the place of the shortest one.
void DefinedMap::note_whole(std::uint64_t start, std::uint64_t end) {
  Range* shortest = &whole_.front();
  for (Range& range : whole_) {
    if (start <= range.end && end >= range.start && range.end > range.start) {
      range = {std::min(start, range.start), std::max(end, range.end)};
      return;
    }
    if (range.end - range.start < shortest->end - shortest->start) shortest = &range;
  }
  if (end - start > shortest->end - shortest->start) *shortest = {start, end};
}

void DefinedMap::mark(std::uint64_t start, std::uint64_t bytes) {
  require_inside(start, bytes);
  if (bytes == 0 || is_whole(start, start + bytes)) return;
  set_bits(words_of(words_store_), start, bytes);
  note_whole(start, start + bytes);
}

void DefinedMap::unmark(std::uint64_t start, std::uint64_t bytes) {
  require_inside(start, bytes);
  if (bytes == 0) return;
  clear_bits(words_of(words_store_), start, bytes);
  const std::uint64_t end = start + bytes;
  for (Range& range : whole_) {
    if (start >= range.end || end <= range.start) continue;
    const Range before{range.start, std::max(start, range.start)};
    const Range after{std::min(end, range.end), range.end};
    range = before.end - before.start > after.end - after.start ? before : after;
  }
}

void DefinedMap::mark(const AccessPattern& pattern) {
  require_inside(pattern.lowest(), pattern.highest() - pattern.lowest() + 1);
  if (is_whole(pattern)) return;
  const AccessPattern set = pattern.as_set();
  std::uint64_t* words = words_of(words_store_);
  if (set.is_contiguous()) note_whole(set.lowest(), set.highest() + 1);
  if (for_each_comb_word(set, [words](std::uint64_t index, std::uint64_t bits) { words[index] |= bits; })) return;
  set.for_each_run([words](std::uint64_t start, std::uint64_t bytes) { set_bits(words, start, bytes); });
}

std::optional<std::uint64_t> DefinedMap::first_undefined(std::uint64_t start, std::uint64_t bytes) const {
  require_inside(start, bytes);
  if (bytes == 0 || is_whole(start, start + bytes)) return std::nullopt;
  const std::uint64_t found = first_clear(words_of(words_store_), start, bytes);
  return found == not_found ? std::nullopt : std::optional(found);
}

std::optional<std::uint64_t> DefinedMap::first_undefined(const AccessPattern& pattern) const {
  require_inside(pattern.lowest(), pattern.highest() - pattern.lowest() + 1);
  if (is_whole(pattern)) return std::nullopt;
  const AccessPattern set = pattern.as_set();
  const std::uint64_t* words = words_of(words_store_);
  std::uint64_t found = not_found;
  // No way out of the walks, so what follows a find is skipped at a test each.
  const bool by_words = for_each_comb_word(set, [&](std::uint64_t index, std::uint64_t bits) {
    const std::uint64_t missing = bits & ~words[index];
    if (missing != 0 && found == not_found) found = index * 64 + static_cast<std::uint64_t>(std::countr_zero(missing));
  });
  if (by_words) return found == not_found ? std::nullopt : std::optional(found);
  set.for_each_run([&](std::uint64_t start, std::uint64_t bytes) {
    if (found == not_found) found = first_clear(words, start, bytes);
  });
  return found == not_found ? std::nullopt : std::optional(found);
}

}  // namespace tilevp::memory
