#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>

#include "mnist_host/network.hpp"

namespace tilevp::mnist {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t preamble = 10;  // magic, version, header length

std::vector<std::size_t> parse_shape(const std::string& text) {
  static const std::regex number("[0-9]+");
  std::vector<std::size_t> shape;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it)
    shape.push_back(std::stoul(it->str()));
  return shape;
}

// One element: `<u2` is a bf16, the upper half of an fp32.
float element(const char* at, char kind) {
  std::uint32_t bits = 0;
  if (kind == 'u') {
    std::memcpy(reinterpret_cast<char*>(&bits) + 2, at, 2);
  } else {
    std::memcpy(&bits, at, 4);
  }
  return kind == 'i' ? static_cast<float>(std::bit_cast<std::int32_t>(bits)) : std::bit_cast<float>(bits);
}

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  return count;
}

}  // namespace

Tensor read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  static const std::regex header(
      R"(\{'descr': '<(f4|i4|u2)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n)");
  const std::size_t header_bytes =
      bytes.size() < preamble ? 0 : static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  std::smatch match;
  const std::string text = bytes.substr(std::min(bytes.size(), preamble), header_bytes);
  if (!bytes.starts_with(std::string("\x93NUMPY\x01\x00", 8)) || !std::regex_match(text, match, header))
    throw std::runtime_error(path + ": expected an .npy file of version 1 with <f4, <i4 or <u2 (bf16) in C order");
  Tensor tensor{parse_shape(match[2]), {}};
  const std::size_t count = product(tensor.shape);
  const char kind = *match[1].first;
  const std::size_t width = kind == 'u' ? 2 : 4;
  if (bytes.size() != preamble + header_bytes + width * count)
    throw std::runtime_error(path + ": expected " + std::to_string(count) + " values of " + std::to_string(width) +
                             " bytes, found " + std::to_string(bytes.size() - preamble - header_bytes) + " bytes");
  tensor.values.reserve(count);
  const char* data = bytes.data() + preamble + header_bytes;
  for (std::size_t i = 0; i < count; ++i) tensor.values.push_back(element(data + width * i, kind));
  return tensor;
}

void write_npy(const std::string& path, const Tensor& tensor) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (const std::size_t extent : tensor.shape) header += std::to_string(extent) + ", ";
  header += "), }";
  header.append(63 - (preamble + header.size()) % 64, ' ');  // the data starts on a multiple of 64 bytes
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() % 256)).put(static_cast<char>(header.size() / 256));
  file << header;
  file.write(reinterpret_cast<const char*>(tensor.values.data()),
             static_cast<std::streamsize>(4 * tensor.values.size()));
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace tilevp::mnist
