#include "tilevp/runtime/npy.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tilevp/runtime/npy_header.hpp"

namespace tilevp::runtime {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

// A file or a piece of memory: its size, and its bytes from an offset on.
struct Source {
  std::string name;
  std::size_t size;
  std::function<void(std::size_t offset, std::span<std::byte> out)> read;

  std::string text(std::size_t offset, std::size_t count) const {
    std::string result(count, '\0');
    read(offset, std::as_writable_bytes(std::span(result)));
    return result;
  }
};

struct Located {
  NpyHeader header;
  std::size_t data_offset;
};

Located locate(const Source& source) {
  constexpr std::size_t shortest = 10;
  if (source.size < shortest || source.text(0, magic.size()) != magic)
    throw UserError(source.name, "not a .npy file: it does not start with \\x93NUMPY, a version and a length");
  const std::string version = source.text(magic.size(), 2);
  const int major = static_cast<unsigned char>(version[0]);
  if (major < 1 || major > 3 || version[1] != 0)
    throw UserError(source.name, ".npy version " + std::to_string(major) + "." +
                                     std::to_string(static_cast<unsigned char>(version[1])) +
                                     " is not supported; known are 1.0, 2.0 and 3.0");
  const std::size_t width = major == 1 ? 2 : 4;
  const std::size_t start = magic.size() + 2 + width;
  if (source.size < start) throw UserError(source.name, "ends within the header's length");
  std::uint32_t length = 0;
  source.read(magic.size() + 2, std::as_writable_bytes(std::span(&length, 1)).first(width));
  if (length > source.size - start)
    throw UserError(source.name, "header says it is " + std::to_string(length) + " bytes long, file has " +
                                     std::to_string(source.size - start) + " after the length");
  Located located{parse_npy_header(source.name, source.text(start, length)), start + length};
  const std::size_t have = source.size - located.data_offset;
  const auto& header = located.header;
  if (header.data_bytes != have) {
    std::string type(descr(header.element));
    if (header.big_endian) type[0] = '>';
    throw UserError(source.name, "header says shape " + shape_text(header.shape) + " of " + type + " = " +
                                     std::to_string(header.data_bytes) + " bytes, file has " + std::to_string(have) +
                                     " after the header");
  }
  return located;
}

void swap_bytes(std::vector<std::byte>& data, std::size_t width) {
  for (std::size_t at = 0; at < data.size(); at += width) {
    const auto first = data.begin() + static_cast<std::ptrdiff_t>(at);
    std::reverse(first, first + static_cast<std::ptrdiff_t>(width));
  }
}

// `data` has the first axis fastest; returns it with the last axis fastest.
std::vector<std::byte> transposed(const std::vector<std::byte>& data, const std::vector<std::size_t>& shape,
                                  std::size_t width) {
  std::vector<std::size_t> stride(shape.size());
  std::size_t next = width;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = next;
    next *= shape[axis];
  }
  std::vector<std::byte> result(data.size());
  std::vector<std::size_t> index(shape.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += width) {
    std::memcpy(result.data() + to, data.data() + from, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

Tensor read_from(const Source& source) {
  auto [header, offset] = locate(source);
  const std::size_t width = size_bytes(header.element);
  Tensor tensor{std::move(header.shape), header.element, std::vector<std::byte>(header.data_bytes)};
  source.read(offset, tensor.data);
  if (header.big_endian) swap_bytes(tensor.data, width);
  if (header.fortran_order && tensor.shape.size() > 1) tensor.data = transposed(tensor.data, tensor.shape, width);
  return tensor;
}

}  // namespace

Tensor parse_npy(const std::string& name, std::span<const std::byte> bytes) {
  return read_from({name, bytes.size(), [bytes](std::size_t offset, std::span<std::byte> out) {
                      std::ranges::copy(bytes.subspan(offset, out.size()), out.begin());
                    }});
}

Tensor read_npy(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error || !std::filesystem::exists(status))
    throw UserError(file, "cannot read: " + std::string(std::strerror(error ? error.value() : ENOENT)));
  if (!std::filesystem::is_regular_file(status)) throw UserError(file, "cannot read: not a regular file");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(file, std::string("cannot read: ") + std::strerror(errno));
  return read_from({file, std::filesystem::file_size(file), [&](std::size_t offset, std::span<std::byte> out) {
                      stream.seekg(static_cast<std::streamoff>(offset));
                      stream.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
                      if (!stream) throw UserError(file, "cannot read: it became shorter while it was read");
                    }});
}

void write_npy(AtomicFile& file, const Tensor& tensor) {
  file.write(npy_header(tensor.shape, tensor.element));
  file.write(tensor.data);
}

void write_npy(const std::string& file, const Tensor& tensor) {
  AtomicFile aside(file);
  write_npy(aside, tensor);
  aside.commit();
}

}  // namespace tilevp::runtime
