#pragma once
// Narrow float formats beyond the IEEE ones of rounding.hpp: decoding every code exactly, and rounding a double that
// holds an exact result to the formats that a matrix unit writes.
//
// Finite codes of the formats with an exponent field and a bias are (-1)^s * 1.f * 2^(e - bias), subnormal where e = 0.
// HiF8 has exponents of tapered length (Luo et al., "Ascend HiFloat8 Format", arXiv:2409.16626): 1 to 3 fraction bits.
#include <cstdint>
#include <span>

#include "tilevp/numeric/rounding.hpp"

namespace tilevp::numeric {

enum class FloatFormat : std::uint8_t {
  fp32,
  tf32,  // 1/8/10, in the upper bits of 32; the low 13 are not looked at
  hf32,  // 1/8/11, in the upper bits of 32; the low 12 are not looked at
  fp16,
  bf16,
  hif8,  // zero 0x00, NaN 0x80, infinities 0x6f and 0xef, 2^-22 to 2^15
  e4m3,  // bias 7, no infinity, NaN 0x7f and 0xff, up to 448
  e5m2,  // bias 15, infinity and NaN as IEEE has them, up to 57344
  e3m2,  // bias 3, six bits, up to 28; neither infinity nor NaN, and so below
  e2m3,  // bias 1, six bits, up to 7.5
  e2m1,  // bias 1, four bits, up to 6
  e1m2,  // bias 1, four bits, up to 1.75
};

// The value of a code, right-aligned; bits above the format's are not looked at. Exact: fp32 holds every value of
// every format. A NaN comes out as some quiet NaN, except of 16 and 32 bits, where sign and payload are kept.
float decode(FloatFormat format, std::uint32_t code);

// The values of all 256 codes of a format of at most 8 bits; Defect for others.
std::span<const float, 256> decoded(FloatFormat format);

// A rounded number and what rounding did to it.
struct Encoded {
  std::uint32_t code = 0;
  bool inexact = false;    // the code is another number than the operand
  bool overflow = false;   // the operand, rounded with an unlimited exponent, exceeds the largest finite number
  bool underflow = false;  // inexact, and the operand lies below the smallest normal number (before rounding)
  bool operator==(const Encoded&) const = default;
};

// `value` rounded to fp32, fp16, bf16, e4m3 or hif8; Defect for others. Zero keeps its sign where the format has two
// zeros. NaN becomes the format's canonical one, infinity passes (saturate: the largest finite number; e4m3 without:
// NaN), both with no flag.
//
// e4m3 and hif8 overflow wherever the operand exceeds the largest finite number, before rounding, and whatever the
// rounding (PTO-ISA/pto-spec, asl/arch/profile/matrix-quantization.asl): ieee is taken as infinite there.
Encoded encode(FloatFormat format, double value, Rounding rounding, Overflow overflow);

// The double nearest to a + b, or, where that is not exact, the one of the two neighbours of a + b whose last bit is
// odd: rounding it to at most 51 bits then gives what rounding a + b would. a + b must not overflow.
double sum_to_odd(double a, double b);

}  // namespace tilevp::numeric
