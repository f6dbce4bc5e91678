// The assembler's text, both ways: what goes in comes out, bytes by hand, and each kind of mistake with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "firmware/neuron/conv_case.hpp"
#include "support/random_instruction.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/assembler/listing.hpp"

namespace tilevp::neuron::assembler {
namespace {

using neuroncore::Engine;
using neuroncore::Instruction;
using neuroncore::Opcode;
using test::RandomInstruction;
using testing::HasSubstr;

constexpr Bases bases{.hbm = 0, .core0 = std::uint64_t{1} << 44};

Listing from_text(const std::string& text) { return assemble("x.s", text, bases); }

// The records of one engine.
Listing of_records(std::vector<Record> records, Engine engine = Engine::vector) {
  Listing listing;
  listing.streams[static_cast<std::size_t>(engine)] = std::move(records);
  return listing;
}

Instruction only_instruction(const std::string& line) {
  const Listing listing = from_text(".engine vector\n" + line + "\n");
  const auto& records = listing.streams[static_cast<std::size_t>(Engine::vector)];
  if (records.size() != 1) throw std::runtime_error("expected one record");
  return neuroncore::decode(records[0], "test");
}

TEST(Assembler, EveryRandomRecordComesBack) {
  RandomInstruction random(5);
  std::vector<Record> records;
  for (int n = 0; n < 1'000; ++n)
    for (const Opcode opcode : RandomInstruction::opcodes) records.push_back(encode(random.instruction(opcode)));
  ASSERT_GE(records.size(), 10'000U);
  const Listing listing = of_records(records);
  const std::string text = disassemble(listing, bases);
  EXPECT_THAT(text, Not(HasSubstr(".record")));
  const Listing back = from_text(text);
  const auto& found = back.streams[static_cast<std::size_t>(Engine::vector)];
  ASSERT_EQ(found.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    ASSERT_EQ(found[i], records[i]) << neuroncore::disassemble(neuroncore::decode(records[i], ""));
  EXPECT_EQ(disassemble(back, bases), text);
}

TEST(Assembler, BytesThatAreNoRecordComeBack) {
  std::mt19937_64 random(6);
  std::vector<Record> records(500);
  std::vector<DescriptorRecord> descriptors(500);
  for (Record& record : records)
    for (std::byte& b : record) b = static_cast<std::byte>(random() & 0xff);
  for (DescriptorRecord& record : descriptors)
    for (std::byte& b : record) b = static_cast<std::byte>(random() & 0xff);
  Listing listing = of_records(records, Engine::pe);
  listing.rings[{3, 15}] = descriptors;
  EXPECT_EQ(from_text(disassemble(listing, bases)), listing);
}

// The records and descriptors of a real program.
TEST(Assembler, AConvolutionComesBack) {
  test::ConvCase conv;
  conv.shape.C = 8;
  conv.shape.O = 8;
  conv.shape.H = conv.shape.W = 16;
  Listing listing;
  const auto take = [&](Schedule& schedule) {
    for (unsigned e = 0; e < neuroncore::engines; ++e)
      for (const Instruction& i : schedule.streams[e]) listing.streams[e].push_back(encode(i));
    for (std::uint8_t q = 0; q < schedule.rings.size(); ++q)
      for (std::uint8_t e = 0; e < schedule.rings[q].size(); ++e)
        for (const dma::Descriptor& d : schedule.rings[q][e]) listing.rings[{q, e}].push_back(encode(d));
  };
  test::run_case(conv, take);
  ASSERT_GT(listing.streams[static_cast<std::size_t>(Engine::pe)].size(), 2U);
  const std::string text = disassemble(listing, bases);
  EXPECT_THAT(text, Not(HasSubstr(".record")));
  EXPECT_THAT(text, HasSubstr("matmul psum["));
  EXPECT_THAT(text, HasSubstr("copy sbuf("));
  EXPECT_EQ(from_text(text), listing);
  EXPECT_EQ(from_binary("x", to_binary(listing)), listing);
}

TEST(Assembler, FieldsAreWhereTheTextSays) {
  const Instruction i = only_instruction(
      "matmul psum[0..63, bank 2 + 16, 444:1] fp32 = sbuf[0..31, 0x40, 64:1] bf16 x "
      "sbuf[0..31, 4096, 2:-226 222:1] fp16 START REUSE, sem 3 -= 2  ; a comment");
  EXPECT_EQ(i.opcode, Opcode::matmul);
  EXPECT_EQ(i.flags, neuroncore::matmul_start | neuroncore::matmul_reuse);
  EXPECT_EQ(i.partitions, 64);
  EXPECT_EQ(i.source_partitions, 32);
  EXPECT_EQ(i.destination.space, neuroncore::Space::psum);
  EXPECT_EQ(i.destination.offset, 2U * 2048 + 16);
  EXPECT_EQ(i.destination.dims[0], (neuroncore::Dim{0, 1}));
  EXPECT_EQ(i.destination.dims[2], (neuroncore::Dim{1, 444}));
  EXPECT_EQ(i.source1.offset, 64U);  // stationary
  EXPECT_EQ(i.source1_dtype, numeric::DType::bf16);
  EXPECT_EQ(i.source0_dtype, numeric::DType::fp16);
  EXPECT_EQ(i.source0.dims[1], (neuroncore::Dim{-226, 2}));
  EXPECT_EQ(i.update, (neuroncore::Update{neuroncore::UpdateKind::subtract, 3, 2}));
}

TEST(Assembler, ConstantsLabelsAndSums) {
  const Listing listing = from_text(
      "# sizes\n"
      ".equ rows = 4 * (2 + 6)\n"
      ".equ base = hbm + 0x1000\n"
      ".engine sync\n"
      "start: nop\n"
      "again: semaphore wait sem again >= -rows wait sem 2 == 5, sem 7 = start\n"
      "halt\n"
      ".ring queue 2 engine 9\n"
      "first: copy sbuf(1, 64) [rows by 262144, 16 by 4] fp32 = base [rows by 64, 16 by 4] fp32, sem 5 += 1, "
      "interrupt\n"
      "empty\n");
  const auto& sync = listing.streams[static_cast<std::size_t>(Engine::sync)];
  ASSERT_EQ(sync.size(), 3U);
  const Instruction wait = neuroncore::decode(sync[1], "");
  EXPECT_EQ(wait.waits[0], (neuroncore::Wait{neuroncore::Condition::ge, 1, -32}));
  EXPECT_EQ(wait.waits[1], (neuroncore::Wait{neuroncore::Condition::eq, 2, 5}));
  EXPECT_EQ(wait.update, (neuroncore::Update{neuroncore::UpdateKind::write, 7, 0}));
  const auto& ring = listing.rings.at({2, 9});
  ASSERT_EQ(ring.size(), 2U);
  const dma::Descriptor d = dma::decode(ring[0], "");
  EXPECT_EQ(d.destination.start(), (std::uint64_t{1} << 44) + 262144 + 64);
  EXPECT_EQ(d.destination.loops()[0], (memory::Loop{32, 262144}));
  EXPECT_EQ(d.source.start(), 0x1000U);
  EXPECT_EQ(d.source.bytes(), 32U * 64);
  EXPECT_TRUE(d.signals && d.interrupts);
  EXPECT_EQ(d.semaphore, 5);
  EXPECT_TRUE(dma::decode(ring[1], "").empty);
}

TEST(Assembler, DataOfEachType) {
  const Listing listing = from_text(
      ".data hbm + 64 bf16: 1, -2.5, 2 x 0\n"
      ".data hbm + 72 int32: -1, 0x7fffffff\n"
      ".data 0x1000 fp32: inf, nan(0x7fc00001), 1e-3\n");
  ASSERT_EQ(listing.data.size(), 2U);  // the second line goes on where the first ends
  EXPECT_EQ(listing.data[0].address, 64U);
  const std::vector<int> expected{0x80, 0x3f, 0x20, 0xc0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
  ASSERT_EQ(listing.data[0].bytes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::to_integer<int>(listing.data[0].bytes[i]), expected[i]) << i;
  float value = 0;
  std::memcpy(&value, listing.data[1].bytes.data() + 8, 4);
  EXPECT_EQ(value, 1e-3F);
  EXPECT_EQ(from_text(disassemble(listing, bases)), listing);
}

TEST(Assembler, NaNImmediatesKeepTheirBits) {
  const Instruction i = only_instruction("memset sbuf[0, 0] fp32 = nan(0xffc12345)");
  EXPECT_EQ(std::bit_cast<std::uint32_t>(i.scalar0.immediate), 0xffc12345U);
  EXPECT_EQ(i.source_partitions, 1);
}

struct Wrong {
  std::string text;
  std::string message;
};

class Mistakes : public testing::TestWithParam<Wrong> {};

TEST_P(Mistakes, AreNamedWithTheirPlace) {
  try {
    from_text(GetParam().text);
    FAIL() << "no exception for " << GetParam().text;
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Mistakes,
    testing::Values(
        Wrong{"nop", "x.s:1:1: expected .engine NAME before the first instruction, found 'nop'"},
        Wrong{".engine pe\n\n  matmull psum[0, bank 0]",
              "x.s:3:3: expected an instruction, a descriptor or a directive; nearest is 'matmul', found 'matmull'"},
        Wrong{".engine pee", "x.s:1:9: expected an engine: pe, scalar, gpsimd, vector or sync, found 'pee'"},
        Wrong{".engine pe\nhalt halt", "x.s:2:6: expected the end of the line, found 'halt'"},
        Wrong{".engine pe\nmemset sbuf[128, 0] fp32 = 0", "x.s:2:13: expected a partition from 0 to 127, found 128"},
        Wrong{".engine pe\nmemset sbuf[0..127, 262144] fp32 = 0",
              "x.s:2:21: expected a byte of the partition from 0 to 262143, found 262144"},
        Wrong{".engine pe\nmemset psum[5..3, bank 0] fp32 = 0", "x.s:2:8: expected 1 to 128 partitions, found 5..3"},
        Wrong{".engine pe\nmemset psum[0, 0] fp32 = 0", "x.s:2:16: expected 'bank', found '0'"},
        Wrong{".engine pe\nmemset sbuf[0, 0 fp32 = 0", "x.s:2:18: expected ']', found 'fp32'"},
        Wrong{".engine pe\nmemset sbuf[0, 0, 4:1 2] fp32 = 0", "x.s:2:24: expected ':', found ']'"},
        Wrong{".engine pe\nmemset sbuf[0, 0, 1:1 1:1 1:1 1:1] fp32 = 0",
              "x.s:2:8: expected at most 3 dimensions, found 4"},
        Wrong{".engine pe\nmemset sbuf[0, 0] f32 = 0",
              "x.s:2:19: expected a type: fp32, bf16, fp16, int32, int16, int8 or uint8, found 'f32'"},
        Wrong{".engine pe\nmemset sbuf[0, 0] fp32 =", "x.s:2:25: expected a value, found the end of the line"},
        Wrong{".engine pe\nmemset sbuf[0, 0] fp32 = 1e60", "x.s:2:26: expected a value that fp32 holds, found 1e60"},
        Wrong{".engine pe\nmemset dram[0, 0] fp32 = 0",
              "x.s:2:8: expected a tile: sbuf[...] or psum[...], found 'dram'"},
        Wrong{".engine pe\nmatmul psum[0, bank 0] fp32 = sbuf[0..1, 0] fp32 x sbuf[0..2, 0] fp32",
              "x.s:2:52: expected as many partitions as the other source, 2, found 3"},
        Wrong{".engine pe\nnop, sem 256 += 1", "x.s:2:10: expected a semaphore from 0 to 255, found 256"},
        Wrong{".engine pe\nnop, sem 2 += 40000", "x.s:2:15: expected a value from -32768 to 32767, found 40000"},
        Wrong{".engine pe\nnop, sem 2 * 4", "x.s:2:15: expected '+=', '-=' or '=', found the end of the line"},
        Wrong{".engine pe\nsemaphore wait sem 1 >= 0 wait sem 1 >= 0 wait sem 1 >= 0",
              "x.s:2:43: expected at most 2 waits, found a third"},
        Wrong{".engine pe\ncopy 0 uint8 = 0 uint8",
              "x.s:2:1: expected .ring queue Q before a descriptor, found 'copy'"},
        Wrong{".ring queue 0\nnop",
              "x.s:2:1: expected a descriptor (copy, empty, .record) in the section of a ring, or .engine NAME, found "
              "'nop'"},
        Wrong{".ring queue 16", "x.s:1:13: expected a queue from 0 to 15, found 16"},
        Wrong{".ring queue 0\ncopy 0 [2 by 4] fp32 = 0 [3 by 4] fp32",
              "x.s:2:1: DMA descriptor: the source has 3 elements, the destination 2"},
        Wrong{".ring queue 0\ncopy 0 [2 by -4] fp32 = 0 [2 by 4] fp32",
              "x.s:2:6: the pattern from address 0 reaches below address 0"},
        Wrong{".equ a = 1\n.equ a = 2", "x.s:2:1: expected a new name, found 'a', which is 1 already"},
        Wrong{".equ a = b", "x.s:1:10: expected a number or the name of a constant defined above, found 'b'"},
        Wrong{".equ a = 99999999999999999999", "x.s:1:10: expected a number below 2^64, found '99999999999999999999'"},
        Wrong{".equ a = 0xffffffffffffffff * 2", "x.s:1:1: expected a value within 64 bits, found a larger one"},
        Wrong{".engine pe\n.record 0010", "x.s:2:9: expected 64 bytes as 128 hexadecimal digits, found 2 bytes"},
        Wrong{".data 0 uint8: 256", "x.s:1:16: expected a value from 0 to 255, found 256"},
        Wrong{".data 0 fp32: 0x4000000 x 0, 1",
              "x.s:1:27: expected at most 67108864 bytes of .data in a file (larger: --load), found 268435456"},
        Wrong{"# only a comment\n\t ; and another\n .equ deep = " + std::string(100, '(') + "1",
              "x.s:3:79: expected at most 64 parentheses inside each other, found one more"}));

TEST(Binary, CutShortAnywhereIsRefused) {
  const std::string file = to_binary(from_text(".engine pe\nhalt\n.ring queue 1\nempty\n.data 0 uint8: 1, 2, 3\n"));
  ASSERT_NO_THROW(from_binary("x", file));
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_THROW(from_binary("x", file.substr(0, size)), UserError) << size;
  }
  EXPECT_THROW(from_binary("x", file + "x"), UserError);
  std::string version = file;
  version[8] = 2;
  try {
    from_binary("x", version);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()), "x: expected version 1, found 2");
  }
}

// Whatever the text: a listing, or a mistake with its place; what assembles comes back.
TEST(Mutations, OfTextAreAssembledOrRefused) {
  const std::string text =
      ".equ a = hbm + (4 * 3)\n.engine scalar\nl: activation sbuf[0..3, 64, 2:-3 4:1] bf16 = relu(psum[0..3, bank 1 + "
      "4, 8:1] "
      "fp32 x sbuf@4 + nan(0x7fc00000)), sem 3 += 1\nsemaphore wait sem 1 >= -2 wait sem 2 == a unused(partitions 2)\n"
      ".ring queue 1 engine 2\ncopy sbuf(1, 2) [2 by 4] fp32 = psum(1, 2, 3) [2 by 4] bf16, sem 4 += 1, interrupt\n"
      ".data a fp16: 1, 3 x -2e3, inf\n";
  ASSERT_NO_THROW(from_text(text));
  std::mt19937_64 random(9);
  unsigned refused = 0;
  for (int n = 0; n < 5'000; ++n) {
    std::string changed = text;
    for (std::uint64_t change = random() % 3; change < 3; ++change) {
      const std::size_t at = random() % changed.size();
      const std::size_t other = random() % text.size();
      if (random() % 2 == 0)
        changed[at] = static_cast<char>(random() % 128);
      else
        changed.replace(at, random() % 8, text.substr(other, random() % 8));
    }
    try {
      const Listing listing = from_text(changed);
      ASSERT_EQ(from_text(disassemble(listing, bases)).streams, listing.streams) << changed;
    } catch (const UserError& error) {
      ++refused;
      ASSERT_THAT(std::string(error.what()), testing::MatchesRegex("x\\.s:[0-9]+:[0-9]+: .*")) << changed;
    }
  }
  EXPECT_GT(refused, 1'000U);
}

TEST(Mutations, OfABinaryAreReadOrRefused) {
  const std::string file =
      to_binary(from_text(".engine pe\nhalt\n.ring queue 1\nempty\n.data 0 uint8: 1, 2, 3\n.data 64 uint8: 4\n"));
  std::mt19937_64 random(10);
  for (int n = 0; n < 5'000; ++n) {
    std::string changed = file;
    changed[8 + random() % 56] = static_cast<char>(random() % 256);
    try {
      disassemble(from_binary("x", changed), bases);
    } catch (const UserError&) {
      // It says what is wrong.
    }
  }
}

}  // namespace
}  // namespace tilevp::neuron::assembler
