// All 2^32 fp32 values against the oracle: minutes, so off unless TILEVP_LONG_TESTS=1 (ctest -L long).
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

#include "models/numeric/float_oracle.hpp"
#include "tilevp/numeric/convert.hpp"

namespace tilevp::numeric {
namespace {

using testing::bf16_oracle;
using testing::FloatOracle;
using testing::fp16_oracle;
using testing::narrow_by;
using testing::tf32_oracle;

void check_all(const FloatOracle& oracle, Rounding rounding, std::uint64_t step) {
  const char* asked = std::getenv("TILEVP_LONG_TESTS");
  if (asked == nullptr || std::string(asked) != "1") GTEST_SKIP() << "set TILEVP_LONG_TESTS=1 to run all 2^32 values";
  const bool bulk = rounding == Rounding::rne && &oracle != &tf32_oracle();
  for (std::uint64_t bits = 0; bits < (1ULL << 32); bits += step) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(value)) continue;
    const std::uint32_t expected = oracle.round(static_cast<double>(value), rounding, false);
    ASSERT_EQ(narrow_by(oracle, value, rounding, Overflow::ieee), expected) << name(rounding) << " of " << bits;
    if (!bulk) continue;
    std::array<std::byte, 2> out{};
    (&oracle == &bf16_oracle() ? narrow_bf16 : narrow_fp16)(&value, 1, out.data(), 1);
    ASSERT_EQ(std::bit_cast<std::uint16_t>(out), expected) << "bulk, of " << bits;
  }
}

TEST(LongNarrow, AllBf16Rne) { check_all(bf16_oracle(), Rounding::rne, 1); }
TEST(LongNarrow, AllFp16Rne) { check_all(fp16_oracle(), Rounding::rne, 1); }
TEST(LongNarrow, OtherModesStrided) {
  for (const Rounding rounding : all_roundings)
    for (const FloatOracle* oracle : {&bf16_oracle(), &fp16_oracle(), &tf32_oracle()})
      check_all(*oracle, rounding, 4099);
}

}  // namespace
}  // namespace tilevp::numeric
