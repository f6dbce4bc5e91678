#pragma once
// Instructions decoded before, by their word: programs are loops written out, so most words come again and again.
#include <array>
#include <cstdint>
#include <variant>

#include "tilevp/cube/isa.hpp"

namespace tilevp::cube {

class DecodeCache {
 public:
  // As decode(word), of a word that is `bytes` long. The result is valid until the next call.
  const std::variant<Decoded, DecodeError>& decoded(const Encoded& encoded) {
    const std::uint64_t unused_bits = 64 - 8 * std::uint64_t{encoded.bytes};
    const std::uint64_t word = encoded.word << unused_bits >> unused_bits;
    // Fibonacci hashing: the upper bits of the product depend on all bits of the word.
    Entry& entry = entries_[word * 0x9e37'79b9'7f4a'7c15 >> (64 - index_bits)];
    if (!entry.known || entry.word != word) entry = {word, true, decode(word)};
    return entry.result;
  }

 private:
  static constexpr unsigned index_bits = 8;
  struct Entry {
    std::uint64_t word = 0;
    bool known = false;
    std::variant<Decoded, DecodeError> result{};
  };
  std::array<Entry, 1U << index_bits> entries_{};
};

}  // namespace tilevp::cube
