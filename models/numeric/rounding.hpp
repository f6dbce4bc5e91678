#pragma once
// Rounding one fp32 value to a narrower format, and widening it back.
//
// fp32 is IEEE 754 binary32, fp16 binary16 (1/5/10), bf16 the upper half of fp32 (1/8/7), tf32 1/8/10 kept in an fp32
// register. Subnormals are kept on both sides (no flush to zero). The functions work on bit patterns: no rounding mode
// or flag of the host enters.
#include <bit>
#include <cstdint>
#include <string_view>

namespace tilevp::numeric {

// What becomes of a value that the format does not hold. 2.5 and -2.5 rounded to an integer:
enum class Rounding : std::uint8_t {
  rne,  // nearest, ties to even             2  -2
  rtz,  // toward zero                       2  -2
  rtm,  // toward -infinity                  2  -3
  rtp,  // toward +infinity                  3  -2
  rna,  // nearest, ties away from zero      3  -3
  rto,  // inexact: the odd neighbour        3  -3
  rhb,  // nearest, ties toward +infinity    3  -2
};

inline constexpr Rounding all_roundings[] = {Rounding::rne, Rounding::rtz, Rounding::rtm, Rounding::rtp,
                                             Rounding::rna, Rounding::rto, Rounding::rhb};

// "rne", "rtz", ...
std::string_view name(Rounding rounding);

// A magnitude that rounds beyond the largest finite number.
enum class Overflow : std::uint8_t {
  // IEEE 754: the nearest modes (rne, rna, rhb) give infinity; a directed mode gives infinity only in its own
  // direction,
  // else the largest finite number; rtz and rto give the largest finite number (its significand is odd).
  ieee,
  // The largest finite number of the sign, for an infinite operand too. NaN stays NaN.
  saturate,
  // Infinity of the sign in every mode.
  infinite,
};

// The one NaN of each format: positive, quiet, no payload. Whatever leaves a unit as NaN leaves it as this one, because
// payloads are not reproducible (a compiler may swap the operands of an addition).
inline constexpr std::uint32_t canonical_nan_fp32 = 0x7fc00000;
inline constexpr std::uint16_t canonical_nan_fp16 = 0x7e00;
inline constexpr std::uint16_t canonical_nan_bf16 = 0x7fc0;

// Bit patterns of the narrow value; NaN becomes the canonical one.
std::uint16_t to_bf16(float value, Rounding rounding = Rounding::rne, Overflow overflow = Overflow::ieee);
std::uint16_t to_fp16(float value, Rounding rounding = Rounding::rne, Overflow overflow = Overflow::ieee);

// The nearest tf32 value by `rounding`, as the fp32 that equals it (the low 13 bits are zero).
float to_tf32(float value, Rounding rounding = Rounding::rne, Overflow overflow = Overflow::ieee);

// The value rounded to an integer by `rounding`, which a double holds. Infinities and NaN pass.
double to_integer(float value, Rounding rounding);
double to_integer(double value, Rounding rounding);

// Exact. A NaN keeps its sign and payload (it is not made canonical: it has not left a unit).
inline float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
float from_fp16(std::uint16_t bits);

// The value itself, or the canonical NaN.
inline float canonical(float value) { return value != value ? std::bit_cast<float>(canonical_nan_fp32) : value; }

}  // namespace tilevp::numeric
