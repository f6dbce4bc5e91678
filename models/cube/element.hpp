#pragma once
// Elements of a tile's payload by position, and what their codes stand for. Positions count elements (layout.hpp);
// payloads are little endian, of two 4-bit elements in a byte the even one is in the low nibble.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tilevp/cube/data_type.hpp"
#include "tilevp/numeric/narrow_float.hpp"

namespace tilevp::cube {

// The code of an element of 4, 8, 16 or 32 bits, right-aligned.
inline std::uint32_t load_code(const std::byte* payload, unsigned bits, std::uint64_t position) {
  if (bits == 4) return (std::to_integer<std::uint32_t>(payload[position / 2]) >> (position % 2 * 4)) & 0xf;
  if (bits == 8) return std::to_integer<std::uint32_t>(payload[position]);
  std::uint16_t half = 0;
  std::uint32_t word = 0;
  if (bits == 16) {
    std::memcpy(&half, payload + position * 2, 2);
    return half;
  }
  std::memcpy(&word, payload + position * 4, 4);
  return word;
}

// Writes the low `bits` of `code`; the other element of a byte is kept.
inline void store_code(std::byte* payload, unsigned bits, std::uint64_t position, std::uint32_t code) {
  if (bits == 32) {
    std::memcpy(payload + position * 4, &code, 4);
  } else if (bits == 16) {
    std::memcpy(payload + position * 2, &code, 2);
  } else if (bits == 8) {
    payload[position] = static_cast<std::byte>(code & 0xff);
  } else {
    const unsigned shift = position % 2 * 4;
    const auto kept = std::to_integer<std::uint32_t>(payload[position / 2]) & (0xf0U >> shift);
    payload[position / 2] = static_cast<std::byte>(kept | (code & 0xf) << shift);
  }
}

// Elements of 64 bits: the parameter words.
inline std::uint64_t load_word(const std::byte* payload, std::uint64_t position) {
  std::uint64_t word = 0;
  std::memcpy(&word, payload + position * 8, 8);
  return word;
}

// The format of an ordinary floating type's codes. Throws Defect for other types.
numeric::FloatFormat float_format(DataType type);

// The value of a code of an ordinary floating type; exact (numeric/narrow_float.hpp).
float decode_float(DataType type, std::uint32_t code);

// The value of a code of an integer type of up to 32 bits, modulo 2^32 (two's complement of a signed one).
std::uint32_t decode_integer(DataType type, std::uint32_t code);

// The same of `count` codes that lie one after the other.
void decode_floats(DataType type, const std::byte* codes, std::size_t count, float* out);
void decode_integers(DataType type, const std::byte* codes, std::size_t count, std::uint32_t* out);

}  // namespace tilevp::cube
