#pragma once
// numpy's `.npy` files (numpy documentation, "NEP 1: A simple file format for NumPy arrays"), versions 1, 2 and 3.
//
// The header is checked against the size of the file before anything is allocated. Fortran order is transposed and
// big-endian elements are swapped, so a Tensor is always row-major and little-endian. Structured, object, string,
// complex and time elements are refused by name.
#include <cstddef>
#include <span>
#include <string>

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/runtime/tensor.hpp"

namespace tilevp::runtime {

// UserError with the file's name, what its header says and what the file holds:
// `x.npy: header says shape (2000000000,) of <f4 = 8000000000 bytes, file has 48 after the header`.
Tensor read_npy(const std::string& file);

// The same from memory; `name` stands for the file in errors.
Tensor parse_npy(const std::string& name, std::span<const std::byte> bytes);

// Version 1.0, row-major. The first writes aside and renames; the second leaves the commit to the caller. UserError
// where the file cannot be written.
void write_npy(const std::string& file, const Tensor& tensor);
void write_npy(AtomicFile& file, const Tensor& tensor);

}  // namespace tilevp::runtime
