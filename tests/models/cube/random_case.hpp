#pragma once
// Random matrix bundles of a given kind, and the oracle's answer to them.
#include <random>
#include <span>
#include <string>

#include "models/cube/exact_oracle.hpp"
#include "models/cube/stored_tiles.hpp"
#include "tilevp/cube/prequant.hpp"

namespace tilevp::cube::testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(engine_() % bound); }
  std::uint32_t between(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

struct Kind {
  Operation operation = Operation::tgemv;
  DataType a = DataType::fp32, b = DataType::fp32;
  const PreQuantMode* mode = nullptr;
  Layout layout = Layout::cube_m16;
};

struct Shape {
  std::uint32_t m = 1, n = 1, k = 1;
};

// Codes of a type: mostly of moderate size, so that sums neither vanish nor overflow; a wild one is any code.
std::uint32_t random_code(Random& random, DataType type, bool wild);
// A bundle of that kind with everything else at random, as the preflight would let it pass.
MatrixCase random_case(Random& random, const Kind& kind, const Shape& shape);

// Runs it and compares D, RowMax, GroupMax, flags and D's padding with the oracle's. Empty, or what differs.
std::string difference_from_oracle(MatrixCase& test);

std::string describe(const MatrixCase& test);

}  // namespace tilevp::cube::testing
