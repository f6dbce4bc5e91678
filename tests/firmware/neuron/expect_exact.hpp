#pragma once
// Random convolutions on the reference machine, exactly the definition.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "firmware/neuron/conv_case.hpp"

namespace tilevp::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  long in(long low, long high) {
    return low + static_cast<long>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool once_in(long n) { return in(1, n) == 1; }

 private:
  std::mt19937_64 random_;
};

// How many random shapes a kind of convolution gets: few under ASan; TILEVP_LONG_TESTS=1: 20,000.
inline int random_shapes() {
  const char* asked = std::getenv("TILEVP_LONG_TESTS");
#ifdef __SANITIZE_ADDRESS__
  constexpr int shapes = 100;
#else
  constexpr int shapes = 2'000;
#endif
  return asked != nullptr && std::string(asked) == "1" ? 20'000 : shapes;
}

// Clips padding and filter so that there is an output.
inline void make_legal(ConvShape& s) {
  while (s.H + s.pt + s.pb < (s.Hf - 1) * s.dh + 1) ++(s.pt < 0 ? s.pt : s.pb < 0 ? s.pb : s.H);
  while (s.W + s.pl + s.pr < (s.Wf - 1) * s.dw + 1) ++(s.pl < 0 ? s.pl : s.pr < 0 ? s.pr : s.W);
}

// Every element is right, and the machine counted what the plan predicted.
inline void expect_exact(const ConvCase& test_case, std::string_view variant) {
  const std::string text = test_case.text() + " by " + std::string(variant);
  ConvOutcome outcome;
  try {
    outcome = run_case(test_case, variant);
  } catch (const std::exception& error) {
    FAIL() << error.what() << " in " << text;
  }
  EXPECT_EQ(outcome.wrong, 0u) << text;
  const auto equal = [](std::uint64_t counted, std::int64_t predicted) {
    return counted == static_cast<std::uint64_t>(predicted);
  };
  EXPECT_TRUE(equal(outcome.matmuls, outcome.predicted.matmuls)) << text;
  EXPECT_TRUE(equal(outcome.macs, outcome.predicted.macs)) << text;
  EXPECT_TRUE(equal(outcome.image_bytes, outcome.predicted.image_bytes)) << text;
  EXPECT_TRUE(equal(outcome.filter_bytes, outcome.predicted.filter_bytes)) << text;
  const auto transposes = [&](const char* figure) {
    const auto* all = outcome.figures.if_contains("transposes");
    return all == nullptr ? 0 : all->at(figure).to_number<std::int64_t>();
  };
  // The reference machine counts the cycles of matmuls alone.
  EXPECT_TRUE(equal(outcome.pe_cycles, outcome.predicted.pe_cycles - transposes("pe_cycles"))) << text;
  EXPECT_TRUE(equal(outcome.transposes, transposes("on_pe") + transposes("on_vector"))) << text;
  // Copies inside SBUF trim columns that nothing reads.
  const bool trims = std::min(test_case.shape.pl, test_case.shape.pr) < 0;
  EXPECT_TRUE(trims || equal(outcome.local_bytes, transposes("dma_bytes"))) << text;
}

inline void expect_exact(const ConvCase& test_case) {
  using neuron::conv2d::Variant;
  expect_exact(test_case, test_case.variant == Variant::standard ? "default" : "stride");
}

}  // namespace tilevp::test
