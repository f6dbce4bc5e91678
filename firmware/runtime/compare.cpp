#include "tilevp/runtime/compare.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tilevp/base/errors.hpp"

namespace tilevp::runtime {

using numeric::DType;

namespace {

__extension__ typedef __int128 wide;

// Floats of one type in their order, a step apart; both zeros are 0.
template <class Bits>
wide ordered(const std::byte* at) {
  Bits bits;
  std::memcpy(&bits, at, sizeof bits);
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const wide magnitude = static_cast<Bits>(bits & static_cast<Bits>(~sign));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

template <class Integer>
wide integer(const std::byte* at) {
  Integer value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The element's place on the scale whose steps are ulps.
wide place(const Tensor& tensor, std::size_t i) {
  const std::byte* at = tensor.data.data() + i * size_bytes(tensor.element);
  switch (tensor.element) {
    case Element::f2:
      return ordered<std::uint16_t>(at);
    case Element::f4:
      return ordered<std::uint32_t>(at);
    case Element::f8:
      return ordered<std::uint64_t>(at);
    case Element::i1:
      return integer<std::int8_t>(at);
    case Element::i2:
      return integer<std::int16_t>(at);
    case Element::i4:
      return integer<std::int32_t>(at);
    case Element::i8:
      return integer<std::int64_t>(at);
    case Element::u2:
      return integer<std::uint16_t>(at);
    case Element::u4:
      return integer<std::uint32_t>(at);
    case Element::u8:
      return integer<std::uint64_t>(at);
    case Element::u1:
    case Element::b1:
      break;
  }
  return integer<std::uint8_t>(at);
}

std::uint64_t distance(wide a, wide b, wide step) {
  const wide steps = ((a > b ? a - b : b - a) + step - 1) / step;
  return static_cast<std::uint64_t>(steps);
}

// The tensor in another float type; nothing where it is of that type already.
std::optional<Tensor> rounded_to(const Tensor& tensor, Element element) {
  if (tensor.element == element) return std::nullopt;
  const DType dtype = element == Element::f2 ? DType::fp16 : DType::fp32;
  return unpack(pack(tensor, dtype, "").bytes, tensor.shape, dtype);
}

// The element type both tensors are brought to.
Element common_element(const Tensor& got, const Tensor& expected, std::optional<DType> format,
                       const std::string& where) {
  if (is_float(got.element) != is_float(expected.element))
    throw UserError(where, "elements " + std::string(descr(got.element)) + " cannot be compared with " +
                               std::string(descr(expected.element)));
  if (!is_float(got.element)) return got.element;
  if (format == DType::fp16) return Element::f2;
  const Element narrower = std::min(got.element, expected.element);  // f2 < f4 < f8
  return format == DType::bf16 || format == DType::fp32 ? Element::f4 : narrower;
}

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    const double magnitude = std::abs(tensor.value(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

class Comparer {
 public:
  Comparer(const Tensor& got, const Tensor& expected, const CheckRequest& criterion, wide step)
      : got_(got), expected_(expected), step_(step) {
    result_.criterion = criterion;
    if (criterion.kind == CheckRequest::Kind::tolerance) bound_ = criterion.bound * largest_magnitude(expected);
  }

  Comparison run() {
    result_.compared = got_.size();
    for (std::size_t i = 0; i < got_.size(); ++i) element(i);
    return result_;
  }

 private:
  void element(std::size_t i) {
    const double got = got_.value(i);
    const double expected = expected_.value(i);
    if (std::isnan(got) || std::isnan(expected)) {
      if (std::isnan(got) && std::isnan(expected)) {
        ++result_.histogram[0];
        return;
      }
      ++result_.nan_on_one_side;
      mismatch(i, got, expected, std::numeric_limits<std::uint64_t>::max());
      return;
    }
    const std::uint64_t ulp = distance(place(got_, i), place(expected_, i), step_);
    ++result_.histogram[static_cast<std::size_t>(std::bit_width(ulp))];
    if (ulp == 0) {
      if (got == 0 && std::signbit(got) != std::signbit(expected)) ++result_.signs_of_zero;
      return;
    }
    result_.max_ulp = std::max(result_.max_ulp, ulp);
    const double error = std::abs(got - expected);
    if (std::isfinite(error)) result_.max_abs_error = std::max(result_.max_abs_error, error);
    if (!within(ulp, error)) mismatch(i, got, expected, ulp);
  }

  bool within(std::uint64_t ulp, double error) const {
    switch (result_.criterion.kind) {
      case CheckRequest::Kind::ulp:
        return static_cast<double>(ulp) <= result_.criterion.bound;
      case CheckRequest::Kind::tolerance:
        return error <= bound_;
      default:
        return false;
    }
  }

  void mismatch(std::size_t i, double got, double expected, std::uint64_t ulp) {
    ++result_.mismatches;
    if (!result_.first) result_.first = Comparison::First{index_of(got_.shape, i), got, expected, ulp};
  }

  const Tensor& got_;
  const Tensor& expected_;
  wide step_;
  double bound_ = 0;
  Comparison result_;
};

std::string number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string criterion_text(const CheckRequest& criterion) {
  if (criterion.kind == CheckRequest::Kind::ulp) return "ulp " + number(criterion.bound);
  if (criterion.kind == CheckRequest::Kind::tolerance) return "tolerance " + number(criterion.bound);
  return "exact";
}

std::string histogram_text(const Comparison& comparison) {
  std::string text;
  for (std::size_t bin = 0; bin < comparison.histogram.size(); ++bin) {
    if (comparison.histogram[bin] == 0) continue;
    std::string range = "0";
    if (bin > 0) range = std::to_string(std::uint64_t{1} << (bin - 1));
    if (bin > 1) range += ".." + std::to_string((std::uint64_t{1} << (bin - 1)) * 2 - 1);
    text += "\n  " + range + " ulp: " + std::to_string(comparison.histogram[bin]);
  }
  if (comparison.nan_on_one_side > 0) text += "\n  NaN on one side: " + std::to_string(comparison.nan_on_one_side);
  return text;
}

}  // namespace

Comparison compare(const Tensor& got, const Tensor& expected, const CheckRequest& criterion, const std::string& where,
                   std::optional<DType> format) {
  if (got.shape != expected.shape)
    throw UserError(where,
                    "shape " + shape_text(got.shape) + " differs from the expected " + shape_text(expected.shape));
  const Element element = common_element(got, expected, format, where);
  // A bf16 is the upper half of an fp32: one step of bf16 is 2^16 of fp32's.
  const wide step = format == DType::bf16 && element == Element::f4 ? 65536 : 1;
  if (!is_float(element)) return Comparer(got, expected, criterion, step).run();
  const auto rounded_got = rounded_to(got, element);
  const auto rounded_expected = rounded_to(expected, element);
  return Comparer(rounded_got ? *rounded_got : got, rounded_expected ? *rounded_expected : expected, criterion, step)
      .run();
}

Verification verification_of(const Comparison& comparison) {
  Verification result;
  result.kind = criterion_text(comparison.criterion);
  result.compared = comparison.compared;
  result.mismatches = comparison.mismatches;
  result.max_abs_error = comparison.max_abs_error;
  result.max_ulp = comparison.max_ulp;
  if (comparison.first) {
    result.first_index = comparison.first->index;
    result.first_got = comparison.first->got;
    result.first_expected = comparison.first->expected;
  }
  return result;
}

std::string text_of(const Comparison& comparison) {
  std::string text = std::to_string(comparison.compared) + " elements, " + std::to_string(comparison.mismatches) +
                     " beyond " + criterion_text(comparison.criterion) + "; largest error " +
                     number(comparison.max_abs_error) + ", " + std::to_string(comparison.max_ulp) + " ulp";
  if (comparison.signs_of_zero > 0) text += "; zeros of opposite sign: " + std::to_string(comparison.signs_of_zero);
  if (comparison.first) {
    const auto& first = *comparison.first;
    const bool number_on_both = !std::isnan(first.got) && !std::isnan(first.expected);
    text +=
        "\nfirst at " + index_text(first.index) + ": got " + number(first.got) + ", expected " + number(first.expected);
    if (number_on_both) text += " (" + std::to_string(first.ulp) + " ulp)";
  }
  return text + histogram_text(comparison);
}

}  // namespace tilevp::runtime
