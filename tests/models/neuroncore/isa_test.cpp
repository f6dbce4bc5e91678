// Records: what goes in comes out, what is no record is refused.
#include "tilevp/neuroncore/isa.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/random_instruction.hpp"
#include "tilevp/base/errors.hpp"

namespace {

using namespace tilevp::neuroncore;
using tilevp::numeric::DType;

using Random = tilevp::test::RandomInstruction;
constexpr auto opcodes = Random::opcodes;

TEST(Isa, DecodeInvertsEncodeForEveryOpcode) {
  Random random(11);
  for (const Opcode opcode : opcodes)
    for (int n = 0; n < 2'000; ++n) {
      const Instruction i = random.instruction(opcode);
      const auto record = encode(i);
      const Instruction back = decode(record, "test");
      ASSERT_TRUE(back == i) << disassemble(i) << "\n" << disassemble(back);
      ASSERT_EQ(encode(back), record);
    }
}

TEST(Isa, TheRecordHasTheDocumentedLayout) {
  Instruction i;
  i.opcode = Opcode::matmul;
  i.flags = matmul_start | matmul_stop;
  i.partitions = 96;
  i.source_partitions = 128;
  i.source0_dtype = i.source1_dtype = DType::bf16;
  i.destination = {Space::psum, 3, 2 * 2048 + 8, {Dim{0, 1}, Dim{222, 2}, Dim{1, 222}}};
  i.source0 = {Space::sbuf, 0, 0x12345, {Dim{0, 1}, Dim{-448, 2}, Dim{2, 222}}};
  i.source1 = {Space::sbuf, 5, 64, {Dim{0, 1}, Dim{0, 1}, Dim{1, 96}}};
  i.update = {UpdateKind::add, 17, -2};
  const auto record = encode(i);
  const auto u8 = [&](std::size_t at) { return std::to_integer<unsigned>(record[at]); };
  const auto u32 = [&](std::size_t at) { return u8(at) | u8(at + 1) << 8 | u8(at + 2) << 16 | u8(at + 3) << 24; };
  EXPECT_EQ(u8(0), 0x10U);
  EXPECT_EQ(u8(1), 0x10U);
  EXPECT_EQ(u8(2), 3U);
  EXPECT_EQ(u8(3), 96U);
  EXPECT_EQ(u8(4), 0U);
  EXPECT_EQ(u8(5), 1U);
  EXPECT_EQ(u8(6), 1U);
  EXPECT_EQ(u8(8), 17U);
  EXPECT_EQ(u8(9), 1U);
  EXPECT_EQ(u8(10) | u8(11) << 8, 0xfffeU);
  EXPECT_EQ(u8(13), 128U);
  EXPECT_EQ(u32(16), 0x0200'0000U + 3 * 0x8000 + 2 * 0x800 + 8);
  EXPECT_EQ(u32(24), (2U << 16) + 222U);  // middle dim of the destination
  EXPECT_EQ(u32(32), 0x12345U);
  EXPECT_EQ(u32(40), (2U << 16) + (0x10000U - 448));  // step -448
  EXPECT_EQ(u32(48), 5U * 0x40000 + 64);
}

// Every bit of a record either belongs to a field (its change survives a round trip) or must be zero.
TEST(Isa, EveryBitIsAFieldOrReserved) {
  Random random(12);
  for (const Opcode opcode : opcodes)
    for (int n = 0; n < 20; ++n) {
      const auto record = encode(random.instruction(opcode));
      for (std::size_t bit = 0; bit < 512; ++bit) {
        auto changed = record;
        changed[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        Instruction back;
        try {
          back = decode(changed, "test");
        } catch (const tilevp::Fault& fault) {
          ASSERT_EQ(fault.rule(), "isa.decode");
          continue;
        }
        ASSERT_EQ(encode(back), changed) << "opcode " << static_cast<int>(opcode) << " bit " << bit;
      }
    }
}

TEST(Isa, NoRecordsAreRefusedByPlace) {
  std::array<std::byte, instruction_bytes> zero{};
  try {
    decode(zero, "vector #12");
    FAIL() << "no exception";
  } catch (const tilevp::Fault& fault) {
    EXPECT_EQ(fault.rule(), "isa.decode");
    EXPECT_EQ(std::string(fault.what()), "vector #12: the record is no instruction: length is not 0x10 dwords");
  }
  auto record = encode(Instruction{});
  record[0] = std::byte{0x77};
  EXPECT_THROW(decode(record, "x"), tilevp::Fault);
  record = encode(Instruction{});
  record[3] = std::byte{129};
  EXPECT_THROW(decode(record, "x"), tilevp::Fault);
}

TEST(Isa, FieldsThatDoNotFitAreTheUsersMistake) {
  Instruction i;
  i.opcode = Opcode::memset;
  i.destination.partition = 128;
  EXPECT_THROW(encode(i), tilevp::UserError);
  i.destination.partition = 0;
  i.destination.offset = 262'144;
  EXPECT_THROW(encode(i), tilevp::UserError);
  i.destination.offset = 0;
  i.partitions = 200;
  EXPECT_THROW(encode(i), tilevp::UserError);
  i.partitions = 1;
  EXPECT_NO_THROW(encode(i));
  i.queue = 1;  // a memset has no queue
  EXPECT_THROW(encode(i), tilevp::UserError);
}

TEST(Isa, NanImmediatesKeepTheirBits) {
  Instruction i;
  i.opcode = Opcode::memset;
  const std::uint32_t bits = 0xffc12345;
  std::memcpy(&i.scalar0.immediate, &bits, 4);
  const Instruction back = decode(encode(i), "test");
  EXPECT_EQ(std::bit_cast<std::uint32_t>(back.scalar0.immediate), bits);
}

TEST(Isa, DisassemblyNamesOperandsAndFlags) {
  Instruction i;
  i.opcode = Opcode::matmul;
  i.flags = matmul_start | matmul_reuse;
  i.partitions = 64;
  i.source_partitions = 32;
  i.source0_dtype = i.source1_dtype = DType::bf16;
  i.destination = {Space::psum, 0, 2 * 2048 + 16, {Dim{0, 1}, Dim{0, 1}, Dim{1, 444}}};
  i.source0 = {Space::sbuf, 0, 4096, {Dim{0, 1}, Dim{226, 2}, Dim{1, 222}}};
  i.source1 = {Space::sbuf, 0, 0, {Dim{0, 1}, Dim{0, 1}, Dim{1, 64}}};
  i.update = {UpdateKind::add, 3, 1};
  EXPECT_EQ(disassemble(i),
            "matmul psum[0..63, bank 2 + 16, 444:1] fp32 = sbuf[0..31, 0, 64:1] bf16 x "
            "sbuf[0..31, 4096, 2:226 222:1] bf16 START REUSE, sem 3 += 1");
}

}  // namespace
