#pragma once
// The header of a `.npy` file: a Python dictionary literal with three keys.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/runtime/tensor.hpp"

namespace tilevp::runtime {

struct NpyHeader {
  Element element = Element::f4;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::size_t> shape{};
  std::size_t data_bytes = 0;  // product of the shape times the element's size; no overflow
};

// UserError(name) for anything but the three keys, a known element type, True or False, and a tuple of at most 32
// decimal numbers.
NpyHeader parse_npy_header(const std::string& name, std::string_view text);

// Magic, version 1.0, length and dictionary, padded so that the data starts at a multiple of 64.
std::string npy_header(const std::vector<std::size_t>& shape, Element element);

}  // namespace tilevp::runtime
