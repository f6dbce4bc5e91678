#include "tilevp/cube/reductions.hpp"

#include <algorithm>
#include <bit>

#include "tilevp/cube/isa.hpp"
#include "tilevp/numeric/rounding.hpp"

namespace tilevp::cube {
namespace {

bool is_nan(std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }
bool is_signaling(std::uint32_t bits) { return is_nan(bits) && (bits & 0x400000) == 0; }

}  // namespace

Maximum::Maximum(DataType type, bool absolute, std::uint32_t first)
    : type_(type), absolute_(absolute), value_(absolute ? magnitude(first) : first) {}

void Maximum::fold(std::uint32_t value) {
  const std::uint32_t next = absolute_ ? magnitude(value) : value;
  if (type_ == DataType::fp32)
    value_ = larger_float(value_, next);
  else if (type_ == DataType::u32)
    value_ = std::max(value_, next);
  else
    value_ = static_cast<std::uint32_t>(std::max(static_cast<std::int32_t>(value_), static_cast<std::int32_t>(next)));
}

std::uint32_t Maximum::magnitude(std::uint32_t value) {
  if (type_ == DataType::u32) return value;
  if (type_ == DataType::s32) {
    if (value == 0x80000000) flags_ |= flag_overflow;
    return value == 0x80000000 ? 0x7fffffff : value >> 31 != 0 ? 0 - value : value;
  }
  if (is_signaling(value)) flags_ |= flag_invalid;
  return is_nan(value) ? numeric::canonical_nan_fp32 : value & 0x7fffffff;
}

std::uint32_t Maximum::larger_float(std::uint32_t a, std::uint32_t b) {
  if (is_signaling(a) || is_signaling(b)) flags_ |= flag_invalid;
  if (is_nan(a)) return is_nan(b) ? numeric::canonical_nan_fp32 : b;
  if (is_nan(b)) return a;
  const float x = std::bit_cast<float>(a);
  const float y = std::bit_cast<float>(b);
  if (x == y) return a & b;  // the same, but for zeros: +0 where either is
  return x > y ? a : b;
}

}  // namespace tilevp::cube
