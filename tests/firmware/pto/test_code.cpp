// Bundles written from C++: the text of what was written, and what is refused.
#include <gtest/gtest.h>

#include "tilevp/base/errors.hpp"
#include "tilevp/pto/assembler/text.hpp"
#include "tilevp/pto/code.hpp"

namespace tilevp::pto {
namespace {

using cube::DataType;
using cube::Hand;
using cube::Layout;
using cube::Operation;

Load row(Hand hand, std::uint32_t columns = 4) {
  return {.type = DataType::fp16, .layout = Layout::cube_m16, .columns = columns, .base = gpr::a0, .hand = hand};
}
Load block(std::uint32_t rows, std::uint32_t columns) {
  return {.type = DataType::fp16,
          .layout = Layout::cube_n8,
          .rows = rows,
          .columns = columns,
          .base = gpr::a1,
          .stride = gpr::a2,
          .hand = Hand::u,
          .mask = 0b1000};
}
template <class Action>
std::string refused(Action&& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(PtoCode, AWholeProduct) {
  Code code(false);
  const Tile a = code.load(row(Hand::t, 9));
  const Tile b = code.load(block(9, 10));
  const Tile d = code.multiply({.operation = Operation::tgemv, .a = a, .b = b}).d;
  code.store({.tile = d, .base = gpr::a3});
  EXPECT_EQ(assembler::disassemble(code.words()),
            "BSTART.TLOAD FP16\n"
            "B.DATR {ND2M16, DTYPE_NONE, Null, 0, Default, 0, 0}\n"
            "C.B.DIMI 9, ->LB0\n"
            "C.B.DIMI 1, ->LB1\n"
            "B.IOR a0\n"
            "B.IOT mask=1111, last, ->T<512B>\n"  // ceil(9 / 4) cells of 128 bytes, rounded up
            "C.BSTOP\n"
            "BSTART.TLOAD FP16\n"
            "B.DATR {ND2N8, DTYPE_NONE, Null, 0, Default, 0, 0}\n"
            "C.B.DIMI 10, ->LB0\n"
            "C.B.DIMI 9, ->LB1\n"
            "B.IOR a1, a2\n"
            "B.IOT mask=1000, last, ->U<512B>\n"  // 2 x 2 cells
            "C.BSTOP\n"
            "BSTART.TGEMV FP16\n"
            "B.FPATR None, None\n"
            "C.B.DIMI 10, ->LB1\n"
            "C.B.DIMI 9, ->LB2\n"
            "B.IOT T#1, U#1, mask=1111, last, ->M<1KB>\n"  // ceil(10 / 2) cells of fp32
            "C.BSTOP\n"
            "BSTART.TSTORE FP32\n"
            "B.DATR {M162ND, DTYPE_NONE, Null, 0, Default, 0, 0}\n"
            "C.B.DIMI 10, ->LB0\n"
            "C.B.DIMI 1, ->LB1\n"
            "B.IOR a3\n"
            "B.IOT M#1, mask=1111, last\n"
            "C.BSTOP\n");
  EXPECT_EQ(code.bundles(), 4U);
  EXPECT_EQ(code.instructions(), 27U);
}

// The bindings of the published example with both maxima, except that both have one hand.
TEST(PtoCode, Reductions) {
  Code code(false);
  const Tile a = code.load(row(Hand::t, 1));
  Load load = block(1, 16);
  load.mask = 0b1111;
  const Tile b = code.load(load);
  const auto product =
      code.multiply({.a = a,
                     .b = b,
                     .post = {.prequant = 1, .group_n_code = 1, .row_max = true, .group_max = true, .max_abs = true},
                     .hand = Hand::t,
                     .reductions = Hand::u});
  const std::string text = assembler::disassemble(code.words());
  EXPECT_NE(text.find("B.FPATR F322F16, None, GroupN=8, RowMaxEn, GroupMaxEn, MaxAbsEn\n"
                      "C.B.DIMI 16, ->LB1\n"
                      "B.IOT T#1, U#1, mask=1111, ->T<512B>\n"
                      "B.IOT mask=1111, ->U<128B>\n"
                      "B.IOT mask=1111, last, ->U<128B>\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(product.d.number, 2U);
  EXPECT_EQ(product.row_max->columns, 1U);
  EXPECT_EQ(product.group_max->columns, 2U);
  EXPECT_EQ(product.group_max->number, 3U);
  EXPECT_EQ(refused([&] { code.multiply({.a = a, .b = b, .post = {.group_max = true}}); }),
            "bundle 3: GroupMaxEn needs a GroupNCode from 1 to 9");
}

// #1 is the newest tile of its hand; with absolute selectors the first one published.
TEST(PtoCode, SelectorsFollowTheReading) {
  for (const bool absolute : {false, true}) {
    Code code(absolute);
    const Tile first = code.load(row(Hand::t));
    code.load(row(Hand::t));
    code.load(row(Hand::t));
    code.store({.tile = first});
    const std::string text = assembler::disassemble(code.words());
    EXPECT_NE(text.find(absolute ? "B.IOT T#1, mask" : "B.IOT T#3, mask"), std::string::npos) << text;
  }
}

TEST(PtoCode, TilesThatAreGoneAreRefused) {
  Code code(false);
  const Tile first = code.load(row(Hand::t));
  for (int i = 0; i < 15; ++i) code.load(row(Hand::t));
  EXPECT_EQ(refused([&] { code.store({.tile = first}); }), "nothing");
  code.load(row(Hand::t));
  EXPECT_EQ(refused([&] { code.store({.tile = first}); }), "bundle 18: tile 1 of hand T is older than the newest 16");
  Code absolute(true);
  for (int i = 0; i < 16; ++i) absolute.load(row(Hand::t));
  EXPECT_EQ(refused([&] { absolute.load(row(Hand::t)); }),
            "bundle 16: hand T would define its tile 17, and with absolute selectors none is freed");
}

TEST(PtoCode, RangesAreChecked) {
  Code code(false);
  EXPECT_EQ(refused([&] { code.load(row(Hand::t, 0)); }).substr(0, 9), "bundle 0:");
  Load wide = row(Hand::t, 4);
  wide.mask = 0b0110;
  EXPECT_EQ(refused([&] { code.load(wide); }), "bundle 0: no PEMode stands for the mask 6");
  wide = row(Hand::t, 4);
  wide.bytes = 100;
  EXPECT_EQ(refused([&] { code.load(wide); }),
            "bundle 0: expected a tile of 128 to 65536 bytes, a power of two, found 100");
  EXPECT_EQ(refused([&] { tile_bytes(Layout::cube_m16, DataType::fp32, 1, 2048); }),
            "a tile of 1 x 2048 FP32 takes 131072 bytes, at most 65536 are possible");
}

TEST(PtoCode, AddressesOfAnySize) {
  Code code(false);
  code.add_offset(gpr::x0, gpr::a0, 4095);
  code.add_offset(gpr::x0, gpr::a0, 4096);
  code.add_offset(gpr::x0, gpr::a0, 0x1000000);
  code.set(gpr::x1, 0x123456789a);
  EXPECT_EQ(assembler::disassemble(code.words()),
            "addi a0, 4095, ->x0\n"
            "hl.addi a0, 4096, ->x0\n"
            "hl.liu 0x1000000, ->x0\n"
            "add x0, a0, ->x0\n"
            "hl.liu 0x3456789a, ->x1\n"
            "hl.lui 0x12, ->x3\n"
            "add x1, x3, ->x1\n");
}

}  // namespace
}  // namespace tilevp::pto
