#include "tilevp/cube/postprocess.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tilevp/base/errors.hpp"

namespace tilevp::cube {
namespace {

using numeric::FloatFormat;

constexpr std::uint8_t no_flags = 0;
constexpr std::uint8_t invalid = flag_invalid;
constexpr std::uint8_t inexact = flag_inexact;
constexpr std::uint8_t clamped = flag_overflow | flag_inexact;

double fp19_value(std::uint64_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0x7ffff) << 13));
}

// Two's complement of `width` bits.
std::int32_t signed_field(std::uint64_t word, unsigned shift, unsigned width) {
  if (width == 0) return 0;
  const std::uint64_t field = word >> shift & ((std::uint64_t{1} << width) - 1);
  const auto half = std::int64_t{1} << (width - 1);
  return static_cast<std::int32_t>((static_cast<std::int64_t>(field) ^ half) - half);
}

double smallest(DataType type) {
  return numeric_class(type) == NumericClass::unsigned_integer ? 0.0
                                                               : -std::ldexp(1.0, static_cast<int>(bits(type)) - 1);
}
double largest(DataType type) {
  const bool is_unsigned = numeric_class(type) == NumericClass::unsigned_integer;
  return std::ldexp(1.0, static_cast<int>(bits(type)) - (is_unsigned ? 0 : 1)) - 1.0;
}

// The low 32 bits of an integer of any size.
std::uint32_t low_bits(double integer) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::fmod(integer, 0x1p32)));  // fmod is exact
}

double sum_value(DataType type, std::uint32_t sum) {
  switch (type) {
    case DataType::s32:
      return static_cast<double>(static_cast<std::int32_t>(sum));
    case DataType::u32:
      return static_cast<double>(sum);
    default:
      return static_cast<double>(std::bit_cast<float>(sum));
  }
}

FloatFormat result_format(DataType type) {
  switch (type) {
    case DataType::fp32:
      return FloatFormat::fp32;
    case DataType::fp16:
      return FloatFormat::fp16;
    case DataType::bf16:
      return FloatFormat::bf16;
    case DataType::e4m3:
      return FloatFormat::e4m3;
    case DataType::hif8:
      return FloatFormat::hif8;
    default:
      throw Defect("no matrix result is of type " + std::string(name(type)));
  }
}

const PreQuantMode& mode_of(const MatrixOperation& operation) {
  const PreQuantMode* mode = find_prequant(operation.post.prequant);
  if (mode == nullptr) throw Defect("PreQuantMode " + std::to_string(operation.post.prequant) + " is reserved");
  return *mode;
}

numeric::Rounding rounding_of(const PreQuantMode& mode, numeric::Rounding programmed) {
  if (mode.rounding == ModeRounding::rne) return numeric::Rounding::rne;
  return mode.rounding == ModeRounding::rhb ? numeric::Rounding::rhb : programmed;
}

}  // namespace

PostProcess::PostProcess(const MatrixOperation& operation)
    : mode_(mode_of(operation)),
      relu_(operation.post.relu),
      source_(operation.accumulator),
      target_(operation.d_type),
      format_(numeric_class(target_) == NumericClass::floating ? result_format(target_) : FloatFormat::fp32),
      rounding_(rounding_of(mode_, operation.rounding)),
      saturate_(operation.saturate) {}

Processed PostProcess::operator()(std::uint32_t sum, std::uint64_t quant_word, std::uint64_t slope_word) const {
  if (passes()) return {sum, 0};
  if (mode_.shift) return shifted(sum, quant_word);
  double value = sum_value(source_, sum);
  // -0 counts as negative, NaN does not.
  const bool negative = std::signbit(value) && value == value;
  double multiplier = mode_.parameter == Parameter::none ? 1.0 : fp19_value(quant_word >> scale_shift);
  if (negative && relu_ != 0) multiplier = relu_ == 1 ? 0.0 : fp19_value(slope_word);
  if (!std::isfinite(value)) {
    if (!negative || multiplier != 0.0) return special(sum);
    value = 0.0;  // -infinity that ReLU has cut off
  }
  const double product = multiplier == 0.0 ? 0.0 : value * multiplier;  // never -0 of a cut-off sum
  if (numeric_class(target_) == NumericClass::floating) return to_float_type(product);
  return to_integer_type(product, quant_word);
}

Processed PostProcess::to_integer_type(double value, std::uint64_t quant_word) const {
  const double rounded = numeric::to_integer(value, rounding_);
  if (mode_.offset_bits == 0) return encode_integer(rounded, value, 0);
  const double limit = std::ldexp(1.0, mode_.offset_bits - 1);
  const double intermediate = std::clamp(rounded, -limit, limit - 1.0);
  const std::uint8_t flags = intermediate != rounded ? clamped : rounded != value ? inexact : no_flags;
  const double shifted_value = intermediate + signed_field(quant_word, offset_shift, mode_.offset_bits);
  return encode_integer(shifted_value, shifted_value, flags);
}

Processed PostProcess::encode_integer(double rounded, double value, std::uint8_t flags) const {
  const double kept = std::clamp(rounded, smallest(target_), largest(target_));
  if (kept != rounded) flags |= clamped;
  if (rounded != value) flags |= inexact;
  return {low_bits(saturate_ ? kept : rounded), flags};
}

Processed PostProcess::to_float_type(double value) const {
  const auto result =
      numeric::encode(format_, value, rounding_, saturate_ ? numeric::Overflow::saturate : numeric::Overflow::infinite);
  std::uint8_t flags = 0;
  if (result.inexact) flags |= inexact;
  if (result.overflow) flags |= flag_overflow;
  if (result.underflow) flags |= flag_underflow;
  // E4M3 that underflows to zero is +0: the code of +0 is the first nearest candidate.
  const bool lost = target_ == DataType::e4m3 && result.underflow && result.code == 0x80;
  return {lost ? 0 : result.code, flags};
}

// Infinity and NaN of an fp32 sum.
Processed PostProcess::special(std::uint32_t sum) const {
  const float value = std::bit_cast<float>(sum);
  if (numeric_class(target_) != NumericClass::floating) {
    const std::uint32_t minimum = low_bits(smallest(target_));
    if (value != value) return {saturate_ ? 0 : minimum, invalid};
    if (!saturate_) return {minimum, invalid};
    return {value < 0 ? minimum : low_bits(largest(target_)), clamped};
  }
  const auto overflow = saturate_ ? numeric::Overflow::saturate : numeric::Overflow::infinite;
  const std::uint32_t code = numeric::encode(format_, static_cast<double>(value), rounding_, overflow).code;
  if (value != value) {
    const bool signaling = (sum & 0x400000) == 0;
    return {saturate_ ? 0 : code, signaling ? invalid : no_flags};
  }
  const bool lost = saturate_ || target_ == DataType::e4m3;
  return {code, lost ? clamped : no_flags};
}

Processed PostProcess::shifted(std::uint32_t sum, std::uint64_t quant_word) const {
  const auto places = static_cast<int>(quant_word >> shift_shift & 0xf) + 1;
  const std::int32_t value = static_cast<std::int32_t>(sum) >> places;
  const std::int32_t kept = std::clamp(value, -32768, 32767);
  return {static_cast<std::uint32_t>(kept), kept != value ? clamped : no_flags};
}

}  // namespace tilevp::cube
