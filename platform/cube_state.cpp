#include "tilevp/platform/cube_state.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/element.hpp"
#include "tilevp/cube/registers.hpp"
#include "tilevp/described/text.hpp"

namespace tilevp::platform {
namespace {

namespace core_map = cube::registers;

// Of a tile: so many elements of row 0.
constexpr std::uint32_t shown_elements = 8;

class State {
 public:
  State(std::uint64_t core_base, const DebugRead& read) : base_(core_base), read_(read) {}

  std::string stopped() const {
    const auto words = header();
    return words.empty() ? "no bundle is open" : words.front();
  }

  std::string text() const {
    std::string out = "bundle\n";
    for (const auto& line : header()) out += "  " + line + "\n";
    out += "registers\n  pc " + hex_text(wide(core_map::pc)) + ", flags " + hex_text(narrow(core_map::flags)) + "\n";
    for (unsigned g = 0; g < cube::gprs; ++g)
      if (const std::uint64_t value = wide(core_map::gpr(g)); value != 0)
        out += "  " + std::string(cube::gpr_name(g)) + " " + hex_text(value) + "\n";
    out += "tiles\n";
    bool any = false;
    for (unsigned t = 0; t < cube::local_tiles; ++t) any = tile(out, t) || any;
    return out + (any ? "" : "  none\n");
  }

 private:
  // The instructions of the open bundle up to the one that closes it, as text.
  std::vector<std::string> header() const {
    std::vector<std::string> lines;
    std::uint64_t at = wide(core_map::bundle_pc);
    const std::uint64_t end = wide(core_map::pc);
    while (at != 0 && at <= end) {
      std::uint64_t word = 0;
      if (!read_word(at, word)) break;
      const auto decoded = cube::decode(word);
      const auto* const good = std::get_if<cube::Decoded>(&decoded);
      if (good == nullptr) break;
      lines.push_back(cube::disassemble(good->command));
      at += good->bytes;
    }
    return lines;
  }

  // Up to eight bytes; fewer where memory ends.
  bool read_word(std::uint64_t at, std::uint64_t& word) const {
    for (const std::size_t bytes : {8U, 4U, 2U}) {
      std::array<std::byte, 8> raw{};
      if (!read_(at, std::span(raw).first(bytes))) continue;
      std::memcpy(&word, raw.data(), raw.size());
      return true;
    }
    return false;
  }

  template <class T>
  T value(std::uint64_t offset) const {
    T result{};
    read_(base_ + core_map::control_window + offset, std::as_writable_bytes(std::span(&result, 1)));
    return result;
  }
  std::uint64_t wide(std::uint64_t offset) const { return value<std::uint64_t>(offset); }
  std::uint32_t narrow(std::uint64_t offset) const { return value<std::uint32_t>(offset); }

  // False where the register holds none.
  bool tile(std::string& out, unsigned t) const {
    const auto field = [&](std::uint64_t offset) { return narrow(core_map::tile_info(t) + offset); };
    const std::uint32_t capacity = field(core_map::tile_capacity);
    if (capacity == 0) return false;
    const auto type = static_cast<cube::DataType>(field(core_map::tile_type));
    const auto layout = static_cast<cube::Layout>(field(core_map::tile_layout));
    const std::uint32_t rows = field(core_map::tile_valid_rows);
    const std::uint32_t columns = field(core_map::tile_valid_columns);
    const auto mask = static_cast<cube::PeMask>(field(core_map::tile_mask));
    out += "  register " + std::to_string(t) + " (" + "TUMN"[t / cube::tiles_per_hand] +
           "): " + std::string(cube::name(type)) + " " + std::string(cube::name(layout)) + ", " + std::to_string(rows) +
           " x " + std::to_string(columns) + ", " + std::to_string(capacity) + " bytes a PE\n";
    for (unsigned pe = 0; pe < cube::pes; ++pe)
      if (cube::selects(mask, pe))
        out += "    PE" + std::to_string(pe) + ":" + row(t, pe, type, layout, rows, columns) + "\n";
    return true;
  }

  std::string row(unsigned t, unsigned pe, cube::DataType type, cube::Layout layout, std::uint32_t rows,
                  std::uint32_t columns) const {
    std::string out;
    const unsigned bits = cube::bits(type);
    for (std::uint32_t c = 0; c < std::min(columns, shown_elements); ++c) {
      const std::uint64_t position =
          layout == cube::Layout::row_major ? c : cube::architectural_position(layout, bits, 0, c, rows);
      std::array<std::byte, 8> raw{};
      const std::uint64_t byte = position * bits / 8;
      const auto place = base_ + core_map::tile(pe, t) + byte;
      if (!read_(place, std::span(raw).first(std::max(bits / 8, 1U)))) return out + " (outside)";
      out += " " + element(raw.data(), type, position % 2);
    }
    return out + (columns > shown_elements ? " ..." : "");
  }

  // `odd`: of two 4-bit elements in the byte the upper one is meant.
  static std::string element(const std::byte* raw, cube::DataType type, std::uint64_t odd) {
    const unsigned bits = cube::bits(type);
    if (bits == 64) return hex_text(cube::load_word(raw, 0));
    const std::uint32_t code = cube::load_code(raw, bits, bits == 4 ? odd : 0);
    switch (cube::numeric_class(type)) {
      case cube::NumericClass::floating:
        return described::number_text(static_cast<double>(cube::decode_float(type, code)));
      case cube::NumericClass::signed_integer:
        return std::to_string(static_cast<std::int32_t>(cube::decode_integer(type, code)));
      default:
        return std::to_string(cube::decode_integer(type, code));
    }
  }

  std::uint64_t base_;
  const DebugRead& read_;
};

}  // namespace

std::string cube_stopped_text(std::uint64_t core_base, const DebugRead& read) {
  return State(core_base, read).stopped();
}

std::string cube_state_text(std::uint64_t core_base, const DebugRead& read) { return State(core_base, read).text(); }

}  // namespace tilevp::platform
