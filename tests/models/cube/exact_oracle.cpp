#include "models/cube/exact_types.hpp"

#include <map>
#include <optional>

namespace oracle {
namespace {

bool is_floating(int type) { return type < 16; }

std::uint32_t canonical_nan(int type) {
  switch (type) {
    case fp16:
      return 0x7e00;
    case bf16:
      return 0x7fc0;
    case hif8:
      return 0x80;
    case e4m3:
      return 0x7f;
    default:
      return 0x7fc00000;
  }
}
std::uint32_t infinity_of(int type, bool negative) {
  switch (type) {
    case fp16:
      return negative ? 0xfc00 : 0x7c00;
    case bf16:
      return negative ? 0xff80 : 0x7f80;
    case hif8:
      return negative ? 0xef : 0x6f;
    case e4m3:
      return 0x7f;
    default:
      return negative ? 0xff800000 : 0x7f800000;
  }
}
std::uint32_t largest_of(int type, bool negative) {
  switch (type) {
    case fp16:
      return negative ? 0xfbff : 0x7bff;
    case bf16:
      return negative ? 0xff7f : 0x7f7f;
    case hif8:
      return negative ? 0xee : 0x6e;
    case e4m3:
      return negative ? 0xfe : 0x7e;
    default:
      return negative ? 0xff7fffff : 0x7f7fffff;
  }
}

struct Number {
  Integer n;
  int e;
};
Number exact_sum(const Value& a, const Value& b) {
  const int low = std::min(a.e, b.e);
  return {(a.n << static_cast<unsigned>(a.e - low)) + (b.n << static_cast<unsigned>(b.e - low)), low};
}
Value as_value(const Result& result) { return decode(fp32, result.code); }

// IEEE 754: what a sum or product of something that is no finite number is. Empty: all is finite.
std::optional<Value> special_product(const Value& a, const Value& b) {
  if (a.is_nan() || b.is_nan()) return Value{Value::Kind::quiet_nan};
  if (a.kind == Value::Kind::finite && b.kind == Value::Kind::finite) return std::nullopt;
  const bool zero = (a.kind == Value::Kind::finite && a.n == 0) || (b.kind == Value::Kind::finite && b.n == 0);
  if (zero) return Value{Value::Kind::quiet_nan};
  return Value{Value::Kind::infinite, a.negative != b.negative};
}
std::optional<Value> special_sum(const Value& a, const Value& b) {
  if (a.is_nan() || b.is_nan()) return Value{Value::Kind::quiet_nan};
  if (a.kind == Value::Kind::infinite && b.kind == Value::Kind::infinite)
    return a.negative == b.negative ? a : Value{Value::Kind::quiet_nan};
  if (a.kind == Value::Kind::infinite) return a;
  if (b.kind == Value::Kind::infinite) return b;
  return std::nullopt;
}
std::uint32_t special_code(const Value& value) {
  return value.is_nan() ? canonical_nan(fp32) : infinity_of(fp32, value.negative);
}

Value rounded_sum(const Value& a, const Value& b, int rmode, bool saturate) {
  if (const auto special = special_sum(a, b)) return *special;
  const Number sum = exact_sum(a, b);
  return as_value(encode(fp32, sum.n, sum.e, rmode, saturate));
}

std::uint32_t code_of(const Value& value) {
  if (value.kind != Value::Kind::finite) return special_code(value);
  return encode(fp32, value.n, value.e, 1, false).code;
}

// FP19: the upper 19 bits of an FP32.
Value fp19(std::uint64_t bits) { return decode(fp32, static_cast<std::uint32_t>(bits & 0x7ffff) << 13); }

struct Mode {
  int d, offset;
  char kind;      // n none, s scale, h shift
  int fixed = 0;  // RMode that is forced
};
const std::map<int, Mode>& modes() {
  static const std::map<int, Mode> table{
      {0, {0, 0, 'n'}},        {1, {fp16, 0, 'n', 1}},  {2, {s8, 9, 's'}},       {3, {s8, 9, 's'}},
      {4, {fp16, 0, 's'}},     {5, {fp16, 0, 's'}},     {12, {s16, 0, 'h'}},     {13, {s16, 0, 'h'}},
      {16, {bf16, 0, 'n', 1}}, {17, {s4, 5, 's'}},      {18, {s4, 5, 's'}},      {19, {s16, 17, 's'}},
      {20, {s16, 17, 's'}},    {23, {s8, 9, 's'}},      {24, {s8, 9, 's'}},      {25, {hif8, 0, 's', 7}},
      {26, {e4m3, 0, 's', 1}}, {27, {fp32, 0, 's'}},    {28, {hif8, 0, 's', 7}}, {32, {fp16, 0, 's', 1}},
      {33, {fp16, 0, 's', 1}}, {34, {bf16, 0, 's', 1}}, {35, {bf16, 0, 's'}},    {36, {bf16, 0, 's', 1}},
      {37, {e4m3, 0, 's', 1}}, {38, {fp32, 0, 's'}},    {39, {bf16, 0, 's'}}};
  return table;
}

Integer signed_bits(std::uint64_t word, int low, int width) {
  const Integer field = word >> low & ((std::uint64_t{1} << width) - 1);
  return field >= power(width - 1) ? Integer(field - power(width)) : field;
}

// An FP32 sum that is no number.
Result special_result(int target, const Value& value, bool saturate) {
  if (!is_floating(target)) {
    const std::uint32_t minimum = 1U << (width_of(target) - 1);
    if (value.is_nan()) return {saturate ? 0 : minimum, nv};
    if (!saturate) return {minimum, nv};
    return {value.negative ? minimum : minimum - 1, of | nx};
  }
  if (value.is_nan()) return {saturate ? 0 : canonical_nan(target), value.kind == Value::Kind::signaling_nan ? nv : 0};
  if (saturate) return {largest_of(target, value.negative), of | nx};
  return {infinity_of(target, value.negative), target == e4m3 ? of | nx : 0};
}

}  // namespace

Result scale_c(std::uint32_t code, unsigned scale) {
  const Value c = decode(fp32, code);
  if (c.kind != Value::Kind::finite || c.n == 0) return {code, 0};
  return encode(fp32, c.n, c.e - static_cast<int>(scale), 1, false);
}

std::uint32_t add_products(const Sum& sum, std::uint32_t first, const std::vector<std::uint32_t>& a,
                           const std::vector<std::uint32_t>& b) {
  if (sum.accumulator != fp32 || sum.order == Order::raw) {
    Integer total = first;
    const auto number = [](int type, std::uint32_t code) {
      return is_floating(type) ? Integer(code) : decode_integer(type, code);
    };
    for (std::size_t k = 0; k < a.size(); ++k) total += number(sum.a_type, a[k]) * number(sum.b_type, b[k]);
    return encode_integer(u32, total, false).code;
  }
  Value total = decode(fp32, first);
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Value left = decode(sum.a_type, a[k]), right = decode(sum.b_type, b[k]);
    if (const auto special = special_product(left, right)) {
      total = rounded_sum(total, *special, sum.rmode, sum.saturate);
      continue;
    }
    Value product{Value::Kind::finite, false, left.n * right.n, left.e + right.e};
    if (sum.order == Order::two_round) product = as_value(encode(fp32, product.n, product.e, sum.rmode, sum.saturate));
    total = rounded_sum(total, product, sum.rmode, sum.saturate);
  }
  return code_of(total);
}

std::uint32_t add_bias(const Sum& sum, std::uint32_t code, std::uint32_t bias) {
  if (sum.accumulator != fp32 || sum.order == Order::raw) return code + bias;
  return code_of(rounded_sum(decode(fp32, code), decode(fp32, bias), 1, false));
}

int d_type(int mode, int accumulator) { return mode == 0 ? accumulator : modes().at(mode).d; }
bool programmable(int mode) { return mode != 0 && modes().at(mode).kind != 'h' && modes().at(mode).fixed == 0; }

Result post_process(const Post& post, std::uint32_t code, std::uint64_t quant_word, std::uint64_t slope_word) {
  const Mode mode = modes().at(post.mode);
  if (post.mode == 0 && post.relu == 0) return {code, 0};
  if (mode.kind == 'h') {
    const int shift = static_cast<int>(quant_word >> 32 & 15) + 1;
    return encode_integer(s16, round_to_integer(decode_integer(s32, code), -shift, 3), true);
  }
  const int target = d_type(post.mode, post.accumulator);
  const int rmode = mode.fixed != 0 ? mode.fixed : post.rmode;
  Value p;
  if (post.accumulator == fp32)
    p = decode(fp32, code);
  else
    p = {Value::Kind::finite, false, decode_integer(post.accumulator, code), 0};
  const bool minus_zero = post.accumulator == fp32 && code == 0x80000000;
  const bool negative = p.kind == Value::Kind::finite ? p.n < 0 || minus_zero : p.negative && !p.is_nan();
  Value multiplier = mode.kind == 's' ? fp19(quant_word >> 13) : Value{Value::Kind::finite, false, 1, 0};
  if (negative && post.relu == 1) multiplier = Value{};
  if (negative && post.relu >= 2) multiplier = fp19(slope_word);
  if (p.kind != Value::Kind::finite) {
    if (!(p.kind == Value::Kind::infinite && negative && multiplier.n == 0))
      return special_result(target, p, post.saturate);
    p = Value{};
  }
  const Integer n = p.n * multiplier.n;
  const int e = p.e + multiplier.e;
  if (is_floating(target)) {
    if (minus_zero && multiplier.n != 0)
      return {target == hif8 ? 0 : 1U << (target == fp32 ? 31 : target == e4m3 ? 7 : 15), 0};
    return encode(target, n, e, rmode, post.saturate);
  }
  Integer rounded = round_to_integer(n, e, rmode);
  const bool exact = e >= 0 || (rounded << static_cast<unsigned>(-e)) == n;
  unsigned flags = exact ? 0 : nx;
  if (mode.offset != 0) {
    const Integer limit = power(mode.offset - 1);
    if (rounded < -limit || rounded >= limit) flags = of | nx;
    rounded = rounded < -limit ? Integer(-limit) : rounded >= limit ? Integer(limit - 1) : rounded;
    rounded += signed_bits(quant_word, 37, mode.offset);
  }
  Result result = encode_integer(target, rounded, post.saturate);
  result.flags |= flags;
  return result;
}

Result maximum(int accumulator, bool absolute, const std::vector<std::uint32_t>& codes) {
  if (codes.size() == 1 && !absolute) return {codes[0], 0};  // nothing to compare with: the code itself
  unsigned flags = 0;
  if (accumulator != fp32) {
    std::optional<Integer> best;
    for (const std::uint32_t code : codes) {
      Integer value = decode_integer(accumulator, code);
      if (absolute && value < 0) value = -value;
      if (accumulator == s32 && value == power(31)) flags |= of, --value;
      if (!best || value > *best) best = value;
    }
    return {encode_integer(u32, *best, false).code, flags};
  }
  std::optional<Value> best;
  bool plus_zero = false;
  for (const std::uint32_t code : codes) {
    Value value = decode(fp32, code);
    if (value.kind == Value::Kind::signaling_nan) flags |= nv;
    if (value.is_nan()) continue;
    if (absolute) value.negative = false, value.n = abs(value.n);
    if (value.kind == Value::Kind::finite && value.n == 0 && !value.negative) plus_zero = true;
    const auto above = [](const Value& x, const Value& y) {
      if (x.kind == Value::Kind::infinite) return !x.negative && !(y.kind == Value::Kind::infinite && !y.negative);
      if (y.kind == Value::Kind::infinite) return y.negative;
      return less(y.n, y.e, x.n, x.e);
    };
    if (!best || above(value, *best)) best = value;
  }
  if (!best) return {canonical_nan(fp32), flags};
  if (best->kind == Value::Kind::infinite) return {infinity_of(fp32, best->negative), flags};
  if (best->n == 0) return {plus_zero ? 0 : 0x80000000, flags};
  return {encode(fp32, best->n, best->e, 1, false).code, flags};
}

}  // namespace oracle
