#include "tilevp/runtime/tensor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "tilevp/base/errors.hpp"
#include "tilevp/numeric/convert.hpp"

namespace tilevp::runtime {

using numeric::DType;

static_assert(std::endian::native == std::endian::little, "tensors are kept as little-endian bytes");

namespace {

struct ElementRow {
  std::string_view descr;
  std::size_t bytes;
  bool is_float;
};
// In the order of Element.
constexpr std::array<ElementRow, 12> elements{{{"<f2", 2, true},
                                               {"<f4", 4, true},
                                               {"<f8", 8, true},
                                               {"|i1", 1, false},
                                               {"<i2", 2, false},
                                               {"<i4", 4, false},
                                               {"<i8", 8, false},
                                               {"|u1", 1, false},
                                               {"<u2", 2, false},
                                               {"<u4", 4, false},
                                               {"<u8", 8, false},
                                               {"|b1", 1, false}}};

const ElementRow& row(Element element) { return elements[static_cast<std::size_t>(element)]; }

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// The element kind that holds a machine type's bytes as they are; bf16 has none among numpy's.
Element element_of(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return Element::f2;
    case DType::int32:
      return Element::i4;
    case DType::int16:
      return Element::i2;
    case DType::int8:
      return Element::i1;
    case DType::uint8:
      return Element::u1;
    default:
      return Element::f4;
  }
}

bool same_bytes(Element element, DType dtype) {
  return dtype == DType::bf16 ? element == Element::u2 : element == element_of(dtype);
}

// Rounded to odd: a later rounding to nearest even of fewer bits gives what one rounding of `value` would.
float odd_float(double value) {
  const float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  if (std::isinf(nearest)) return std::copysign(std::numeric_limits<float>::max(), nearest);
  if ((std::bit_cast<std::uint32_t>(nearest) & 1) != 0) return nearest;
  const bool toward_zero = std::abs(static_cast<double>(nearest)) > std::abs(value);
  const auto magnitude = std::bit_cast<std::uint32_t>(std::abs(nearest));
  return std::copysign(std::bit_cast<float>(toward_zero ? magnitude - 1 : magnitude + 1), nearest);
}

// As odd_float, for integers that a double does not hold.
double odd_double(std::uint64_t magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const std::uint64_t sticky = (magnitude & 0x7ff) != 0 ? 1 : 0;
  return static_cast<double>((magnitude >> 11) | sticky) * 2048.0;
}

double odd_value(const Tensor& tensor, std::size_t i) {
  if (tensor.element == Element::u8) return odd_double(load<std::uint64_t>(tensor.data.data() + 8 * i));
  if (tensor.element != Element::i8) return tensor.value(i);
  const auto value = load<std::int64_t>(tensor.data.data() + 8 * i);
  return value < 0 ? -odd_double(0 - static_cast<std::uint64_t>(value)) : odd_double(static_cast<std::uint64_t>(value));
}

struct FloatBlock {
  static constexpr std::size_t most = 1024;
  std::array<float, most> values;
};

void narrow(DType dtype, const float* values, std::size_t count, std::byte* out) {
  if (dtype == DType::bf16) {
    numeric::narrow_bf16(values, count, out, 1);
  } else if (dtype == DType::fp16) {
    numeric::narrow_fp16(values, count, out, 1);
  } else {
    std::memcpy(out, values, count * sizeof(float));
  }
}

void pack_floats(const Tensor& tensor, DType dtype, Packed& packed) {
  FloatBlock in{};
  FloatBlock back{};
  const std::size_t width = numeric::size_bytes(dtype);
  for (std::size_t first = 0; first < tensor.size(); first += FloatBlock::most) {
    const std::size_t count = std::min(FloatBlock::most, tensor.size() - first);
    std::byte* out = packed.bytes.data() + first * width;
    if (tensor.element == Element::f4) {
      std::memcpy(in.values.data(), tensor.data.data() + 4 * first, 4 * count);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const double value = odd_value(tensor, first + i);
        in.values[i] = dtype == DType::fp32 ? static_cast<float>(value) : odd_float(value);
      }
    }
    narrow(dtype, in.values.data(), count, out);
    numeric::load_as_fp32(dtype, out, count, 1, back.values.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double value =
          tensor.element == Element::f4 ? static_cast<double>(in.values[i]) : odd_value(tensor, first + i);
      const auto kept = static_cast<double>(back.values[i]);
      if (kept == value || std::isnan(value)) continue;
      ++packed.rounded;
      if (std::isinf(kept)) ++packed.overflowed;
    }
  }
}

void pack_integers(const Tensor& tensor, DType dtype, Packed& packed, const std::string& where) {
  const std::size_t width = numeric::size_bytes(dtype);
  const bool is_signed = dtype != DType::uint8;
  const double low = is_signed ? -std::ldexp(1.0, static_cast<int>(8 * width) - 1) : 0;
  const double high = std::ldexp(1.0, static_cast<int>(8 * width) - (is_signed ? 1 : 0)) - 1;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.value(i);
    if (!(value >= low && value <= high && std::trunc(value) == value)) {
      std::array<char, 40> text{};
      std::snprintf(text.data(), text.size(), "%.9g", value);
      throw UserError(where, "element " + index_text(index_of(tensor.shape, i)) + " = " + text.data() + " is no " +
                                 std::string(numeric::name(dtype)));
    }
    const auto integer = static_cast<std::int64_t>(value);
    std::memcpy(packed.bytes.data() + i * width, &integer, width);
  }
}

std::size_t element_count(std::span<const std::size_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

std::string comma_list(std::span<const std::size_t> numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

}  // namespace

std::size_t size_bytes(Element element) { return row(element).bytes; }
bool is_float(Element element) { return row(element).is_float; }
std::string_view descr(Element element) { return row(element).descr; }

double Tensor::value(std::size_t i) const {
  const std::byte* at = data.data() + i * size_bytes(element);
  switch (element) {
    case Element::f2:
      return static_cast<double>(numeric::from_fp16(load<std::uint16_t>(at)));
    case Element::f4:
      return static_cast<double>(load<float>(at));
    case Element::f8:
      return load<double>(at);
    case Element::i1:
      return load<std::int8_t>(at);
    case Element::i2:
      return load<std::int16_t>(at);
    case Element::i4:
      return load<std::int32_t>(at);
    case Element::i8:
      return static_cast<double>(load<std::int64_t>(at));
    case Element::u1:
    case Element::b1:
      return load<std::uint8_t>(at);
    case Element::u2:
      return load<std::uint16_t>(at);
    case Element::u4:
      return load<std::uint32_t>(at);
    case Element::u8:
      return static_cast<double>(load<std::uint64_t>(at));
  }
  throw Defect("a tensor of an unknown element type");
}

Tensor make_tensor(std::vector<std::size_t> shape, std::span<const float> values) {
  if (element_count(shape) != values.size())
    throw Defect("shape " + shape_text(shape) + " for " + std::to_string(values.size()) + " values");
  const auto bytes = std::as_bytes(values);
  return {std::move(shape), Element::f4, {bytes.begin(), bytes.end()}};
}

Tensor make_tensor(std::vector<std::size_t> shape) {
  const std::size_t bytes = element_count(shape) * sizeof(float);
  return {std::move(shape), Element::f4, std::vector<std::byte>(bytes)};
}

std::vector<std::size_t> index_of(std::span<const std::size_t> shape, std::size_t i) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = i % shape[axis];
    i /= shape[axis];
  }
  return index;
}

std::string index_text(std::span<const std::size_t> index) { return "[" + comma_list(index) + "]"; }

std::string shape_text(std::span<const std::size_t> shape) {
  return "(" + comma_list(shape) + (shape.size() == 1 ? ",)" : ")");
}

Packed pack(const Tensor& tensor, DType dtype, const std::string& where) {
  Packed packed;
  if (same_bytes(tensor.element, dtype)) {
    packed.bytes = tensor.data;
    return packed;
  }
  packed.bytes.resize(tensor.size() * numeric::size_bytes(dtype));
  if (numeric::is_float(dtype)) {
    pack_floats(tensor, dtype, packed);
  } else {
    pack_integers(tensor, dtype, packed, where);
  }
  return packed;
}

Tensor unpack(std::span<const std::byte> bytes, std::vector<std::size_t> shape, DType dtype) {
  const std::size_t count = element_count(shape);
  if (bytes.size() != count * numeric::size_bytes(dtype))
    throw Defect(std::to_string(bytes.size()) + " bytes for shape " + shape_text(shape) + " of " +
                 std::string(numeric::name(dtype)));
  Tensor tensor{std::move(shape), element_of(dtype), {}};
  if (dtype != DType::bf16) {
    tensor.data.assign(bytes.begin(), bytes.end());
    return tensor;
  }
  tensor.data.resize(4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const float value = numeric::from_bf16(load<std::uint16_t>(bytes.data() + 2 * i));
    std::memcpy(tensor.data.data() + 4 * i, &value, 4);
  }
  return tensor;
}

}  // namespace tilevp::runtime
