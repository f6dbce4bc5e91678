#pragma once
// Two tensors held against each other: `tilevp compare A B`, and `--check` of a run.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilevp/runtime/program.hpp"
#include "tilevp/runtime/tensor.hpp"

namespace tilevp::runtime {

struct Comparison {
  struct First {
    std::vector<std::size_t> index{};  // in the tensor's own axes
    double got = 0;
    double expected = 0;
    std::uint64_t ulp = 0;
  };
  CheckRequest criterion{};
  std::uint64_t compared = 0;
  std::uint64_t mismatches = 0;  // beyond the criterion
  double max_abs_error = 0;      // over elements that are finite on both sides
  std::uint64_t max_ulp = 0;     // over elements that are a number on both sides
  std::uint64_t nan_on_one_side = 0;
  std::uint64_t signs_of_zero = 0;  // +0 against -0: no mismatch, but not the same bits
  std::optional<First> first{};     // mismatch, in row-major order
  // histogram[0]: equal; histogram[k]: 2^(k-1) <= ulp < 2^k.
  std::array<std::uint64_t, 65> histogram{};
};

// Compares element by element.
//
// An ulp is one step of the element type: neighbouring floats are 1 apart, -0 and +0 are 0 apart, integers differ by
// their difference. `format` sets another type to step in: bf16 for f4 elements that hold bf16 values. NaN equals NaN
// and nothing else. Criterion: exact is 0 ulp; ulp N at most N; tolerance R is |got - expected| <= R * the largest
// finite |expected| of the tensor. Two float types are compared in the narrower one, the wider rounded to nearest even.
// UserError(where) for shapes that differ and for a float against an integer type.
Comparison compare(const Tensor& got, const Tensor& expected, const CheckRequest& criterion, const std::string& where,
                   std::optional<numeric::DType> format = std::nullopt);

// As the report has it.
Verification verification_of(const Comparison& comparison);

// What a person reads: the verdict, the largest differences, the first one, the histogram. No final newline.
std::string text_of(const Comparison& comparison);

}  // namespace tilevp::runtime
