#include "tilevp/pto/assembler/statement.hpp"

#include <algorithm>

namespace tilevp::pto::assembler {

using assembly::number_text;

void Statement::append(std::uint64_t word, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) words_.push_back(static_cast<std::byte>(word >> 8 * i & 0xff));
}

void Statement::end() {
  if (kind_ == Kind::command) {
    const auto encoded = cube::encode(command_);
    append(encoded.word, encoded.bytes);
  } else if (kind_ == Kind::raw) {
    append(raw_.word, raw_.bytes);
  }
  kind_ = Kind::nothing;
}

void Statement::raw(unsigned bytes, Wide value) {
  raw_ = {static_cast<std::uint64_t>(value), bytes};
  kind_ = Kind::raw;
}

void Statement::set_mask(const char* at, const std::string& digits) {
  cube::PeMask mask = 0;
  for (const char digit : digits) mask = static_cast<cube::PeMask>(mask << 1 | (digit == '1' ? 1 : 0));
  const auto found = std::ranges::find(cube::pe_masks, mask);
  if (found == cube::pe_masks.end())
    throw Mistake{at, "one of the masks 0000 1000 0100 0010 0001 1100 1110 1111", digits};
  const auto mode = static_cast<std::uint8_t>(found - cube::pe_masks.begin());
  if (auto* shared = std::get_if<cube::BIos>(&command_))
    shared->pe_mode = mode;
  else
    as<cube::BIot>().pe_mode = mode;
}

std::uint8_t Statement::size_code(const char* at, Wide value, unsigned unit, unsigned largest) const {
  for (unsigned code = 1; code <= largest; ++code)
    if (value == (unit == 0 ? code : cube::size_code_bytes(code) / unit) &&
        (unit == 0 || cube::size_code_bytes(code) % unit == 0))
      return static_cast<std::uint8_t>(code);
  throw Mistake{at,
                "a size from 128B to " + std::to_string(cube::size_code_bytes(largest) / 1024) +
                    "KB, a power of two, or its code 1 to " + std::to_string(largest),
                number_text(value) + (unit == 0   ? ""
                                      : unit == 1 ? "B"
                                                  : "KB")};
}

void Statement::set_prequant(const char* at, Wide code) {
  if (code < 0 || code > 63 || cube::prequant_name(static_cast<unsigned>(code)).empty())
    throw Mistake{at, "a PreQuantMode that is assigned", number_text(code)};
  as<cube::BFpatr>().prequant = static_cast<std::uint8_t>(code);
}

void Statement::set_group_columns(const char* at, Wide columns) {
  const auto found = std::ranges::find_if(cube::group_columns, [&](unsigned c) { return c == columns; });
  if (found == cube::group_columns.end())
    throw Mistake{at, "0, 8, 16, 32, 48, 64, 80, 96, 112 or 128 columns", number_text(columns)};
  as<cube::BFpatr>().group_n_code = static_cast<std::uint8_t>(found - cube::group_columns.begin());
}

// By position: GroupNCode, RowMaxEn, GroupMaxEn, RowMaxInit, MaxAbsEn, TransA, TransB, CScaleEn.
void Statement::add_fpatr_number(const char* at, Wide value) {
  auto& c = as<cube::BFpatr>();
  const unsigned position = positions++;
  if (position == 0) {
    if (value < 0 || value >= static_cast<Wide>(cube::group_columns.size()))
      throw Mistake{at, "a GroupNCode from 0 to 9", number_text(value)};
    c.group_n_code = static_cast<std::uint8_t>(value);
    return;
  }
  const std::array<bool*, 7> flags{&c.row_max, &c.group_max, &c.row_max_init, &c.max_abs,
                                   &c.trans_a, &c.trans_b,   &c.cscale};
  if (position > flags.size()) throw Mistake{at, "at most ten operands", number_text(value)};
  if (value != 0 && value != 1) throw Mistake{at, "0 or 1", number_text(value)};
  *flags[position - 1] = value == 1;
}

void Statement::set_layout(const char* at, Wide code) {
  auto& c = as<cube::BDatr>();
  if (code >= 0 && code < 32) {
    c.layout = static_cast<std::uint8_t>(code);
    if (std::holds_alternative<cube::Decoded>(cube::decode(cube::encode(cube::BDatr{.layout = c.layout}).word))) return;
  }
  throw Mistake{at, "a layout that is assigned", number_text(code)};
}

void Statement::check_iot(const char* at) const {
  const auto& c = std::get<cube::BIot>(command_);
  if (c.sources == 0 && c.size_code == 0) throw Mistake{at, "a source or a destination"};
}

void Statement::add_scalar_source(const char* at) {
  auto& c = as<cube::BIor>();
  if (sources == c.source.size()) throw Mistake{at, "at most three sources"};
  c.source[sources++] = static_cast<std::uint8_t>(gpr);
}

}  // namespace tilevp::pto::assembler
