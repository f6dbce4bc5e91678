// The words are those that the public tests and the encoding records give, not what the assembler made once.
#include <gtest/gtest.h>

#include <random>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/isa.hpp"
#include "tilevp/pto/assembler/text.hpp"

namespace tilevp::pto::assembler {
namespace {

Words words(std::initializer_list<std::pair<std::uint64_t, unsigned>> list) {
  Words all;
  for (const auto& [word, bytes] : list)
    for (unsigned i = 0; i < bytes; ++i) all.push_back(static_cast<std::byte>(word >> 8 * i & 0xff));
  return all;
}
Words words32(std::initializer_list<std::uint32_t> list) {
  Words all;
  for (const std::uint32_t word : list)
    for (unsigned i = 0; i < 4; ++i) all.push_back(static_cast<std::byte>(word >> 8 * i & 0xff));
  return all;
}

std::string mistake(const std::string& text) {
  try {
    assemble("p.s", text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(PtoAssembler, TheSmallestProduct) {
  EXPECT_EQ(assemble("p.s",
                     "BSTART.TGEMV FP16\n"
                     "B.FPATR None, None\n"
                     "B.IOT T#1, U#1, mask=1111, last, ->M<128B>\n"
                     "BSTOP\n"),
            words32({0x21031181, 0x00002023, 0x4008cf13, 0x00000001}));
}

TEST(PtoAssembler, SeveralStatementsALineAndComments) {
  EXPECT_EQ(assemble("p.s",
                     "# K = 9, N = 10\n"
                     "BSTART.TGEMV FP16; B.FPATR 0, 0; B.DIM zero, 10, ->LB1; B.DIM 0x9, ->LB2 // in cells\n"
                     "\n"
                     "  B.IOT T#1,U#1,mask=1111,<last>,->M<1KB> ;BSTOP # done\r\n"),
            words32({0x21031181, 0x00002023, 0x00a01043, 0x00902043, 0x400a4f13, 0x00000001}));
}

TEST(PtoAssembler, ReductionsByNameAndByPosition) {
  const auto expected = words32({0x21031181, 0x040ea023, 0x01001043, 0x4001ce13, 0x0000ee93, 0x0008ef13, 0x00000001});
  const std::string rest =
      "B.DIM zero, 16, ->LB1\nB.IOT T#1, U#1, mask=1111, ->T<512B>\nB.IOT mask=1111, ->U<1>\n"
      "B.IOT mask=1111, last, ->M<128B>\nBSTOP\n";
  EXPECT_EQ(
      assemble("p.s", "BSTART.TGEMV FP16\nB.FPATR F322F16, None, GroupN=8, RowMaxEn, GroupMaxEn, MaxAbsEn\n" + rest),
      expected);
  EXPECT_EQ(assemble("p.s", "BSTART.TGEMV FP16\nB.FPATR 1, 0, 1, 1, 1, 0, 1, 0, 0, 0\n" + rest), expected);
}

TEST(PtoAssembler, AttributesInBothForms) {
  EXPECT_EQ(assemble("p.s", "B.DATR S16, Default, Sat"), words32({0x05201023}));
  EXPECT_EQ(assemble("p.s", "B.DATR FP16"), words32({0x00401023}));
  EXPECT_EQ(assemble("p.s", "B.DATR {ND2M16, DTYPE_NONE, Null, None, Default, 0, 0}"), words32({0x19f01b23}));
  EXPECT_EQ(assemble("p.s", "B.DATR {30, DTYPE_NONE, Zero, 0, RHB, 0, 1}"), words32({0x03f39f23}));
  EXPECT_EQ(assemble("p.s", "B.CATR {trap, aqrl}"), words32({0x00098023}));
  EXPECT_EQ(assemble("p.s", "B.CATR {}"), words32({0x00000023}));
}

TEST(PtoAssembler, ScalarsOfAllLengths) {
  EXPECT_EQ(assemble("p.s", "addi a0, 1, ->a0"), words32({0x00110115}));
  EXPECT_EQ(assemble("p.s", "sub a0, a1.neg<<3, ->a2"), words32({0x1c311205}));
  EXPECT_EQ(assemble("p.s", "add a0, a1, ->a2"), words32({0x06310205}));
  EXPECT_EQ(assemble("p.s", "lui -1, ->sp"), words32({0xfffff097}));
  EXPECT_EQ(assemble("p.s", "hl.liu 0x12345678, ->a0"), words({{0x4567811d123e, 6}}));
  EXPECT_EQ(assemble("p.s", "hl.lis -1, ->a0"), words({{0xfffff10dfffe, 6}}));
  EXPECT_EQ(assemble("p.s", "hl.lui 1, ->a0"), words({{0x00001117000e, 6}}));
  EXPECT_EQ(assemble("p.s", "hl.addi a0, 0xabcdef, ->a1"), words({{0xdef10195abce, 6}}));
}

TEST(PtoAssembler, ShortFormsAndRawWords) {
  EXPECT_EQ(assemble("p.s", "C.B.DIMI 10, ->LB1; C.BSTOP; L.BSTOP; .half 0x1234; .word 7; .dword 0xf"),
            words({{0x42bc, 2}, {0, 2}, {0x000000010000000f, 8}, {0x1234, 2}, {7, 4}, {0xf, 8}}));
}

TEST(PtoAssembler, BindingsOfSharedTilesAndGprs) {
  EXPECT_EQ(assemble("p.s", "B.IOS S200, mask=1111"), words32({0x0c801e13}));
  EXPECT_EQ(assemble("p.s", "B.IOS mask=0001, ->S7<256KB>"), words32({0x00761813}));
  EXPECT_EQ(assemble("p.s", "B.IOR a0"), words32({0x00010013}));
  EXPECT_EQ(assemble("p.s", "B.IOR sp, zero, s0, ->x3"), words32({0x58008b93}));
}

// Every word that decodes comes back from its text, and what does not decode from its bits.
TEST(PtoAssembler, ListingsAssembleToTheirWords) {
  std::mt19937_64 random(4);
  constexpr std::uint32_t opcodes[] = {0x1181, 0x01, 0x13, 0x23, 0x43, 0x15, 0x05, 0x17, 0x0e, 0x3c};
  Words program;
  for (int i = 0; i < 3'000; ++i) {
    std::uint64_t word = random();
    const std::uint32_t opcode = opcodes[random() % std::size(opcodes)];
    word = opcode == 0x1181 ? (word & ~std::uint64_t{0x7fff}) | opcode : (word & ~std::uint64_t{0x7f}) | opcode;
    const unsigned bytes = cube::instruction_bytes(static_cast<std::uint16_t>(word & 0xffff));
    for (unsigned b = 0; b < bytes; ++b) program.push_back(static_cast<std::byte>(word >> 8 * b & 0xff));
  }
  program.push_back(std::byte{0x0e});  // cut off
  program.push_back(std::byte{0x00});
  const std::string text = disassemble(program);
  EXPECT_NE(text.find("B.IOT"), std::string::npos);
  EXPECT_NE(text.find("hl.liu"), std::string::npos);
  EXPECT_EQ(assemble("again.s", text), program);
}

TEST(PtoAssembler, AFileIsTextOrWords) {
  const std::string bare("\x01\0\0\0", 4);
  EXPECT_EQ(words_of("f", bare), words32({1}));
  EXPECT_EQ(words_of("f", "BSTOP"), words32({1}));
  EXPECT_EQ(words_of("f", ""), Words{});
  EXPECT_THROW(words_of("f", std::string_view("\0\0\0", 3)), UserError);
}

TEST(PtoAssembler, MistakesHaveTheirPlace) {
  EXPECT_EQ(mistake("BSTOP\n  B.IOX T#1"), "p.s:2:3: expected an instruction; nearest is 'B.IOT', found 'B.IOX'");
  EXPECT_EQ(mistake("B.IOT T#17, mask=1111, last"),
            "p.s:1:7: expected at most two tiles T#1 to N#16, then mask=, found 'T'");
  EXPECT_EQ(mistake("B.IOT T#1, T#2, T#3, mask=1111"),
            "p.s:1:17: expected at most two tiles T#1 to N#16, then mask=, found 'T'");
  EXPECT_EQ(mistake("B.IOT T#1, mask=0110"),
            "p.s:1:17: expected one of the masks 0000 1000 0100 0010 0001 1100 1110 1111, found 0110");
  EXPECT_EQ(mistake("B.IOT mask=1111, last"),
            "p.s:1:22: expected a source or a destination, found the end of the line");
  EXPECT_EQ(mistake("B.IOT T#1, mask=1111, ->M<100B>"),
            "p.s:1:27: expected a size from 128B to 64KB, a power of two, or its code 1 to 10, found 100B");
  EXPECT_EQ(mistake("B.IOT T#1, mask=1111, ->M<11>"),
            "p.s:1:27: expected a size from 128B to 64KB, a power of two, or its code 1 to 10, found 11");
  EXPECT_EQ(mistake("B.DIM zero, 131072, ->LB0"), "p.s:1:13: expected a number from 0 to 131071, found 131072");
  EXPECT_EQ(mistake("B.DIM t, 1, ->LB0"), "p.s:1:7: expected a number, found 't'");
  EXPECT_EQ(mistake("addi a0, 1, ->t"),
            "p.s:1:15: expected a GPR: zero, sp, a0 to a7, ra, s0 to s8 or x0 to x3, found 't'");
  EXPECT_EQ(mistake("B.FPATR 6, 0"), "p.s:1:9: expected a PreQuantMode that is assigned, found 6");
  EXPECT_EQ(mistake("B.FPATR VQF322B8, None"),
            "p.s:1:9: expected a PreQuantMode; nearest is 'VQF322B8_PRE', found 'VQF322B8'");
  EXPECT_EQ(mistake("B.FPATR None, None, GroupN=7"),
            "p.s:1:28: expected 0, 8, 16, 32, 48, 64, 80, 96, 112 or 128 columns, found 7");
  EXPECT_EQ(mistake("B.DATR {2, FP16, Zero, 0, RNE, 0, 0}"), "p.s:1:9: expected a layout that is assigned, found 2");
  EXPECT_EQ(mistake("BSTART.TGEMV FP99"), "p.s:1:14: expected an element type: FP16, S8, ..., found 'FP99'");
  EXPECT_EQ(mistake("BSTOP BSTOP"), "p.s:1:7: expected the end of the statement, found 'BSTOP'");
  EXPECT_EQ(mistake("B.IOR a0, a1, a2, a3"), "p.s:1:19: expected at most three sources, found 'a3'");
  EXPECT_EQ(mistake(".word 0x100000000"), "p.s:1:7: expected a word from 0 to 4294967295, found 4294967296");
  EXPECT_EQ(mistake(".dword 99999999999999999999"),
            "p.s:1:8: expected a number of 64 bits, found 99999999999999999999");
  EXPECT_EQ(mistake("hl.lis 2147483648, ->a0"),
            "p.s:1:8: expected a number from -2147483648 to 2147483647, found 2147483648");
}

}  // namespace
}  // namespace tilevp::pto::assembler
