#pragma once
// All bytes of a stream that may never end (a pipe, /dev/zero).
#include <array>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>

namespace tilevp {

// What is left of `stream`; nothing where that is more than `most` bytes. Whether reading failed the stream knows.
inline std::optional<std::string> read_all(std::istream& stream, std::size_t most) {
  std::string bytes;
  std::array<char, 1 << 16> piece;
  while (stream.read(piece.data(), piece.size()) || stream.gcount() > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (bytes.size() > most) return std::nullopt;
  }
  return bytes;
}

}  // namespace tilevp
