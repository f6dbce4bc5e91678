#pragma once
// The element types of the PTO tile instructions (PTO-ISA/pto-spec, asl/arch/data-types/tile-data-types.asl): codes as
// BSTART and B.DATR carry them, width in a tile, and what the CUBE does with them.
#include <cstdint>
#include <string_view>

namespace tilevp::cube {

enum class DataType : std::uint8_t {
  fp64 = 0,
  fp32 = 1,
  tf32 = 2,  // 1/8/10 in 32 bits, the low 13 zero
  hf32 = 3,  // 1/8/11 in 32 bits, the low 12 zero
  fp16 = 4,
  bf16 = 5,
  hif8 = 6,
  e4m3 = 7,     // no infinity, NaN S.1111.111, up to 448
  e5m2 = 8,     // up to 57344
  e3m2 = 9,     // 6 bits in 8, bias 3, up to 28
  e2m3 = 10,    // 6 bits in 8, bias 1, up to 7.5
  e2m1x2 = 11,  // 0 0.5 1 1.5 2 3 4 6
  e1m2x2 = 12,  // 0 to 1.75 by quarters
  e8m0 = 13,    // 2^(code-127), 0xff NaN: scales of the MX forms
  hif4x2 = 14,  // MX forms only
  s64 = 16,
  s32 = 17,
  s16 = 18,
  s8 = 19,
  s4x2 = 20,
  u64 = 24,
  u32 = 25,
  u16 = 26,
  u8 = 27,
  u4x2 = 28,
};

// Whether `code` (5 bits) names a type; 15, 21-23, 29-31 are reserved.
constexpr bool is_assigned(unsigned code) { return code <= 28 && code != 15 && !(code >= 21 && code <= 23); }

// Bits of one element in a tile. The X2 types hold two elements a byte, element 2i in bits 3:0.
constexpr unsigned bits(DataType type) {
  switch (type) {
    case DataType::fp64:
    case DataType::s64:
    case DataType::u64:
      return 64;
    case DataType::fp32:
    case DataType::tf32:
    case DataType::hf32:
    case DataType::s32:
    case DataType::u32:
      return 32;
    case DataType::fp16:
    case DataType::bf16:
    case DataType::s16:
    case DataType::u16:
      return 16;
    case DataType::e2m1x2:
    case DataType::e1m2x2:
    case DataType::hif4x2:
    case DataType::s4x2:
    case DataType::u4x2:
      return 4;
    default:
      return 8;
  }
}

enum class NumericClass : std::uint8_t { floating, signed_integer, unsigned_integer };

constexpr NumericClass numeric_class(DataType type) {
  const auto code = static_cast<unsigned>(type);
  if (code < 16) return NumericClass::floating;
  return code < 24 ? NumericClass::signed_integer : NumericClass::unsigned_integer;
}

// Whether the ordinary (not MX) matrix instructions take it as A or B.
constexpr bool is_ordinary(DataType type) {
  switch (type) {
    case DataType::fp64:
    case DataType::e8m0:
    case DataType::hif4x2:
    case DataType::s64:
    case DataType::s32:
    case DataType::u64:
    case DataType::u32:
      return false;
    default:
      return true;
  }
}

// In which sums of products of the class are kept.
constexpr DataType accumulator_of(NumericClass c) {
  switch (c) {
    case NumericClass::floating:
      return DataType::fp32;
    case NumericClass::signed_integer:
      return DataType::s32;
    default:
      return DataType::u32;
  }
}

// "FP16", "E2M1X2", ...: as assembly text names it.
constexpr std::string_view name(DataType type) {
  switch (type) {
    case DataType::fp64:
      return "FP64";
    case DataType::fp32:
      return "FP32";
    case DataType::tf32:
      return "TF32";
    case DataType::hf32:
      return "HF32";
    case DataType::fp16:
      return "FP16";
    case DataType::bf16:
      return "BF16";
    case DataType::hif8:
      return "HIF8";
    case DataType::e4m3:
      return "E4M3";
    case DataType::e5m2:
      return "E5M2";
    case DataType::e3m2:
      return "E3M2";
    case DataType::e2m3:
      return "E2M3";
    case DataType::e2m1x2:
      return "E2M1X2";
    case DataType::e1m2x2:
      return "E1M2X2";
    case DataType::e8m0:
      return "E8M0";
    case DataType::hif4x2:
      return "HIF4X2";
    case DataType::s64:
      return "S64";
    case DataType::s32:
      return "S32";
    case DataType::s16:
      return "S16";
    case DataType::s8:
      return "S8";
    case DataType::s4x2:
      return "S4X2";
    case DataType::u64:
      return "U64";
    case DataType::u32:
      return "U32";
    case DataType::u16:
      return "U16";
    case DataType::u8:
      return "U8";
    case DataType::u4x2:
      return "U4X2";
  }
  return "?";
}

}  // namespace tilevp::cube
