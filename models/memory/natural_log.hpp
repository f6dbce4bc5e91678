#pragma once
// ln(x) from IEEE additions, multiplications and one division only, so that it has the same bits on every host; the C
// library's log does not promise that.
#include <bit>
#include <cstdint>

namespace tilevp::memory {

// For finite normal x > 0. Relative error below 1e-15 (tested against long double) away from 1, absolute below 1e-16
// near it.
constexpr double natural_log(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.1716.
  auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  bits = (bits & 0x000f'ffff'ffff'ffff) | 0x3ff0'0000'0000'0000;
  double m = std::bit_cast<double>(bits);
  constexpr double square_root_of_2 = 0x1.6a09e667f3bcdp+0;
  if (m >= square_root_of_2) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  // atanh(s)/s - 1 = z/3 + z^2/5 + ...; z <= 0.0295, so the terms left out are below 1e-20.
  double tail = 0.0;
  for (int k = 12; k >= 1; --k) tail = tail * z + 1.0 / (2 * k + 1);
  const double ln_m = 2.0 * (s + s * (z * tail));
  // ln 2 in two parts, the first with trailing zeros so that its product with the exponent is exact (fdlibm's split).
  constexpr double ln2_high = 0x1.62e42feep-1;
  constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  return exponent * ln2_high + (ln_m + exponent * ln2_low);
}

}  // namespace tilevp::memory
