#include "system/npy_file.hpp"

#include <cstdint>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "system/command_runner.hpp"

namespace tilevp::test {
namespace {

constexpr std::size_t preamble = 10;  // magic, version 1.0, u16 length of the header

std::string shape_text(const std::vector<long>& shape) {
  std::string text = "(";
  for (const long extent : shape) text += std::to_string(extent) + ", ";
  return text + ")";
}

}  // namespace

void write_npy(const std::string& file, const NpyFile& tensor) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape_text(tensor.shape) + ", }";
  header.resize((preamble + header.size() + 64) / 64 * 64 - preamble, ' ');
  header.back() = '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
  write_file(file, bytes);
}

NpyFile read_npy(const std::string& file) {
  const std::string bytes = read_file(file);
  const auto fail = [&](const std::string& what) { throw std::runtime_error(file + ": " + what); };
  if (bytes.size() < preamble || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0)
    fail("no .npy file of version 1.0");
  const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(preamble, length);
  if (header.find("'<f4'") == std::string::npos || header.find("'fortran_order': False") == std::string::npos)
    fail("expected fp32 in C order, found " + header);
  NpyFile tensor;
  const auto open = header.find('(');
  std::istringstream list(header.substr(open + 1, header.find(')') - open - 1));
  std::size_t count = 1;
  for (std::string extent; std::getline(list, extent, ',');) {
    if (extent.find_first_not_of(' ') == std::string::npos) continue;
    tensor.shape.push_back(std::stol(extent));
    count *= static_cast<std::size_t>(tensor.shape.back());
  }
  if (bytes.size() != preamble + length + count * sizeof(float)) fail("its size does not fit its shape");
  tensor.values.resize(count);
  std::memcpy(tensor.values.data(), bytes.data() + preamble + length, count * sizeof(float));
  return tensor;
}

}  // namespace tilevp::test
