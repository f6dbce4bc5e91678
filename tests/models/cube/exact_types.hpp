#pragma once
// What the oracle's sources share: numbers of the types and flags, comparison.
#include "models/cube/exact_oracle.hpp"

namespace oracle {

constexpr int fp32 = 1, tf32 = 2, hf32 = 3, fp16 = 4, bf16 = 5, hif8 = 6, e4m3 = 7, e5m2 = 8, e3m2 = 9, e2m3 = 10,
              e2m1 = 11, e1m2 = 12, s32 = 17, s16 = 18, s8 = 19, s4 = 20, u32 = 25, u16 = 26, u8 = 27, u4 = 28;
constexpr unsigned nv = 1, of = 4, uf = 8, nx = 16;

inline Integer power(int exponent) { return Integer(1) << static_cast<unsigned>(exponent); }

inline bool less(const Integer& a, int ae, const Integer& b, int be) {
  const int low = std::min(ae, be);
  return (a << static_cast<unsigned>(ae - low)) < (b << static_cast<unsigned>(be - low));
}

inline int width_of(int type) {
  switch (type) {
    case s32:
    case u32:
      return 32;
    case s16:
    case u16:
      return 16;
    case s8:
    case u8:
      return 8;
    default:
      return 4;
  }
}
inline bool is_signed(int type) { return type >= 16 && type < 24; }

}  // namespace oracle
