#pragma once
// RowMax and GroupMax: maxima of sums before any post-processing (PTO-ISA/pto-spec 0.58.4,
// asl/arch/profile/matrix-postprocess.asl). A number wins over NaN, two NaN give the canonical one, +0 over -0.
#include <cstdint>

#include "tilevp/cube/data_type.hpp"

namespace tilevp::cube {

// A running maximum over values of an accumulator type, as bits.
class Maximum {
 public:
  // `absolute`: of magnitudes. |-2^31| is 2^31 - 1 and raises overflow.
  Maximum(DataType type, bool absolute, std::uint32_t first);

  void fold(std::uint32_t value);

  std::uint32_t bits() const { return value_; }
  // Invalid for a signaling NaN; overflow.
  std::uint8_t flags() const { return flags_; }

 private:
  std::uint32_t magnitude(std::uint32_t value);
  std::uint32_t larger_float(std::uint32_t a, std::uint32_t b);

  DataType type_;
  bool absolute_;
  std::uint32_t value_;
  std::uint8_t flags_ = 0;
};

}  // namespace tilevp::cube
