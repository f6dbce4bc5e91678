#include "tilevp/pto/code.hpp"

#include <algorithm>
#include <bit>

#include "tilevp/base/errors.hpp"

namespace tilevp::pto {

using cube::BDatr;
using cube::BDim;
using cube::BIor;
using cube::BIot;
using cube::BStart;
using cube::BStop;
using cube::ceil_div;
using cube::Command;
using cube::DataType;
using cube::Encoded;
using cube::find_prequant;
using cube::group_columns;
using cube::Hand;
using cube::Layout;
using cube::max_local_tile_bytes;
using cube::Operation;
using cube::pe_masks;
using cube::PeMask;
using cube::PreQuantMode;
using cube::Scalar;
using cube::ScalarOp;
using cube::StopForm;
using cube::tiles_per_hand;

namespace {

constexpr std::uint32_t smallest_tile = 128;
constexpr std::uint32_t largest_dimension = 65'535;

std::string hand_text(Hand hand) { return std::string(1, "TUMN"[static_cast<std::size_t>(hand)]); }

// Transport layout of a load or store.
std::uint8_t transport(Layout layout, bool load) {
  switch (layout) {
    case Layout::cube_m16:
      return load ? cube::nd2m16 : cube::m162nd;
    case Layout::cube_m32:
      return load ? cube::nd2m32 : cube::m322nd;
    case Layout::cube_n8:
      return load ? cube::nd2n8 : cube::n82nd;
    case Layout::row_major:
      break;
  }
  return 0;
}

constexpr std::uint8_t pad_null = 3;

}  // namespace

std::uint32_t row_major_columns(std::uint32_t columns) { return std::bit_ceil(columns); }

std::uint32_t tile_bytes(Layout layout, DataType type, std::uint32_t rows, std::uint32_t columns) {
  std::uint64_t bytes = 0;
  if (layout == Layout::row_major)
    bytes = std::uint64_t{rows} * row_major_columns(columns) * bits(type) / 8;
  else
    bytes = cell_storage_bytes(layout, bits(type), rows, columns);
  bytes = std::bit_ceil(std::max<std::uint64_t>(bytes, smallest_tile));
  if (bytes > max_local_tile_bytes)
    throw UserError("", "a tile of " + std::to_string(rows) + " x " + std::to_string(columns) + " " +
                            std::string(name(type)) + " takes " + std::to_string(bytes) + " bytes, at most " +
                            std::to_string(max_local_tile_bytes) + " are possible");
  return static_cast<std::uint32_t>(bytes);
}

void Code::refuse(const std::string& what) const { throw UserError("bundle " + std::to_string(bundles_), what); }

void Code::append(const Command& command) {
  const Encoded encoded = encode(command);
  for (unsigned i = 0; i < encoded.bytes; ++i) words_.push_back(static_cast<std::byte>(encoded.word >> 8 * i & 0xff));
  ++instructions_;
}

std::uint8_t Code::selector(const Tile& tile) const {
  const auto hand = static_cast<std::size_t>(tile.hand);
  const std::uint32_t published = published_[hand];
  if (tile.number == 0 || tile.number > published)
    refuse("hand " + hand_text(tile.hand) + " has published " + std::to_string(published) + " tiles, not " +
           std::to_string(tile.number));
  const std::uint32_t index = absolute_ ? tile.number - 1 : published - tile.number;
  if (index >= tiles_per_hand)
    refuse("tile " + std::to_string(tile.number) + " of hand " + hand_text(tile.hand) + " is older than the newest " +
           std::to_string(tiles_per_hand));
  return static_cast<std::uint8_t>(hand * tiles_per_hand + index);
}

std::uint8_t Code::pe_mode(PeMask mask) const {
  const auto found = std::ranges::find(pe_masks, mask);
  if (found == pe_masks.end()) refuse("no PEMode stands for the mask " + std::to_string(mask));
  return static_cast<std::uint8_t>(found - pe_masks.begin());
}

std::uint8_t Code::size_code(std::uint32_t bytes) const {
  if (bytes < smallest_tile || bytes > max_local_tile_bytes || !std::has_single_bit(bytes))
    refuse("expected a tile of 128 to 65536 bytes, a power of two, found " + std::to_string(bytes));
  return static_cast<std::uint8_t>(std::countr_zero(bytes) - 6);
}

Tile Code::publish(Tile tile) {
  auto& published = published_[static_cast<std::size_t>(tile.hand)];
  if (absolute_ && published == tiles_per_hand)
    refuse("hand " + hand_text(tile.hand) + " would define its tile 17, and with absolute selectors none is freed");
  tile.number = ++published;
  return tile;
}

void Code::dimension(std::uint8_t index, std::uint32_t value) {
  if (value == 0 || value > largest_dimension)
    refuse("expected LB" + std::to_string(index) + " from 1 to 65535, found " + std::to_string(value));
  append(BDim{.dimension = index, .immediate = value, .compressed = value < 256});
}

void Code::end_bundle() {
  append(BStop{StopForm::c_bstop});
  ++bundles_;
}

Tile Code::load(const Load& load) {
  const bool cells = load.layout != Layout::row_major;
  const std::uint32_t bytes =
      load.bytes != 0 ? load.bytes : tile_bytes(load.layout, load.type, load.rows, load.columns);
  append(BStart{Operation::tload, load.type});
  if (cells) append(BDatr{.pad = pad_null, .layout = transport(load.layout, true)});
  dimension(0, load.columns);
  dimension(1, load.rows);
  if (!cells) dimension(2, row_major_columns(load.columns));
  append(BIor{0, {load.base, load.stride, 0}});
  append(BIot{0, {}, true, size_code(bytes), load.hand, pe_mode(load.mask)});
  ++loads_;
  const Tile tile = publish({load.hand, 0, load.type, load.layout, load.rows, load.columns, bytes});
  end_bundle();
  return tile;
}

void Code::store(const Store& store) {
  append(BStart{Operation::tstore, store.tile.type});
  if (store.tile.layout != Layout::row_major)
    append(BDatr{.pad = pad_null, .layout = transport(store.tile.layout, false)});
  dimension(0, store.tile.columns);
  dimension(1, store.tile.rows);
  append(BIor{0, {store.base, store.stride, 0}});
  append(BIot{1, {selector(store.tile), 0}, true, 0, Hand::t, pe_mode(store.mask)});
  end_bundle();
}

std::vector<Tile> Code::bind(const std::vector<Tile>& sources, const std::vector<Tile>& destinations,
                             std::uint8_t mode) {
  std::vector<BIot> bindings;
  for (std::size_t at = 0; at < sources.size(); at += 2) {
    BIot binding{.sources = static_cast<std::uint8_t>(std::min<std::size_t>(2, sources.size() - at)), .pe_mode = mode};
    for (std::size_t i = 0; i < binding.sources; ++i) binding.source[i] = selector(sources[at + i]);
    bindings.push_back(binding);
  }
  for (const Tile& tile : destinations) {
    if (&tile != destinations.data()) bindings.push_back({.pe_mode = mode});
    bindings.back().size_code = size_code(tile.bytes);
    bindings.back().destination = tile.hand;
  }
  bindings.back().last = true;
  for (const BIot& binding : bindings) append(binding);
  std::vector<Tile> published;
  for (const Tile& tile : destinations) published.push_back(publish(tile));
  return published;
}

Product Code::multiply(const Multiply& m) {
  const DataType accumulator = accumulator_of(numeric_class(m.a.type));
  const PreQuantMode* mode = find_prequant(m.post.prequant);
  if (mode == nullptr) refuse("PreQuantMode " + std::to_string(m.post.prequant) + " is reserved");
  if (m.c.has_value() != accumulates(m.operation) || m.bias.has_value() != has_bias(m.operation))
    refuse(std::string(name(m.operation)) + ": C and Bias do not go with it");
  if (m.a.columns != m.b.rows)
    refuse("A has " + std::to_string(m.a.columns) + " columns, B " + std::to_string(m.b.rows) + " rows");
  const DataType type = result_type(*mode, accumulator);
  const std::uint32_t bytes = m.bytes != 0 ? m.bytes : tile_bytes(m.a.layout, type, m.a.rows, m.b.columns);
  std::vector<Tile> sources;
  if (m.c) sources.push_back(*m.c);
  sources.push_back(m.a);
  sources.push_back(m.b);
  for (const auto& optional : {m.bias, m.row_max_in, m.quant_vector, m.slope_vector})
    if (optional) sources.push_back(*optional);
  std::vector<Tile> destinations{{m.hand, 0, type, m.a.layout, m.a.rows, m.b.columns, bytes}};
  const auto add_reduction = [&](std::uint32_t columns) {
    destinations.push_back({m.reductions, 0, accumulator, Layout::row_major, m.a.rows, columns,
                            tile_bytes(Layout::row_major, accumulator, m.a.rows, columns)});
  };
  if (m.post.row_max) add_reduction(1);
  if (m.post.group_max) {
    const std::uint32_t group = m.post.group_n_code < group_columns.size() ? group_columns[m.post.group_n_code] : 0;
    if (group == 0) refuse("GroupMaxEn needs a GroupNCode from 1 to 9");
    add_reduction(ceil_div(m.b.columns, group));
  }

  append(BStart{m.operation, m.a.type});
  if (m.b.type != m.a.type || m.rounding != 0 || m.saturate)
    append(BDatr{.saturate = m.saturate, .type = static_cast<std::uint8_t>(m.b.type), .rounding = m.rounding});
  append(m.post);
  if (m.a.rows != 1) dimension(0, m.a.rows);
  if (m.b.columns != 1) dimension(1, m.b.columns);
  if (m.a.columns != 1) dimension(2, m.a.columns);
  if (m.parameters[0] != 0) append(BIor{0, {m.parameters[0], m.parameters[1], 0}});
  const auto published = bind(sources, destinations, pe_mode(m.mask));
  end_bundle();
  Product product{.d = published[0]};
  if (m.post.row_max) product.row_max = published[1];
  if (m.post.group_max) product.group_max = published.back();
  return product;
}

void Code::set(std::uint8_t gpr, std::uint64_t value) {
  const auto low = static_cast<std::int64_t>(value & 0xffff'ffff);
  const auto high = static_cast<std::int64_t>(value >> 32);
  append(Scalar{.op = ScalarOp::hl_liu, .destination = gpr, .immediate = low});
  if (high == 0) return;
  append(Scalar{.op = ScalarOp::hl_lui, .destination = gpr::x3, .immediate = high});
  append(Scalar{.op = ScalarOp::add, .destination = gpr, .left = gpr, .right = gpr::x3});
}

void Code::add_offset(std::uint8_t gpr, std::uint8_t base, std::uint64_t offset) {
  constexpr std::uint64_t short_limit = 1U << 12, long_limit = 1U << 24;
  if (offset < long_limit) {
    append(Scalar{.op = offset < short_limit ? ScalarOp::addi : ScalarOp::hl_addi,
                  .destination = gpr,
                  .left = base,
                  .immediate = static_cast<std::int64_t>(offset)});
    return;
  }
  set(gpr, offset);
  append(Scalar{.op = ScalarOp::add, .destination = gpr, .left = gpr, .right = base});
}

}  // namespace tilevp::pto
