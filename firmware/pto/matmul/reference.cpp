#include "tilevp/pto/matmul/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "tilevp/numeric/dtype.hpp"
#include "tilevp/numeric/narrow_float.hpp"

namespace tilevp::pto::matmul {
namespace {

using cube::DataType;
using cube::ModeRounding;
using cube::NumericClass;
using cube::Parameter;
using cube::PreQuantMode;

// The type among those that numeric reads many at a time.
std::optional<numeric::DType> common_type(DataType type) {
  switch (type) {
    case DataType::fp32:
      return numeric::DType::fp32;
    case DataType::fp16:
      return numeric::DType::fp16;
    case DataType::bf16:
      return numeric::DType::bf16;
    case DataType::s16:
      return numeric::DType::int16;
    case DataType::s8:
      return numeric::DType::int8;
    case DataType::u8:
      return numeric::DType::uint8;
    default:
      return {};
  }
}

template <class Value>
std::vector<Value> row_of(const Matrix& matrix, std::size_t row) {
  std::vector<Value> values(matrix.columns);
  if (const auto type = common_type(matrix.type)) {
    std::vector<float> singles(matrix.columns);
    numeric::load_as_fp32(*type, matrix.bytes.data() + row * matrix.row_bytes(), singles.size(), 1, singles.data());
    std::ranges::transform(singles, values.begin(), [](float single) { return static_cast<Value>(single); });
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Value>(matrix.value(row, i));
  return values;
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// sums[m][n] += a[m][k] * b[k][n], k by k, as `add` says.
template <class Value, class Add>
void sum_up(std::vector<Value>& sums, const Matrix& a, const Matrix& b, Range range, Add add) {
  for (std::size_t k = range.begin; k < range.end; ++k) {
    const auto row = row_of<Value>(b, k);
    for (std::size_t m = 0; m < a.rows; ++m) {
      const auto left = static_cast<Value>(a.value(m, k));
      Value* const out = sums.data() + m * b.columns;
      for (std::size_t n = 0; n < b.columns; ++n) add(out[n], left, row[n]);
    }
  }
}

template <class Value>
void add_bias(std::vector<Value>& sums, const Matrix& bias) {
  const auto row = row_of<Value>(bias, 0);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i % row.size()];
}

// One term with the rounding and saturation that B.DATR asks for.
class ProgrammedTerm {
 public:
  ProgrammedTerm(numeric::Rounding rounding, bool saturate, Sum sum)
      : rounding_(rounding),
        overflow_(saturate ? numeric::Overflow::saturate : numeric::Overflow::infinite),
        sum_(sum) {}
  void operator()(float& out, float left, float right) const {
    const double product = static_cast<double>(left) * static_cast<double>(right);  // exact
    const double term = sum_ == Sum::fused ? product : static_cast<double>(rounded(product));
    const double sum = static_cast<double>(out) + term;
    out = std::isfinite(sum) ? rounded(numeric::sum_to_odd(static_cast<double>(out), term)) : static_cast<float>(sum);
  }

 private:
  float rounded(double value) const {
    return std::bit_cast<float>(numeric::encode(numeric::FloatFormat::fp32, value, rounding_, overflow_).code);
  }
  numeric::Rounding rounding_;
  numeric::Overflow overflow_;
  Sum sum_;
};

constexpr numeric::Rounding roundings[] = {numeric::Rounding::rne, numeric::Rounding::rne, numeric::Rounding::rtz,
                                           numeric::Rounding::rtm, numeric::Rounding::rtp, numeric::Rounding::rna,
                                           numeric::Rounding::rto, numeric::Rounding::rhb};

// B.DATR stands in the last bundle of a block only, and so reaches its terms only.
std::vector<float> float_sums(const Plan& plan, const Matrix& a, const Matrix& b, const Matrix* bias, Sum sum) {
  const Request& request = plan.request;
  std::vector<float> sums(a.rows * b.columns);
  if (bias != nullptr && plan.bias_is_c) add_bias(sums, *bias);
  const bool programmed = request.rounding != 0 || request.saturate;
  const std::size_t plain = programmed ? (plan.k_blocks() - 1) * plan.k_tile : b.rows;
  if (sum == Sum::fused)
    sum_up(sums, a, b, {0, plain}, [](float& out, float left, float right) { out = std::fma(left, right, out); });
  else
    sum_up(sums, a, b, {0, plain}, [](float& out, float left, float right) { out += left * right; });
  sum_up(sums, a, b, {plain, b.rows}, ProgrammedTerm(roundings[request.rounding], request.saturate, sum));
  if (bias != nullptr && !plan.bias_is_c) add_bias(sums, *bias);
  return sums;
}

// Modulo 2^32.
std::vector<std::uint32_t> integer_sums(const Matrix& a, const Matrix& b, const Matrix* bias) {
  std::vector<std::int64_t> sums(a.rows * b.columns);
  sum_up(sums, a, b, {0, b.rows},
         [](std::int64_t& out, std::int64_t left, std::int64_t right) { out = (out + left * right) & 0xffff'ffff; });
  if (bias != nullptr) add_bias(sums, *bias);
  std::vector<std::uint32_t> result(sums.size());
  std::ranges::transform(sums, result.begin(), [](std::int64_t s) { return static_cast<std::uint32_t>(s); });
  return result;
}

// ---- Post-processing of one sum (PTO-ISA/pto-spec, asl/arch/profile/matrix-postprocess.asl)

class Post {
 public:
  explicit Post(const Request& request) : request_(request), mode_(request.prequant) {
    rounding_ = roundings[request.rounding];
    if (mode_.rounding == ModeRounding::rhb) rounding_ = numeric::Rounding::rhb;
  }

  // Bits of a column's sum to bits of D's type.
  std::uint32_t operator()(std::uint32_t sum, std::size_t column) const {
    const std::uint64_t quant = word(request_.quant_words, column);
    const double scale = mode_.parameter != Parameter::none && !mode_.shift ? fp19(quant >> 13) : 1;
    const double slope = request_.relu >= 2 ? fp19(word(request_.slope_words, column)) : 0;
    const DataType type = request_.accumulator();
    if (mode_.code == 0 && request_.relu == 0) return sum;
    const double p = decode(type, sum);
    if (mode_.shift) {
      const auto shift = (quant >> 32 & 0xf) + 1;
      const auto shifted = static_cast<std::int32_t>(sum) >> shift;
      return static_cast<std::uint32_t>(std::clamp(shifted, -32768, 32767)) & 0xffff;
    }
    if (p != p) return not_a_number();
    const bool negative = type == DataType::fp32 ? std::signbit(p) : type == DataType::s32 && p < 0;
    const double factor = negative && request_.relu != 0 ? slope : scale;
    const double v = factor == 0 ? 0 : p * factor;
    const DataType d = request_.d_type();
    return numeric_class(d) == NumericClass::floating ? float_code(d, v) : integer_code(d, v, quant);
  }

 private:
  // One for all columns, or one a column.
  static std::uint64_t word(const std::vector<std::uint64_t>& words, std::size_t column) {
    return words.empty() ? 0 : words[column % words.size()];
  }
  static double fp19(std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>((bits & 0x7ffff) << 13));
  }
  static std::int64_t sign_extended(std::uint64_t bits, unsigned width) {
    if (width == 0) return 0;
    const std::uint64_t sign = std::uint64_t{1} << (width - 1);
    return static_cast<std::int64_t>(((bits & (2 * sign - 1)) ^ sign) - sign);
  }

  std::uint32_t not_a_number() const {
    const DataType d = request_.d_type();
    const unsigned width = bits(d);
    if (request_.saturate) return 0;
    if (numeric_class(d) != NumericClass::floating) return 1U << (width - 1);
    return numeric::encode(format(d), std::nan(""), rounding_, numeric::Overflow::infinite).code;
  }

  static numeric::FloatFormat format(DataType type) {
    switch (type) {
      case DataType::fp16:
        return numeric::FloatFormat::fp16;
      case DataType::bf16:
        return numeric::FloatFormat::bf16;
      case DataType::hif8:
        return numeric::FloatFormat::hif8;
      case DataType::e4m3:
        return numeric::FloatFormat::e4m3;
      default:
        return numeric::FloatFormat::fp32;
    }
  }

  std::uint32_t float_code(DataType type, double v) const {
    return numeric::encode(format(type), v, rounding_,
                           request_.saturate ? numeric::Overflow::saturate : numeric::Overflow::infinite)
        .code;
  }

  std::uint32_t integer_code(DataType type, double v, std::uint64_t quant) const {
    const unsigned width = bits(type);
    const double half = std::ldexp(1.0, static_cast<int>(width) - 1);
    if (std::isinf(v)) {
      const double end = v > 0 && request_.saturate ? half - 1 : -half;
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(end)) & mask(width);
    }
    double t = numeric::to_integer(v, rounding_);
    if (mode_.offset_bits != 0) {
      const double limit = std::ldexp(1.0, mode_.offset_bits - 1);
      t = std::clamp(t, -limit, limit - 1) + static_cast<double>(sign_extended(quant >> 37, mode_.offset_bits));
    }
    if (request_.saturate) t = std::clamp(t, -half, half - 1);
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(t)) & mask(width);
  }
  static std::uint32_t mask(unsigned width) { return width == 32 ? ~0U : (1U << width) - 1; }

  const Request& request_;
  const PreQuantMode& mode_;
  numeric::Rounding rounding_ = numeric::Rounding::rne;
};

}  // namespace

Matrix reference_in_order(const Plan& plan, const Matrix& a, const Matrix& b, const Matrix* bias, Sum sum) {
  const Request& request = plan.request;
  Matrix d(request.d_type(), a.rows, b.columns);
  const Post post(request);
  const auto put = [&](std::size_t i, std::uint32_t code) {
    d.put(i / d.columns, i % d.columns, post(code, i % d.columns));
  };
  if (numeric_class(request.a_type) == NumericClass::floating) {
    const auto sums = float_sums(plan, a, b, bias, sum);
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, std::bit_cast<std::uint32_t>(numeric::canonical(sums[i])));
  } else {
    const auto sums = integer_sums(a, b, bias);
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i]);
  }
  return d;
}

std::vector<float> reference_in_double(const Matrix& a, const Matrix& b, const Matrix* bias) {
  std::vector<double> sums(a.rows * b.columns);
  sum_up(sums, a, b, {0, b.rows}, [](double& out, double left, double right) { out += left * right; });
  if (bias != nullptr) add_bias(sums, *bias);
  return {sums.begin(), sums.end()};
}

}  // namespace tilevp::pto::matmul
