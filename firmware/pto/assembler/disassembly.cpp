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

}  // namespace

std::string disassemble(std::span<const std::byte> words) {
  std::string text;
  for (std::size_t at = 0; at + 2 <= words.size();) {
    std::uint64_t word = 0;
    const std::size_t left = words.size() - at;
    std::memcpy(&word, words.data() + at, std::min(sizeof word, left));
    const auto result = cube::decode(word);
    const auto* decoded = std::get_if<cube::Decoded>(&result);
    const unsigned bytes = decoded != nullptr ? decoded->bytes : std::get<cube::DecodeError>(result).bytes;
    if (bytes > left) {  // cut off
      text += raw_text(word, 2);
      at += 2;
      continue;
    }
    text += decoded != nullptr ? cube::disassemble(decoded->command) + "\n" : raw_text(word, bytes);
    at += bytes;
  }
  return text;
}

}  // namespace tilevp::pto::assembler
