#include "tilevp/sc_main/memory_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "tilevp/base/atomic_file.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/base/hex_text.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::command {
namespace {

using Map = std::vector<platform::MemoryRegion>;

constexpr std::string_view load_option = "--load";
constexpr std::string_view dump_option = "--dump";
// Bytes that go to or come from memory at once.
constexpr std::uint64_t piece_bytes = 1 << 20;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

struct Unit {
  std::string_view name;
  unsigned shift;
};
constexpr std::array units{Unit{"KiB", 10}, Unit{"MiB", 20}, Unit{"GiB", 30}};

// Decimal or hexadecimal, with a unit; nothing for any other text or beyond 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  unsigned shift = 0;
  for (const auto& unit : units)
    if (text.ends_with(unit.name)) {
      shift = unit.shift;
      text.remove_suffix(unit.name.size());
      break;
    }
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (value > UINT64_MAX >> shift) return std::nullopt;
  return value << shift;
}

std::string map_text(const Map& map) {
  std::string text;
  for (const auto& region : map)
    text += (text.empty() ? "" : ", ") + region.name + " " + hex_text(region.base) + " to " +
            hex_text(region.base + (region.bytes - 1));
  return text;
}

// All of the range must be memory: within a region, and within a partition where the region has partitions. The region.
const platform::MemoryRegion& check_range(std::string_view option, const std::string& place, std::uint64_t address,
                                          std::uint64_t bytes, const Map& map) {
  const std::string what = place + ": " + std::to_string(bytes) + " bytes from " + hex_text(address);
  for (const auto& region : map) {
    if (address < region.base || address - region.base >= region.bytes) continue;
    const std::uint64_t offset = address - region.base;
    if (bytes > region.bytes - offset)
      throw UserError(option, what + " leave " + region.name + ", which has " + std::to_string(region.bytes - offset) +
                                  " from there");
    const std::uint64_t in_piece = offset % region.piece_stride;
    if (in_piece >= region.piece_bytes || bytes > region.piece_bytes - in_piece)
      throw UserError(option, what + " leave the " + std::to_string(region.piece_bytes) + " bytes of partition " +
                                  std::to_string(offset / region.piece_stride) + " of " + region.name);
    return region;
  }
  throw UserError(option, what + " lie in no memory; there are " + map_text(map));
}

struct Assignment {
  std::string place;
  std::string file;
};

Assignment split(std::string_view option, const std::string& text, const char* form) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw UserError(option, std::string("expected ") + form + ", found '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::byte> raw_bytes(const std::string& file, std::uint64_t most) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  if (!error && size > most)
    throw UserError(load_option,
                    file + " has " + std::to_string(size) + " bytes, the largest memory " + std::to_string(most));
  const auto status = std::filesystem::status(file, error);
  errno = std::filesystem::is_directory(status) ? EISDIR : 0;
  if (errno == 0 && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw UserError(load_option, file + ": cannot read: not a regular file");
  std::ifstream in;
  if (errno == 0) in.open(file, std::ios::binary);
  if (!in.is_open()) throw UserError(load_option, file + ": cannot read: " + std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace

std::uint64_t parse_size(std::string_view option, const std::string& text) {
  const auto value = parse_number(trimmed(text));
  if (!value || *value == 0) throw UserError(option, "expected a size like 64, 0x40 or 4KiB, found '" + text + "'");
  return *value;
}

std::uint64_t parse_address(std::string_view option, const std::string& text, const Map& map) {
  std::uint64_t sum = 0;
  std::vector<std::string> names;
  for (const auto& region : map) names.push_back(region.name);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t plus = std::min(text.find('+', at), text.size());
    const std::string term = trimmed(text.substr(at, plus - at));
    const auto region = std::ranges::find(map, term, &platform::MemoryRegion::name);
    const auto number = parse_number(term);
    if (region == map.end() && !number)
      throw UserError(option, "expected an address like hbm+0x1000 or 4096, found '" + term + "' in '" + text +
                                  "'; memories are " + described::join(names) + described::nearest_hint(term, names));
    if (__builtin_add_overflow(sum, region != map.end() ? region->base : *number, &sum))
      throw UserError(option, "'" + text + "' is beyond 64 bits");
    at = plus + 1;
  }
  return sum;
}

LoadFile parse_load(const std::string& text, const Map& map) {
  const auto [place, file] = split(load_option, text, "ADDR=FILE");
  LoadFile load{.file = file, .address = parse_address(load_option, place, map), .bytes = {}};
  std::uint64_t most = 0;
  for (const auto& region : map) most = std::max(most, region.bytes);
  load.bytes = file.ends_with(".npy") ? runtime::read_npy(file).data : raw_bytes(file, most);
  if (load.bytes.empty()) throw UserError(load_option, file + " has no bytes");
  const auto& region = check_range(load_option, place, load.address, load.bytes.size(), map);
  if (region.read_only) throw UserError(load_option, place + ": " + region.name + " can only be read");
  return load;
}

DumpFile parse_dump(const std::string& text, const Map& map) {
  const auto [range, file] = split(dump_option, text, "ADDR:BYTES=FILE");
  const auto colon = range.rfind(':');
  if (colon == std::string::npos)
    throw UserError(dump_option, "expected ADDR:BYTES=FILE, found '" + text + "' without a size");
  const std::string place = range.substr(0, colon);
  DumpFile dump{.text = range,
                .file = file,
                .address = parse_address(dump_option, place, map),
                .bytes = parse_size(dump_option, range.substr(colon + 1))};
  dump.of_tiles = check_range(dump_option, place, dump.address, dump.bytes, map).read_only;
  return dump;
}

void load(platform::Platform& machine, const std::vector<LoadFile>& files) {
  for (const auto& file : files) {
    const std::span bytes(file.bytes);
    for (std::uint64_t done = 0; done < bytes.size(); done += piece_bytes)
      if (!machine.debug_write(file.address + done, bytes.subspan(done, std::min(piece_bytes, bytes.size() - done))))
        throw UserError(load_option, hex_text(file.address) + ": the memory model there has no debug access");
  }
}

void dump(platform::Platform& machine, const std::vector<DumpFile>& files) {
  std::vector<std::byte> piece;
  for (const auto& file : files) {
    AtomicFile out(file.file);
    for (std::uint64_t done = 0; done < file.bytes; done += piece.size()) {
      piece.resize(std::min(piece_bytes, file.bytes - done));
      if (!machine.debug_read(file.address + done, piece))
        throw UserError(dump_option, file.text + (file.of_tiles ? ": no tile holds all of these bytes now"
                                                                : ": the memory model there has no debug access"));
      out.write(piece);
    }
    out.commit();
  }
}

}  // namespace tilevp::command
