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

constexpr std::uint64_t all = 1ULL << 32;

void check_all(const FloatOracle& oracle, Rounding rounding, std::uint64_t first, std::uint64_t end,
               std::uint64_t step) {
  const bool bulk = rounding == Rounding::rne && &oracle != &tf32_oracle();
  for (std::uint64_t bits = first; bits < end; bits += step) {
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

// The parameter is one of eight equal parts of the fp32 codes, so that each test stays far below ctest's time limit.
class AllValues : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    const char* asked = std::getenv("TILEVP_LONG_TESTS");
    if (asked == nullptr || std::string(asked) != "1") GTEST_SKIP() << "set TILEVP_LONG_TESTS=1 to run all 2^32 values";
  }
  void check_part(const FloatOracle& oracle, Rounding rounding, std::uint64_t step) {
    check_all(oracle, rounding, GetParam() * (all / 8), (GetParam() + 1) * (all / 8), step);
  }
};

TEST_P(AllValues, Bf16Rne) { check_part(bf16_oracle(), Rounding::rne, 1); }
TEST_P(AllValues, Fp16Rne) { check_part(fp16_oracle(), Rounding::rne, 1); }
TEST_P(AllValues, OtherModesStrided) {
  for (const Rounding rounding : all_roundings)
    for (const FloatOracle* oracle : {&bf16_oracle(), &fp16_oracle(), &tf32_oracle()})
      check_part(*oracle, rounding, 4099);
}

INSTANTIATE_TEST_SUITE_P(Long, AllValues, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace tilevp::numeric
