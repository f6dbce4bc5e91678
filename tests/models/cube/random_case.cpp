#include "models/cube/random_case.hpp"

#include <sstream>

namespace tilevp::cube::testing {
namespace {

std::uint64_t random_fp19(Random& random) {  // positive, normal
  const std::uint64_t exponent = random.one_in(8) ? random.between(1, 254) : random.between(118, 134);
  return exponent << 10 | random.below(1024);
}

std::uint64_t random_quant_word(Random& random, const PreQuantMode& mode) {
  if (mode.parameter == Parameter::none) return 0;
  if (mode.shift) return std::uint64_t{random.below(16)} << shift_shift;
  const std::uint64_t offset = mode.offset_bits == 0 ? 0 : random.below(1U << mode.offset_bits);
  return random_fp19(random) << scale_shift | offset << offset_shift;
}

std::uint64_t random_slope(Random& random) { return random.one_in(5) ? 0 : random_fp19(random); }

template <typename Make>
Codes random_codes(std::uint32_t rows, std::uint32_t columns, const Make& make) {
  Codes codes{rows, columns, {}};
  for (std::uint32_t i = 0; i < rows * columns; ++i) codes.at.push_back(make());
  return codes;
}

void choose_post(Random& random, const PreQuantMode& mode, MatrixCase& test) {
  const std::uint32_t n = test.b.columns;
  MatrixOperation& op = test.op;
  op.post.prequant = mode.code;
  op.post.relu = static_cast<std::uint8_t>(random.below(4));
  if (mode.code != 0 && mode.rounding == ModeRounding::programmable)
    op.rounding = numeric::all_roundings[random.below(7)];
  op.saturate = mode.may_saturate() && random.one_in(2);
  if (mode.parameter == Parameter::scalar) op.quant_word = random_quant_word(random, mode);
  if (mode.parameter == Parameter::vector)
    test.quant_vector = random_codes(1, n, [&] { return random_quant_word(random, mode); });
  if (op.post.relu == 2) op.slope_word = random_slope(random);
  if (op.post.relu == 3) test.slope_vector = random_codes(1, n, [&] { return random_slope(random); });
  op.post.row_max = random.one_in(2);
  op.post.group_n_code = static_cast<std::uint8_t>(random.below(10));
  op.post.group_max = op.post.group_n_code != 0;
  op.post.max_abs = (op.post.row_max || op.post.group_max) && random.one_in(2);
  op.post.row_max_init = op.post.row_max && random.one_in(2);
}

int rmode_of(numeric::Rounding rounding) { return static_cast<int>(rounding) + 1; }
int code_of(DataType type) { return static_cast<int>(type); }

std::vector<std::uint32_t> line(const Codes& codes, bool row, std::uint32_t index) {
  std::vector<std::uint32_t> values;
  const std::uint32_t count = row ? codes.columns : codes.rows;
  for (std::uint32_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::uint32_t>(row ? codes(index, i) : codes(i, index)));
  return values;
}

struct Expected {
  std::vector<std::uint64_t> d, row_max, group_max;
  unsigned flags = 0;
};

std::vector<std::uint32_t> expected_sums(const MatrixCase& test, unsigned& flags) {
  const MatrixOperation& op = test.op;
  oracle::Sum sum{code_of(op.a_type), code_of(op.b_type), code_of(op.accumulator)};
  sum.order = op.accumulate == Accumulate::raw_asl ? oracle::Order::raw
              : op.accumulate == Accumulate::fma   ? oracle::Order::fused
                                                   : oracle::Order::two_round;
  sum.rmode = rmode_of(op.rounding);
  sum.saturate = op.saturate;
  std::vector<std::uint32_t> sums;
  for (std::uint32_t m = 0; m < test.a.rows; ++m)
    for (std::uint32_t n = 0; n < test.b.columns; ++n) {
      std::uint32_t first = test.c.at.empty() ? 0 : static_cast<std::uint32_t>(test.c(m, n));
      if (!test.cscale.at.empty()) {
        const oracle::Result scaled = oracle::scale_c(first, static_cast<unsigned>(test.cscale(m, 0)));
        first = scaled.code;
        flags |= scaled.flags;
      }
      std::uint32_t value = oracle::add_products(sum, first, line(test.a, true, m), line(test.b, false, n));
      if (!test.bias.at.empty()) value = oracle::add_bias(sum, value, static_cast<std::uint32_t>(test.bias(0, n)));
      sums.push_back(value);
    }
  return sums;
}

Expected expected(const MatrixCase& test) {
  const MatrixOperation& op = test.op;
  const std::uint32_t columns = test.b.columns;
  Expected out;
  const std::vector<std::uint32_t> sums = expected_sums(test, out.flags);
  const oracle::Post post{op.post.prequant, op.post.relu, code_of(op.accumulator), rmode_of(op.rounding), op.saturate};
  const auto reduce = [&](std::uint32_t m, std::uint32_t from, std::uint32_t to, bool with_input) {
    std::vector<std::uint32_t> values(sums.begin() + m * columns + from, sums.begin() + m * columns + to);
    if (with_input) values.push_back(static_cast<std::uint32_t>(test.row_max_in(m, 0)));
    const oracle::Result best = oracle::maximum(post.accumulator, op.post.max_abs, values);
    out.flags |= best.flags;
    return best.code;
  };
  for (std::uint32_t m = 0; m < test.a.rows; ++m) {
    for (std::uint32_t n = 0; n < columns; ++n) {
      const oracle::Result result = oracle::post_process(
          post, sums[m * columns + n], test.quant_vector.at.empty() ? op.quant_word : test.quant_vector(0, n),
          test.slope_vector.at.empty() ? op.slope_word : test.slope_vector(0, n));
      out.d.push_back(result.code);
      out.flags |= result.flags;
    }
    if (op.post.row_max) out.row_max.push_back(reduce(m, 0, columns, !test.row_max_in.at.empty()));
    const std::uint32_t group = group_columns[op.post.group_n_code];
    for (std::uint32_t n = 0; op.post.group_max && n < columns; n += group)
      out.group_max.push_back(reduce(m, n, std::min(columns, n + group), false));
  }
  return out;
}

std::string compare(const char* what, const std::vector<std::uint64_t>& got, const std::vector<std::uint64_t>& want) {
  std::ostringstream text;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i]) {
      text << what << '[' << i << "] is " << std::hex << got[i] << ", oracle " << want[i] << "; ";
      break;
    }
  return text.str();
}

}  // namespace

std::uint32_t random_code(Random& random, DataType type, bool wild) {
  const auto any = static_cast<std::uint32_t>(random.bits());
  if (wild) {
    constexpr std::uint32_t corners[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                         0x7f7fffff, 0xff7fffff, 1,          0x80000001, 0x00800000, 0x7fffffff};
    if (bits(type) == 32 && random.one_in(2)) return corners[random.below(12)];
    return any;
  }
  switch (type) {
    case DataType::fp32:
    case DataType::tf32:
    case DataType::hf32:
      return (any & 0x807fffff) | random.between(118, 136) << 23;
    case DataType::bf16:
      return (any & 0x807f) | random.between(118, 136) << 7;
    case DataType::fp16:
      return (any & 0x83ff) | random.between(8, 22) << 10;
    case DataType::s32:
    case DataType::u32:
      return random.one_in(2) ? any : any & 0xffff;
    default:
      return any;
  }
}

MatrixCase random_case(Random& random, const Kind& kind, const Shape& shape) {
  MatrixCase test;
  MatrixOperation& op = test.op;
  op.operation = kind.operation;
  op.m_layout = kind.layout;
  op.a_type = kind.a;
  op.b_type = kind.b;
  op.accumulator = accumulator_of(numeric_class(kind.a));
  op.d_type = result_type(*kind.mode, op.accumulator);
  op.accumulate = random.one_in(4) ? Accumulate::fma : random.one_in(12) ? Accumulate::raw_asl : Accumulate::two_round;
  const std::uint32_t wildness = random.one_in(3) ? 4 : 1000;  // one element in so many
  const auto codes = [&](DataType type) {
    return [&, type] { return random_code(random, type, random.one_in(wildness)); };
  };
  test.a = random_codes(shape.m, shape.k, codes(kind.a));
  test.b = random_codes(shape.k, shape.n, codes(kind.b));
  for (auto* side : {&test.a, &test.b}) {
    const unsigned width = bits(side == &test.a ? kind.a : kind.b);
    for (std::uint64_t& code : side->at) code &= width == 32 ? 0xffffffff : (1U << width) - 1;
  }
  if (has_bias(kind.operation)) test.bias = random_codes(1, shape.n, codes(op.accumulator));
  if (accumulates(kind.operation)) test.c = random_codes(shape.m, shape.n, codes(op.accumulator));
  if (kind.operation == Operation::tmatmul_acc && op.accumulator == DataType::fp32 && random.one_in(3)) {
    op.post.cscale = true;
    test.cscale = random_codes(shape.m, 1, [&] { return random.one_in(3) ? random.below(256) : random.below(20); });
  }
  choose_post(random, *kind.mode, test);
  if (op.post.row_max_init) test.row_max_in = random_codes(shape.m, 1, codes(op.accumulator));
  return test;
}

std::string difference_from_oracle(MatrixCase& test) {
  test.run();
  const Expected want = expected(test);
  std::string text = compare("D", test.d.at, want.d) + compare("RowMax", test.row_max.at, want.row_max) +
                     compare("GroupMax", test.group_max.at, want.group_max);
  if (test.flags != want.flags)
    text += "flags are " + std::to_string(test.flags) + ", oracle " + std::to_string(want.flags) + "; ";
  if (!test.padding_kept) text += "padding of D was written; ";
  return text;
}

std::string describe(const MatrixCase& test) {
  const MatrixOperation& op = test.op;
  std::ostringstream text;
  text << "operation " << static_cast<int>(op.operation) << ' ' << name(op.a_type) << " x " << name(op.b_type) << ", M "
       << test.a.rows << " N " << test.b.columns << " K " << test.a.columns << ", accumulate "
       << static_cast<int>(op.accumulate) << ", mode " << int{op.post.prequant} << " relu " << int{op.post.relu}
       << " group " << int{op.post.group_n_code} << (op.post.row_max ? " row_max" : "")
       << (op.post.row_max_init ? " init" : "") << (op.post.max_abs ? " abs" : "") << ", " << numeric::name(op.rounding)
       << (op.saturate ? " saturate" : "") << (op.post.cscale ? " cscale" : "") << ", " << name(op.m_layout);
  return text.str();
}

}  // namespace tilevp::cube::testing
