#pragma once
// What becomes of a sum on its way into D: PreQuant, ReLU, conversion, flags (PTO-ISA/pto-spec,
// asl/arch/profile/matrix-postprocess.asl and matrix-quantization.asl).
//
//   multiplier = scale, or 1 where the mode has none; of a negative sum 0 (ReLU 1) or the slope (ReLU 2, 3), which
//   takes
//                the scale's place
//   v          = P * multiplier, exactly: 24 or 32 bits times 11 fit into a double
//   modes with an offset: v rounded, clamped to the offset's width, plus the offset
//   D          = v rounded once to D's type
//   shift modes: (P >> shift) clamped to 16 bits and nothing else
#include <cstdint>

#include "tilevp/cube/matrix_operation.hpp"
#include "tilevp/cube/prequant.hpp"
#include "tilevp/numeric/narrow_float.hpp"

namespace tilevp::cube {

struct Processed {
  std::uint32_t code = 0;  // of D's type, right-aligned; bits above are undefined
  std::uint8_t flags = 0;
};

class PostProcess {
 public:
  explicit PostProcess(const MatrixOperation& operation);

  // Whether D is the sum, bit by bit, and no flag is raised.
  bool passes() const { return mode_.code == 0 && relu_ == 0; }

  // `sum`: bits of the accumulator's type. Words: of the column; not looked at where mode and ReLU have none.
  Processed operator()(std::uint32_t sum, std::uint64_t quant_word, std::uint64_t slope_word) const;

 private:
  Processed to_integer_type(double value, std::uint64_t quant_word) const;
  Processed encode_integer(double rounded, double value, std::uint8_t flags) const;
  Processed to_float_type(double value) const;
  Processed special(std::uint32_t sum) const;
  Processed shifted(std::uint32_t sum, std::uint64_t quant_word) const;

  PreQuantMode mode_;
  unsigned relu_;
  DataType source_;
  DataType target_;
  numeric::FloatFormat format_;  // of target_, where that is floating
  numeric::Rounding rounding_;
  bool saturate_;
};

}  // namespace tilevp::cube
