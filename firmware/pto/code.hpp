#pragma once
// Bundles written from C++: typed, with every range checked, and with tiles as values instead of selectors.
//
//   Code code(machine.absolute_selectors);
//   const Tile a = code.load({.type = DataType::fp16, .layout = Layout::cube_m16, .rows = 1, .columns = 64, ...});
//   const Tile d = code.multiply({.operation = Operation::tgemv, .a = a, .b = b}).d;
//   code.store({.tile = d, .base = a2});
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilevp/cube/isa.hpp"
#include "tilevp/cube/prequant.hpp"

namespace tilevp::pto {

// Numbers of GPRs.
namespace gpr {
inline constexpr std::uint8_t zero = 0, sp = 1, a0 = 2, a1 = 3, a2 = 4, a3 = 5, a4 = 6, a5 = 7, a6 = 8, a7 = 9, s0 = 11,
                              s1 = 12, x0 = 20, x1 = 21, x2 = 22, x3 = 23;
}

// A tile that a bundle of the program defined: publication `number` (from 1) of its hand.
struct Tile {
  cube::Hand hand = cube::Hand::t;
  std::uint32_t number = 0;
  cube::DataType type = cube::DataType::fp32;
  cube::Layout layout = cube::Layout::row_major;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t bytes = 0;  // a PE
};

// Rows of memory into a new tile. Row r is read at base + r * stride.
struct Load {
  cube::DataType type = cube::DataType::fp32;
  cube::Layout layout = cube::Layout::row_major;
  std::uint32_t rows = 1;
  std::uint32_t columns = 1;
  std::uint8_t base = gpr::zero;    // GPRs
  std::uint8_t stride = gpr::zero;  // in bytes
  std::uint32_t bytes = 0;          // of the tile, a PE; 0: the smallest that holds it
  cube::Hand hand = cube::Hand::t;
  cube::PeMask mask = 0b1111;
};

struct Store {
  Tile tile{};
  std::uint8_t base = gpr::zero;
  std::uint8_t stride = gpr::zero;
  cube::PeMask mask = 0b1111;
};

struct Multiply {
  cube::Operation operation = cube::Operation::tgemv;
  Tile a{}, b{};
  std::optional<Tile> c{}, bias{}, row_max_in{}, quant_vector{}, slope_vector{};
  cube::BFpatr post{};
  std::uint8_t rounding = 0;  // RMode
  bool saturate = false;
  std::array<std::uint8_t, 2> parameters{};  // GPRs of the scalar words, densely
  std::uint32_t bytes = 0;                   // of D, a PE; 0: the smallest that holds it
  cube::Hand hand = cube::Hand::m;
  cube::Hand reductions = cube::Hand::n;  // of RowMaxOut and GroupMaxOut, where `post` asks for them
  cube::PeMask mask = 0b1111;
};
struct Product {
  Tile d{};
  std::optional<Tile> row_max{}, group_max{};
};

// The smallest tile that holds so many elements: a power of two from 128 bytes on. UserError where it exceeds 64 KiB.
std::uint32_t tile_bytes(cube::Layout layout, cube::DataType type, std::uint32_t rows, std::uint32_t columns);
// Columns of the storage of a row-major tile that holds `columns`: a power of two.
std::uint32_t row_major_columns(std::uint32_t columns);

class Code {
 public:
  explicit Code(bool absolute_selectors) : absolute_(absolute_selectors) {}

  // Each is a bundle, closed. Throws UserError("bundle 12", ...) where a size, mask or tile is none that it can name.
  Tile load(const Load& load);
  void store(const Store& store);
  Product multiply(const Multiply& multiply);

  // Scalars, between bundles: a GPR gets a value, or another GPR plus an offset. May use x3.
  void set(std::uint8_t gpr, std::uint64_t value);
  void add_offset(std::uint8_t gpr, std::uint8_t base, std::uint64_t offset);

  void append(const cube::Command& command);

  const std::vector<std::byte>& words() const { return words_; }
  std::uint64_t instructions() const { return instructions_; }
  std::uint64_t bundles() const { return bundles_; }
  std::uint64_t loads() const { return loads_; }

 private:
  // The 6-bit code of a tile in the next bundle.
  std::uint8_t selector(const Tile& tile) const;
  std::uint8_t pe_mode(cube::PeMask mask) const;
  std::uint8_t size_code(std::uint32_t bytes) const;
  Tile publish(Tile tile);
  void dimension(std::uint8_t index, std::uint32_t value);
  // Sources in pairs, then destinations; the first of them stands with the last sources. Returns them published.
  std::vector<Tile> bind(const std::vector<Tile>& sources, const std::vector<Tile>& destinations, std::uint8_t mode);
  void end_bundle();
  [[noreturn]] void refuse(const std::string& what) const;

  bool absolute_;
  std::vector<std::byte> words_;
  std::array<std::uint32_t, cube::hands> published_{};
  std::uint64_t instructions_ = 0;
  std::uint64_t bundles_ = 0;
  std::uint64_t loads_ = 0;
};

}  // namespace tilevp::pto
