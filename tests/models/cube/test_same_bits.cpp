// The bits do not depend on the optimisation level or the vector width.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "models/cube/bits_report.hpp"
#include "tilevp/numeric/simd.hpp"

namespace tilevp::cube {
namespace {

// Standard output of a program that must succeed.
std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot start " + command;
  std::string text;
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) text += line.data();
  return pclose(pipe) == 0 ? text : command + " failed after: " + text;
}

TEST(CubeSameBits, AtO0AndO3OnEveryLevel) {
  numeric::set_simd_level(numeric::SimdLevel::scalar);
  const std::string expected = testing::bits_line();
  for (const numeric::SimdLevel level : numeric::all_simd_levels) {
    if (!numeric::simd_supported(level)) continue;
    for (const char* program : {TILEVP_BITS_O0, TILEVP_BITS_O3})
      EXPECT_EQ(output_of("TILEVP_SIMD=" + std::string(name(level)) + " " + program), expected)
          << name(level) << " of " << program;
    numeric::set_simd_level(level);
    EXPECT_EQ(testing::bits_line(), expected) << name(level);
  }
}

}  // namespace
}  // namespace tilevp::cube
