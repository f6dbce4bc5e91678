#pragma once
// .npy files of fp32 as numpy's format description has them (version 1.0); of the tests' own, so that the product's
// reader and writer meet another's.
#include <cstddef>
#include <string>
#include <vector>

namespace tilevp::test {

struct NpyFile {
  std::vector<long> shape;
  std::vector<float> values;
};

void write_npy(const std::string& file, const NpyFile& tensor);
// std::runtime_error for anything but fp32 in C order.
NpyFile read_npy(const std::string& file);

}  // namespace tilevp::test
