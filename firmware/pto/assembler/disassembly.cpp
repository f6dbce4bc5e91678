#include <algorithm>
#include <cstring>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/isa.hpp"
#include "tilevp/pto/assembler/text.hpp"

namespace tilevp::pto::assembler {
namespace {

std::string raw_text(std::uint64_t word, unsigned bytes) {
  switch (bytes) {
    case 2:
      return ".half " + hex_text(word & 0xffff) + "\n";
    case 4:
      return ".word " + hex_text(word & 0xffff'ffff) + "\n";
    case 8:
      return ".dword " + hex_text(word) + "\n";
    default:
      return raw_text(word, 4) + raw_text(word >> 32, 2);
  }
}

// A statement, or the several that stand for one word that is no instruction, of `bytes`.
struct Piece {
  std::string text{};  // with newlines
  unsigned bytes = 0;
};

Piece piece_at(std::span<const std::byte> words, std::size_t at) {
  std::uint64_t word = 0;
  const std::size_t left = words.size() - at;
  std::memcpy(&word, words.data() + at, std::min(sizeof word, left));
  const auto result = cube::decode(word);
  const auto* decoded = std::get_if<cube::Decoded>(&result);
  const unsigned bytes = decoded != nullptr ? decoded->bytes : std::get<cube::DecodeError>(result).bytes;
  if (bytes > left) return {raw_text(word, 2), 2};  // cut off
  return {decoded != nullptr ? cube::disassemble(decoded->command) + "\n" : raw_text(word, bytes), bytes};
}

}  // namespace

std::string disassemble(std::span<const std::byte> words) {
  std::string text;
  for (std::size_t at = 0; at + 2 <= words.size();) {
    const Piece piece = piece_at(words, at);
    text += piece.text;
    at += piece.bytes;
  }
  return text;
}

std::string listing(std::span<const std::byte> words, std::uint64_t base) {
  constexpr std::size_t comment_column = 56;
  std::string text;
  for (std::size_t at = 0; at + 2 <= words.size();) {
    const Piece piece = piece_at(words, at);
    std::string first = piece.text.substr(0, piece.text.find('\n'));
    const std::string others = piece.text.substr(first.size());
    first.resize(std::max(first.size(), comment_column), ' ');
    text += first + "  // " + hex_text(base + at) + others;
    at += piece.bytes;
  }
  return text;
}

}  // namespace tilevp::pto::assembler
