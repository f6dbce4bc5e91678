#pragma once
// Tensors as files hold them, and as bytes of a machine's element type.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/numeric/dtype.hpp"

namespace tilevp::runtime {

// Element types of `.npy` files, named as numpy does: kind and bytes.
enum class Element : std::uint8_t { f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, b1 };

std::size_t size_bytes(Element element);
bool is_float(Element element);
// numpy's type string, little-endian: "<f4", "|i1".
std::string_view descr(Element element);

// Row-major (last axis fastest), little-endian. An empty shape is one scalar.
struct Tensor {
  std::vector<std::size_t> shape{};
  Element element = Element::f4;
  std::vector<std::byte> data{};

  // Number of elements.
  std::size_t size() const { return data.size() / size_bytes(element); }
  // Element i in row-major order; exact but for 64-bit integers beyond 2^53, which round to nearest even.
  double value(std::size_t i) const;
  float as_float(std::size_t i) const { return static_cast<float>(value(i)); }
};

// A tensor of float elements. Defect where the shape does not fit the values.
Tensor make_tensor(std::vector<std::size_t> shape, std::span<const float> values);
// fp32 zeros, to be read into.
Tensor make_tensor(std::vector<std::size_t> shape);

// The tensor's index in its own axes of row-major element i.
std::vector<std::size_t> index_of(std::span<const std::size_t> shape, std::size_t i);
// "[1, 0, 3]", and "(3, 4)" or "(3,)" as Python writes a shape.
std::string index_text(std::span<const std::size_t> index);
std::string shape_text(std::span<const std::size_t> shape);

// A tensor's bytes in a machine's element type, row-major.
struct Packed {
  std::vector<std::byte> bytes{};
  std::size_t rounded = 0;     // elements whose value the type does not hold: rounded to nearest even
  std::size_t overflowed = 0;  // of those, finite ones that became infinite
};

// Converts to `dtype`. bf16 comes as numbers, or as raw bits where the elements are u2. Integer types take whole
// numbers within their range only; anything else is a UserError(where) with the index.
Packed pack(const Tensor& tensor, numeric::DType dtype, const std::string& where);

// The way back: bf16 and fp32 become f4, fp16 f2, integers their own kind. `bytes` holds shape's elements. Defect
// otherwise.
Tensor unpack(std::span<const std::byte> bytes, std::vector<std::size_t> shape, numeric::DType dtype);

}  // namespace tilevp::runtime
