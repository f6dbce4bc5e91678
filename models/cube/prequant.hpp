#pragma once
// The PreQuant modes of B.FPATR and their parameter words (PTO-ISA/pto-spec, asl/block/attributes/B.FPATR.asl and
// asl/arch/profile/matrix-quantization.asl).
#include <array>
#include <cstdint>
#include <string_view>

#include "tilevp/cube/data_type.hpp"

namespace tilevp::cube {

enum class Parameter : std::uint8_t { none, scalar, vector };  // scalar: a word of B.IOR; vector: a tile of U64 [1, N]
enum class ModeRounding : std::uint8_t { programmable, rne, rhb, none };  // all but programmable: RMode must be 0

struct PreQuantMode {
  std::uint8_t code = 0;
  std::string_view name{};
  DataType accumulator = DataType::fp32;  // not looked at in mode 0, which takes any
  DataType d_type = DataType::fp32;       // mode 0: D has the accumulator's
  Parameter parameter = Parameter::none;
  std::uint8_t offset_bits = 0;  // of the signed offset in the parameter word, 0: none
  bool shift = false;            // the parameter word holds a shift, no scale
  ModeRounding rounding = ModeRounding::programmable;
  // Whether B.DATR's Sat may be 1.
  constexpr bool may_saturate() const { return code != 0 && !shift; }
};

// Ascending codes.
inline constexpr std::array<PreQuantMode, 27> prequant_modes{{
    {0, "NONE", DataType::fp32, DataType::fp32, Parameter::none, 0, false, ModeRounding::none},
    {1, "F322F16", DataType::fp32, DataType::fp16, Parameter::none, 0, false, ModeRounding::rne},
    {2, "VREQ8", DataType::s32, DataType::s8, Parameter::vector, 9, false, ModeRounding::programmable},
    {3, "REQ8", DataType::s32, DataType::s8, Parameter::scalar, 9, false, ModeRounding::programmable},
    {4, "VDEQF16", DataType::s32, DataType::fp16, Parameter::vector, 0, false, ModeRounding::programmable},
    {5, "DEQF16", DataType::s32, DataType::fp16, Parameter::scalar, 0, false, ModeRounding::programmable},
    {12, "VSHIFTS322S16", DataType::s32, DataType::s16, Parameter::vector, 0, true, ModeRounding::none},
    {13, "SHIFTS322S16", DataType::s32, DataType::s16, Parameter::scalar, 0, true, ModeRounding::none},
    {16, "F322BF16", DataType::fp32, DataType::bf16, Parameter::none, 0, false, ModeRounding::rne},
    {17, "REQ4", DataType::s32, DataType::s4x2, Parameter::scalar, 5, false, ModeRounding::programmable},
    {18, "VREQ4", DataType::s32, DataType::s4x2, Parameter::vector, 5, false, ModeRounding::programmable},
    {19, "DEQS16", DataType::s32, DataType::s16, Parameter::scalar, 17, false, ModeRounding::programmable},
    {20, "VDEQS16", DataType::s32, DataType::s16, Parameter::vector, 17, false, ModeRounding::programmable},
    {23, "VQF322B8_PRE", DataType::fp32, DataType::s8, Parameter::vector, 9, false, ModeRounding::programmable},
    {24, "QF322B8_PRE", DataType::fp32, DataType::s8, Parameter::scalar, 9, false, ModeRounding::programmable},
    {25, "QF322HIF8_PRE", DataType::fp32, DataType::hif8, Parameter::scalar, 0, false, ModeRounding::rhb},
    {26, "QF322FP8_PRE", DataType::fp32, DataType::e4m3, Parameter::scalar, 0, false, ModeRounding::rne},
    {27, "QF322F32_PRE", DataType::fp32, DataType::fp32, Parameter::scalar, 0, false, ModeRounding::programmable},
    {28, "VQF322HIF8_PRE", DataType::fp32, DataType::hif8, Parameter::vector, 0, false, ModeRounding::rhb},
    {32, "QF322F16_PRE", DataType::fp32, DataType::fp16, Parameter::scalar, 0, false, ModeRounding::rne},
    {33, "VQF322F16_PRE", DataType::fp32, DataType::fp16, Parameter::vector, 0, false, ModeRounding::rne},
    {34, "QF322BF16_PRE", DataType::fp32, DataType::bf16, Parameter::scalar, 0, false, ModeRounding::rne},
    {35, "QS322BF16_PRE", DataType::s32, DataType::bf16, Parameter::scalar, 0, false, ModeRounding::programmable},
    {36, "VQF322BF16_PRE", DataType::fp32, DataType::bf16, Parameter::vector, 0, false, ModeRounding::rne},
    {37, "VQF322FP8_PRE", DataType::fp32, DataType::e4m3, Parameter::vector, 0, false, ModeRounding::rne},
    {38, "VQF322F32_PRE", DataType::fp32, DataType::fp32, Parameter::vector, 0, false, ModeRounding::programmable},
    {39, "VQS322BF16_PRE", DataType::s32, DataType::bf16, Parameter::vector, 0, false, ModeRounding::programmable},
}};

// Null where `code` is reserved.
constexpr const PreQuantMode* find_prequant(unsigned code) {
  for (const PreQuantMode& mode : prequant_modes)
    if (mode.code == code) return &mode;
  return nullptr;
}

constexpr bool accepts(const PreQuantMode& mode, DataType accumulator) {
  return mode.code == 0 || mode.accumulator == accumulator;
}
constexpr DataType result_type(const PreQuantMode& mode, DataType accumulator) {
  return mode.code == 0 ? accumulator : mode.d_type;
}

// FP19: sign in bit 18, exponent 17:10 with bias 127, fraction 9:0: the upper 19 bits of an fp32.
inline constexpr unsigned scale_shift = 13;   // of the scale in a parameter word
inline constexpr unsigned offset_shift = 37;  // of the offset
inline constexpr unsigned shift_shift = 32;   // of the shift code (bits 35:32: 0 - 15 shift by 1 - 16)

// Whether the word is one that the mode takes: a positive normal scale or a shift code, an offset where the mode has
// one, all other bits zero. True where the mode has no parameter.
constexpr bool quant_word_legal(const PreQuantMode& mode, std::uint64_t word) {
  if (mode.parameter == Parameter::none) return true;
  if (mode.shift) return (word & ~(std::uint64_t{0xf} << shift_shift)) == 0;
  const std::uint64_t offset = ((std::uint64_t{1} << mode.offset_bits) - 1) << offset_shift;
  const std::uint64_t exponent = word >> (scale_shift + 10) & 0xff;
  const bool negative = (word >> (scale_shift + 18) & 1) != 0;
  return (word & ~(offset | std::uint64_t{0x7ffff} << scale_shift)) == 0 && !negative && exponent != 0 &&
         exponent != 0xff;
}

// Of the ReLU parameter: bits 18:0 hold +0 or a positive normal FP19, all others are zero.
constexpr bool slope_word_legal(std::uint64_t word) {
  const std::uint64_t exponent = word >> 10 & 0xff;
  return word == 0 || (word < (std::uint64_t{1} << 18) && exponent != 0 && exponent != 0xff);
}

}  // namespace tilevp::cube
