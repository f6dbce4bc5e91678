#pragma once
// What a matrix bundle computes, from definitions and in exact arithmetic: every value is a rational number, rounding
// picks among its neighbours. Slow. Includes nothing of the product: types, modes and roundings are the numbers that
// PTO-ISA/pto-spec encodes them with (BSTART's DataType, PreQuantMode, RMode), flags its sticky bits.
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

namespace oracle {

using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<
    1024, 1024, boost::multiprecision::signed_magnitude, boost::multiprecision::unchecked, void>>;

// n * 2^e, or what is no number.
struct Value {
  enum class Kind { finite, infinite, quiet_nan, signaling_nan };
  Kind kind = Kind::finite;
  bool negative = false;  // sign of zero and infinity; finite: of n
  Integer n = 0;
  int e = 0;
  bool is_nan() const { return kind == Kind::quiet_nan || kind == Kind::signaling_nan; }
};

// RMode: 1 RNE 2 RTZ 3 RTM 4 RTP 5 RNA 6 RTO 7 RHB.
Integer round_to_integer(const Integer& n, int e, int rmode);

// The value of a code of DataType `type` (floating).
Value decode(int type, std::uint32_t code);
// The value of a code of an integer type.
Integer decode_integer(int type, std::uint32_t code);

struct Result {
  std::uint32_t code = 0;
  unsigned flags = 0;
};

// A finite value to FP32, FP16, BF16, E4M3 or HiF8. Exact zero is +0.
Result encode(int type, const Integer& n, int e, int rmode, bool saturate);
// An integer to an integer type.
Result encode_integer(int type, const Integer& value, bool saturate);

enum class Order { two_round, fused, raw };

struct Sum {
  int a_type = 1, b_type = 1, accumulator = 1;
  Order order = Order::two_round;
  int rmode = 1;
  bool saturate = false;
};

// C * 2^-scale of an FP32 code.
Result scale_c(std::uint32_t code, unsigned scale);
// ((first + a[0] b[0]) + a[1] b[1]) ... as code of the accumulator type.
std::uint32_t add_products(const Sum& sum, std::uint32_t first, const std::vector<std::uint32_t>& a,
                           const std::vector<std::uint32_t>& b);
std::uint32_t add_bias(const Sum& sum, std::uint32_t code, std::uint32_t bias);

struct Post {
  int mode = 0;  // PreQuantMode
  int relu = 0;
  int accumulator = 1;
  int rmode = 1;
  bool saturate = false;
};
// The D type of a mode (0: the accumulator's), and whether its rounding is programmable.
int d_type(int mode, int accumulator);
bool programmable(int mode);
Result post_process(const Post& post, std::uint32_t code, std::uint64_t quant_word, std::uint64_t slope_word);

// The maximum of codes of an accumulator type, in order.
Result maximum(int accumulator, bool absolute, const std::vector<std::uint32_t>& codes);

}  // namespace oracle
