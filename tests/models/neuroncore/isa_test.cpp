// Records: what goes in comes out, what is no record is refused.
#include "tilevp/neuroncore/isa.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "tilevp/base/errors.hpp"
#include "tilevp/base/random.hpp"

namespace {

using namespace tilevp::neuroncore;
using tilevp::uniform_int;
using tilevp::numeric::DType;

constexpr std::array opcodes{Opcode::nop,           Opcode::halt,   Opcode::drain,       Opcode::semaphore,
                             Opcode::dma_trigger,   Opcode::matmul, Opcode::tensor_copy, Opcode::tensor_tensor,
                             Opcode::tensor_scalar, Opcode::memset, Opcode::activation};

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(tilevp::generator_for(seed, "isa_test")) {}

  template <class T>
  T up_to(std::uint64_t high) {
    return static_cast<T>(uniform_int(generator_, 0, static_cast<std::int64_t>(high)));
  }
  Operand operand() {
    Operand o;
    o.space = up_to<Space>(1);
    o.partition = up_to<std::uint8_t>(127);
    o.offset = up_to<std::uint32_t>(o.space == Space::sbuf ? 262'143 : 16'383);
    for (Dim& dim : o.dims)
      dim = {static_cast<std::int16_t>(uniform_int(generator_, -32'768, 32'767)), up_to<std::uint16_t>(65'535)};
    return o;
  }
  Scalar scalar(bool may_be_address) {
    Scalar s;
    s.is_address = may_be_address && up_to<int>(1) == 1;
    if (s.is_address)
      s.address = up_to<std::uint32_t>(0xffffffff);
    else
      s.immediate = static_cast<float>(uniform_int(generator_, -1'000'000, 1'000'000)) / 64.0F;
    return s;
  }
  DType dtype() { return up_to<DType>(6); }

  Instruction instruction(Opcode opcode) {
    Instruction i;
    i.opcode = opcode;
    i.partitions = static_cast<std::uint8_t>(up_to<unsigned>(127) + 1);
    i.source_partitions = static_cast<std::uint8_t>(up_to<unsigned>(127) + 1);
    i.dtype = dtype();
    i.source0_dtype = dtype();
    i.source1_dtype = dtype();
    i.update = {up_to<UpdateKind>(3), up_to<std::uint8_t>(255),
                static_cast<std::int16_t>(uniform_int(generator_, -32'768, 32'767))};
    const bool has_source = opcode == Opcode::matmul || (opcode >= Opcode::tensor_copy && opcode != Opcode::memset);
    const bool has_second = opcode == Opcode::matmul || opcode == Opcode::tensor_tensor;
    const bool has_scalars = opcode == Opcode::tensor_scalar || opcode == Opcode::activation;
    if (opcode >= Opcode::matmul) i.destination = operand();
    if (has_source) i.source0 = operand();
    if (has_second) i.source1 = operand();
    if (opcode == Opcode::matmul) i.flags = up_to<std::uint8_t>(15);
    if (opcode == Opcode::tensor_tensor || opcode == Opcode::tensor_scalar) i.op0 = up_to<AluOp>(5);
    if (opcode == Opcode::tensor_scalar) i.op1 = up_to<AluOp>(5);
    if (opcode == Opcode::activation) i.function = up_to<Function>(1);
    if (has_scalars || opcode == Opcode::memset) i.scalar0 = scalar(has_scalars);
    if (has_scalars) i.scalar1 = scalar(true);
    if (opcode == Opcode::semaphore || opcode == Opcode::dma_trigger)
      for (Wait& wait : i.waits)
        wait = {up_to<Condition>(2), up_to<std::uint8_t>(255),
                static_cast<std::int32_t>(uniform_int(generator_, std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max()))};
    if (opcode == Opcode::dma_trigger) {
      i.queue = up_to<std::uint8_t>(255);
      i.descriptors = up_to<std::uint32_t>(0xffffffff);
    }
    return i;
  }

 private:
  std::mt19937_64 generator_;
};

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
            "matmul psum[0..63, bank 2 + 16, 1:0 1:0 444:1] fp32 = sbuf[0..31, 0, 1:0 1:0 64:1] bf16 x "
            "sbuf[0..31, 4096, 1:0 2:226 222:1] bf16 START REUSE, sem 3 += 1");
}

}  // namespace
