#include "models/cube/exact_types.hpp"

#include <optional>
#include <string>

namespace oracle {
namespace {

using boost::multiprecision::msb;

struct Fields {
  int exponent_bits, fraction_bits, bias, drop;  // drop: unused low bits of the code
  bool infinities;                               // the highest exponent stands for infinity and NaN
};
std::optional<Fields> fields_of(int type) {
  switch (type) {
    case fp32:
      return Fields{8, 23, 127, 0, true};
    case tf32:
      return Fields{8, 10, 127, 13, true};
    case hf32:
      return Fields{8, 11, 127, 12, true};
    case fp16:
      return Fields{5, 10, 15, 0, true};
    case bf16:
      return Fields{8, 7, 127, 0, true};
    case e4m3:
      return Fields{4, 3, 7, 0, false};
    case e5m2:
      return Fields{5, 2, 15, 0, true};
    case e3m2:
      return Fields{3, 2, 3, 0, false};
    case e2m3:
      return Fields{2, 3, 1, 0, false};
    case e2m1:
      return Fields{2, 1, 1, 0, false};
    case e1m2:
      return Fields{1, 2, 1, 0, false};
    default:
      return std::nullopt;
  }
}

Value finite(bool negative, Integer magnitude, int exponent) {
  return {Value::Kind::finite, negative, negative ? -magnitude : magnitude, exponent};
}

// arXiv:2409.16626: sign, dot, exponent (sign, then magnitude without its leading one), fraction, read bit by bit.
Value decode_hif8(std::uint32_t code) {
  std::string bits;
  for (int i = 7; i >= 0; --i) bits += (code >> i & 1) != 0 ? '1' : '0';
  if (bits == "10000000") return {Value::Kind::quiet_nan};
  const bool negative = bits[0] == '1';
  const std::string rest = bits.substr(1);
  if (rest == "1101111") return {Value::Kind::infinite, negative};
  const auto number = [](const std::string& text) { return text.empty() ? 0 : std::stoi(text, nullptr, 2); };
  struct Dot {
    std::string prefix;
    int exponent_bits;
  };
  for (const Dot& dot : {Dot{"11", 4}, Dot{"10", 3}, Dot{"01", 2}, Dot{"001", 1}, Dot{"0001", 0}}) {
    if (!rest.starts_with(dot.prefix)) continue;
    std::string field = rest.substr(dot.prefix.size(), static_cast<std::size_t>(dot.exponent_bits));
    const std::string fraction = rest.substr(dot.prefix.size() + field.size());
    int exponent = 0;
    if (!field.empty()) {
      const bool below_one = field[0] == '1';
      field[0] = '1';
      exponent = below_one ? -number(field) : number(field);
    }
    const int places = static_cast<int>(fraction.size());
    return finite(negative, Integer(number("1" + fraction)), exponent - places);
  }
  const int denormal = number(rest.substr(4));
  return denormal == 0 ? finite(negative, 0, 0) : finite(negative, 1, denormal - 23);
}

int floor_log2(const Integer& magnitude, int e) { return static_cast<int>(msb(magnitude)) + e; }

Result encode_ieee(const Fields& f, const Integer& n, int e, int rmode, bool saturate) {
  const bool negative = n < 0;
  const Integer magnitude = negative ? Integer(-n) : n;
  const std::uint32_t sign = negative ? 1U << (f.exponent_bits + f.fraction_bits) : 0;
  const int lowest = 1 - f.bias;
  const int exponent = floor_log2(magnitude, e);
  const int quantum = std::max(exponent, lowest) - f.fraction_bits;
  const Integer rounded = round_to_integer(n, e - quantum, rmode);  // signed, in units of the last place
  const Integer size = rounded < 0 ? Integer(-rounded) : rounded;
  const bool exact = e >= quantum || (size << static_cast<unsigned>(quantum - e)) == magnitude;
  const std::uint32_t infinity = ((1U << f.exponent_bits) - 1) << f.fraction_bits;
  if (size != 0 && floor_log2(size, quantum) > f.bias) return {sign | (saturate ? infinity - 1 : infinity), of | nx};
  unsigned flags = exact ? 0 : nx;
  if (!exact && exponent < lowest) flags |= uf;
  if (size < power(f.fraction_bits)) return {sign | static_cast<std::uint32_t>(size), flags};
  const int final_exponent = floor_log2(size, quantum);
  const int field = final_exponent + f.bias;
  const Integer significand = size >> static_cast<unsigned>(final_exponent - quantum - f.fraction_bits);
  const auto fraction = static_cast<std::uint32_t>(significand - power(f.fraction_bits));
  return {sign | static_cast<std::uint32_t>(field) << f.fraction_bits | fraction, flags};
}

// The 8-bit formats: the candidates are all codes.
Result encode_by_search(int type, const Integer& n, int e, int rmode, bool saturate) {
  const bool negative = n < 0;
  const std::uint32_t sign = negative ? 0x80 : 0;
  const Integer magnitude = negative ? Integer(-n) : n;
  const Integer largest = type == e4m3 ? 448 : 32768;
  if (less(largest, 0, magnitude, e)) {
    if (type == e4m3) return {saturate ? sign | 0x7e : 0x7f, of | nx};
    return {sign | (saturate ? 0x6eU : 0x6fU), of | nx};
  }
  std::uint32_t below = 0, above = 0;
  Value low, high;
  bool have_low = false, have_high = false;
  for (std::uint32_t code = 0; code < 128; ++code) {
    const Value v = decode(type, code);
    if (v.kind != Value::Kind::finite) continue;
    if (!less(magnitude, e, v.n, v.e) && (!have_low || less(low.n, low.e, v.n, v.e))) {
      have_low = true, low = v, below = code;
    }
    if (!less(v.n, v.e, magnitude, e) && (!have_high || less(v.n, v.e, high.n, high.e))) {
      have_high = true, high = v, above = code;
    }
  }
  if (below == above) return {type == hif8 && below == 0 ? 0 : sign | below, 0};
  // Twice the value against the sum of its neighbours.
  const int base = std::min({e, low.e, high.e});
  const auto at = [&](const Integer& x, int xe) { return Integer(x << static_cast<unsigned>(xe - base)); };
  const Integer twice = at(magnitude, e) * 2;
  const Integer middle = at(low.n, low.e) + at(high.n, high.e);
  bool up = false;
  switch (rmode) {
    case 1:
      up = twice > middle || (twice == middle && below % 2 == 1);
      break;
    case 2:
      break;
    case 3:
      up = negative;
      break;
    case 4:
      up = !negative;
      break;
    case 5:
      up = twice >= middle;
      break;
    case 6:
      up = below % 2 == 0;
      break;
    default:
      up = twice > middle || (twice == middle && !negative);
  }
  const std::uint32_t chosen = up ? above : below;
  const bool tiny = less(magnitude, e, 1, type == e4m3 ? -6 : -15);
  return {chosen == 0 ? 0 : sign | chosen, tiny ? uf | nx : nx};
}

}  // namespace

Integer round_to_integer(const Integer& n, int e, int rmode) {
  if (e >= 0) return n << static_cast<unsigned>(e);
  const Integer unit = power(-e);
  Integer floor = n / unit;
  if (n < 0 && floor * unit != n) --floor;
  const Integer rest = n - floor * unit;
  if (rest == 0) return floor;
  const Integer ceiling = floor + 1;
  const int half = Integer(rest * 2).compare(unit);
  const bool floor_even = floor % 2 == 0;
  switch (rmode) {
    case 1:
      return half < 0 || (half == 0 && floor_even) ? floor : ceiling;
    case 2:
      return n < 0 ? ceiling : floor;
    case 3:
      return floor;
    case 4:
      return ceiling;
    case 5:
      return half < 0 || (half == 0 && n < 0) ? floor : ceiling;
    case 6:
      return floor_even ? ceiling : floor;
    default:
      return half < 0 ? floor : ceiling;
  }
}

Value decode(int type, std::uint32_t code) {
  if (type == hif8) return decode_hif8(code & 0xff);
  const Fields f = *fields_of(type);
  const std::uint32_t kept = code >> f.drop;
  const bool negative = (kept >> (f.exponent_bits + f.fraction_bits) & 1) != 0;
  const int field = static_cast<int>(kept >> f.fraction_bits & ((1U << f.exponent_bits) - 1));
  const Integer fraction = kept & ((1U << f.fraction_bits) - 1);
  if (type == e4m3 && field == 15 && fraction == 7) return {Value::Kind::quiet_nan};
  if (f.infinities && field == (1 << f.exponent_bits) - 1) {
    if (fraction == 0) return {Value::Kind::infinite, negative};
    return {fraction >= power(f.fraction_bits - 1) ? Value::Kind::quiet_nan : Value::Kind::signaling_nan};
  }
  if (field == 0) return finite(negative, fraction, 1 - f.bias - f.fraction_bits);
  return finite(negative, fraction + power(f.fraction_bits), field - f.bias - f.fraction_bits);
}

Integer decode_integer(int type, std::uint32_t code) {
  const int width = width_of(type);
  const Integer value = std::uint64_t{code} & ((std::uint64_t{1} << width) - 1);
  return is_signed(type) && value >= power(width - 1) ? Integer(value - power(width)) : value;
}

Result encode(int type, const Integer& n, int e, int rmode, bool saturate) {
  if (n == 0) return {};
  if (type == e4m3 || type == hif8) return encode_by_search(type, n, e, rmode, saturate);
  return encode_ieee(*fields_of(type), n, e, rmode, saturate);
}

Result encode_integer(int type, const Integer& value, bool saturate) {
  const int width = width_of(type);
  const Integer minimum = is_signed(type) ? Integer(-power(width - 1)) : Integer(0);
  const Integer maximum = power(is_signed(type) ? width - 1 : width) - 1;
  const bool outside = value < minimum || value > maximum;
  Integer chosen = !saturate || !outside ? value : value < minimum ? minimum : maximum;
  chosen %= power(width);
  if (chosen < 0) chosen += power(width);
  return {static_cast<std::uint32_t>(chosen), outside ? of | nx : 0};
}

}  // namespace oracle
