#pragma once
// Which instruction set the tile multiply uses. It changes speed only: every level gives the same bits.
#include <cstdint>
#include <string_view>

namespace tilevp::numeric {

enum class SimdLevel : std::uint8_t { scalar, sse2, avx2, avx512 };

inline constexpr SimdLevel all_simd_levels[] = {SimdLevel::scalar, SimdLevel::sse2, SimdLevel::avx2, SimdLevel::avx512};

// "scalar", "sse2", "avx2", "avx512".
std::string_view name(SimdLevel level);

// The inverse of name(). Throws UserError with the known names.
SimdLevel parse_simd_level(std::string_view text);

// Whether this program has that path and this processor can run it.
bool simd_supported(SimdLevel level);

// The level in use: what set_simd_level chose, else the environment variable TILEVP_SIMD, else the widest supported
// one. Throws UserError where TILEVP_SIMD is unknown or not supported here.
SimdLevel simd_level();

// Chooses the level of operands packed from now on. Throws UserError if it is not supported here. Not for use while
// another thread packs.
void set_simd_level(SimdLevel level);

}  // namespace tilevp::numeric
