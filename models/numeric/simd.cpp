#include "tilevp/numeric/simd.hpp"

#include <cstdlib>
#include <optional>
#include <string>

#include "tilevp/base/errors.hpp"

namespace tilevp::numeric {
namespace {

void require_supported(SimdLevel level, std::string_view where) {
  if (!simd_supported(level))
    throw UserError(where, "this processor or build has no '" + std::string(name(level)) + "' path, widest is '" +
                               std::string(name(simd_supported(SimdLevel::avx2) ? SimdLevel::avx2 : SimdLevel::sse2)) +
                               "'");
}

SimdLevel level_of_environment() {
  if (const char* text = std::getenv("TILEVP_SIMD"); text != nullptr && *text != '\0') {
    const SimdLevel level = parse_simd_level(text);
    require_supported(level, "TILEVP_SIMD");
    return level;
  }
  SimdLevel widest = SimdLevel::scalar;
  for (const SimdLevel level : all_simd_levels)
    if (simd_supported(level)) widest = level;
  return widest;
}

std::optional<SimdLevel>& chosen_level() {
  static std::optional<SimdLevel> chosen;
  return chosen;
}

}  // namespace

std::string_view name(SimdLevel level) {
  constexpr std::string_view names[] = {"scalar", "sse2", "avx2", "avx512"};
  return names[static_cast<std::size_t>(level)];
}

SimdLevel parse_simd_level(std::string_view text) {
  std::string known;
  for (const SimdLevel level : all_simd_levels) {
    if (name(level) == text) return level;
    known += (known.empty() ? "" : ", ") + std::string(name(level));
  }
  throw UserError("TILEVP_SIMD", "unknown instruction set '" + std::string(text) + "', expected one of " + known);
}

bool simd_supported(SimdLevel level) {
  switch (level) {
    case SimdLevel::scalar:
    case SimdLevel::sse2:  // 128-bit vectors: SSE2 on x86-64, NEON or plain code elsewhere
      return true;
#ifdef TILEVP_X86_KERNELS
    case SimdLevel::avx2:
      return __builtin_cpu_supports("avx2") != 0;
    case SimdLevel::avx512:
      return __builtin_cpu_supports("avx512f") != 0;
#else
    case SimdLevel::avx2:
    case SimdLevel::avx512:
      return false;
#endif
  }
  return false;
}

SimdLevel simd_level() {
  if (const auto& chosen = chosen_level()) return *chosen;
  static const SimdLevel from_environment = level_of_environment();
  return from_environment;
}

void set_simd_level(SimdLevel level) {
  require_supported(level, "set_simd_level");
  chosen_level() = level;
}

}  // namespace tilevp::numeric
