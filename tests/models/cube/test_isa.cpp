// Words of the CUBE core. What is legal is checked against a table of the published encoding records (PTO-ISA/pto-spec,
// asl/block/*/*.asl and asl/scalar/alu/*.asl: mask, match and the values of each constrained field), written down here
// a second time and in another way than in the decoder.
#include "tilevp/cube/isa.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "tilevp/base/errors.hpp"
#include "tilevp/cube/decode_cache.hpp"

namespace tilevp::cube {
namespace {

struct Constraint {
  unsigned low, width;
  std::set<unsigned> values;
};
struct Record {
  unsigned bits;
  std::uint64_t mask, match;
  std::vector<Constraint> constraints;
};

std::set<unsigned> upto(unsigned last) {
  std::set<unsigned> all;
  for (unsigned v = 0; v <= last; ++v) all.insert(v);
  return all;
}
std::set<unsigned> from_to(unsigned first, unsigned last) {
  std::set<unsigned> all = upto(last);
  std::erase_if(all, [=](unsigned v) { return v < first; });
  return all;
}

const std::set<unsigned>& types() {
  static const std::set<unsigned> all{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 16, 17, 18, 19, 20, 24, 25, 26, 27, 28};
  return all;
}

std::vector<Record> make_records() {
  std::vector<Record> all;
  for (const std::uint64_t match : {0x00011181, 0x00111181, 0x00031181, 0x00131181, 0x00231181, 0x00431181, 0x00531181,
                                    0x00631181, 0x01031181, 0x01131181, 0x01231181, 0x01431181, 0x01531181, 0x01631181})
    all.push_back({32, 0x07ffffff, match, {{27, 5, types()}}});
  auto datr_types = types();
  datr_types.insert(31);
  all.push_back({32,
                 0x000c707f,
                 0x00001023,
                 {{29, 3, upto(5)},
                  {20, 5, datr_types},
                  {7, 5, {0, 1, 3, 4, 6, 8, 9, 17, 18, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30}}}});
  all.push_back(
      {32,
       0x00007c7f,
       0x00002023,
       {{26, 6, {0, 1, 2, 3, 4, 5, 12, 13, 16, 17, 18, 19, 20, 23, 24, 25, 26, 27, 28, 32, 33, 34, 35, 36, 37, 38, 39}},
        {23, 3, upto(3)},
        {19, 4, upto(9)}}});
  all.push_back({32, 0xfbf07fff, 0x00000023, {}});
  for (const std::uint64_t match : {0x00000043, 0x00001043, 0x00002043})
    all.push_back({32, 0x0000707f, match, {{15, 5, upto(23)}}});
  all.push_back({16, 0x003f, 0x003c, {{14, 2, upto(2)}}});
  all.push_back({32, 0xfc00707f, 0x00005013, {{15, 4, from_to(1, 10)}}});
  all.push_back({32, 0x0000707f, 0x00004013, {{15, 4, from_to(1, 10)}}});
  all.push_back({32, 0xfff0707f, 0x00006013, {{15, 4, from_to(1, 10)}}});
  all.push_back({32, 0xfc07f07f, 0x00005013, {}});
  all.push_back({32, 0x0007f07f, 0x00004013, {}});
  all.push_back(
      {32, 0x0600707f, 0x00000013, {{7, 5, upto(23)}, {15, 5, upto(23)}, {20, 5, upto(23)}, {27, 5, upto(23)}}});
  all.push_back({32, 0xf00871ff, 0x00001013, {{15, 4, upto(12)}}});
  all.push_back({32, 0xffffffff, 0x00000001, {}});
  all.push_back({16, 0xffff, 0x0000, {}});
  all.push_back({64, 0xffffffffffffffff, 0x000000010000000f, {}});
  // Scalars. The public encoding also assigns 24-31 (queues), which this core refuses.
  for (const std::uint64_t match : {0x00000015, 0x00001015})
    all.push_back({32, 0x0000707f, match, {{7, 5, upto(23)}, {15, 5, upto(23)}}});
  for (const std::uint64_t match : {0x00000005, 0x00001005})
    all.push_back({32, 0x0000707f, match, {{7, 5, upto(23)}, {15, 5, upto(23)}, {20, 5, upto(23)}}});
  all.push_back({32, 0x0000007f, 0x00000017, {{7, 5, upto(23)}}});
  for (const std::uint64_t match : {0x00000015000e, 0x00001015000e})
    all.push_back({48, 0x0000707f000f, match, {{23, 5, upto(23)}, {31, 5, upto(23)}}});
  for (const std::uint64_t match : {0x0000001d000e, 0x0000000d000e, 0x00000017000e})
    all.push_back({48, 0x0000007f000f, match, {{23, 5, upto(23)}}});
  return all;
}

const std::vector<Record>& records() {
  static const auto all = make_records();
  return all;
}

bool fits(const Record& record, std::uint64_t word) {
  if ((word & record.mask) != record.match) return false;
  for (const auto& c : record.constraints)
    if (!c.values.contains(static_cast<unsigned>(word >> c.low & ((1U << c.width) - 1)))) return false;
  return true;
}

bool is_legal(std::uint64_t word, unsigned bits) {
  for (const auto& record : records())
    if (record.bits == bits && fits(record, word)) return true;
  return false;
}

std::uint64_t low_bits(std::uint64_t word, unsigned bits) {
  return bits == 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
}

// One word decodes exactly where the records allow it, and back to its own bits.
void check_word(std::uint64_t word) {
  const unsigned bits = instruction_bytes(static_cast<std::uint16_t>(word)) * 8;
  word = low_bits(word, bits);
  const auto result = decode(word);
  if (const auto* error = std::get_if<DecodeError>(&result)) {
    ASSERT_FALSE(is_legal(word, bits)) << std::hex << word << ": " << error->what;
    ASSERT_FALSE(error->what.empty());
    ASSERT_EQ(error->bytes * 8, bits);
    return;
  }
  ASSERT_TRUE(is_legal(word, bits)) << std::hex << word;
  const auto& decoded = std::get<Decoded>(result);
  ASSERT_EQ(decoded.bytes * 8, bits);
  ASSERT_EQ(encode(decoded.command), (Encoded{word, decoded.bytes})) << std::hex << word;
}

Command decoded(std::uint64_t word) {
  const auto result = decode(word);
  if (const auto* error = std::get_if<DecodeError>(&result)) throw std::runtime_error(error->what);
  return std::get<Decoded>(result).command;
}

std::string refusal(std::uint64_t word) {
  const auto result = decode(word);
  const auto* error = std::get_if<DecodeError>(&result);
  return error == nullptr ? "legal" : error->what;
}

TEST(CubeIsa, EveryHalfword) {
  for (std::uint64_t word = 0; word <= 0xffff; ++word)
    if (instruction_bytes(static_cast<std::uint16_t>(word)) == 2) check_word(word);
}

// Each record's fixed bits flipped one by one, all else zero or random.
TEST(CubeIsa, EachFixedBit) {
  std::mt19937_64 random(1);
  for (const auto& record : records())
    for (unsigned bit = 0; bit < record.bits; ++bit)
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t free = i == 0 ? 0 : random() & ~record.mask;
        check_word((record.match | free) ^ std::uint64_t{1} << bit);
      }
}

// Every value of every constrained field, the other free bits zero and random.
TEST(CubeIsa, EachValueOfEachField) {
  std::mt19937_64 random(2);
  for (const auto& record : records())
    for (const auto& c : record.constraints)
      for (std::uint64_t value = 0; value >> c.width == 0; ++value)
        for (int i = 0; i < 20; ++i) {
          const std::uint64_t field = ((std::uint64_t{1} << c.width) - 1) << c.low;
          const std::uint64_t free = i == 0 ? 0 : random() & ~record.mask;
          check_word(((record.match | free) & ~field) | value << c.low);
        }
}

TEST(CubeIsa, RandomWords) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    check_word(random());
    const auto& record = records()[random() % records().size()];
    check_word(record.match | (random() & ~record.mask));
  }
}

// Words written down in the public tests and by hand from the records.
TEST(CubeIsa, GoldenWords) {
  const auto same = [](std::uint32_t word, const Command& command, const std::string& text) {
    EXPECT_EQ(decoded(word), command) << text;
    EXPECT_EQ(encode(command), (Encoded{word, 4})) << text;
    EXPECT_EQ(disassemble(command), text);
  };
  same(0x21031181, BStart{Operation::tgemv, DataType::fp16}, "BSTART.TGEMV FP16");
  same(0xd1031181, BStart{Operation::tgemv, DataType::u16}, "BSTART.TGEMV U16");
  same(0x09231181, BStart{Operation::tgemv_acc, DataType::fp32}, "BSTART.TGEMV.ACC FP32");
  same(0x00011181, BStart{Operation::tload, DataType::fp64}, "BSTART.TLOAD FP64");
  same(0x20111181, BStart{Operation::tstore, DataType::fp16}, "BSTART.TSTORE FP16");
  same(0x00002023, BFpatr{}, "B.FPATR None, None");
  same(0x00002223, BFpatr{.cscale = true}, "B.FPATR None, None, CScaleEn");
  same(0x000020a3, BFpatr{.trans_a = true}, "B.FPATR None, None, TransA");
  same(0x0c002023, BFpatr{.prequant = 3}, "B.FPATR REQ8, None");
  same(0x040ea023, BFpatr{.prequant = 1, .group_n_code = 1, .row_max = true, .group_max = true, .max_abs = true},
       "B.FPATR F322F16, None, GroupN=8, RowMaxEn, GroupMaxEn, MaxAbsEn");
  same(0x00a01043, BDim{1, 0, 10, false}, "B.DIM zero, 10, ->LB1");
  same(0x00902043, BDim{2, 0, 9, false}, "B.DIM zero, 9, ->LB2");
  same(0x4008cf13, BIot{2, {0, 16}, true, 1, Hand::m, 7}, "B.IOT T#1, U#1, mask=1111, last, ->M<128B>");
  same(0x400a4f13, BIot{2, {0, 16}, true, 4, Hand::m, 7}, "B.IOT T#1, U#1, mask=1111, last, ->M<1KB>");
  same(0x02004e13, BIot{2, {32, 0}, false, 0, Hand::t, 7}, "B.IOT M#1, T#1, mask=1111");
  same(0x0108de13, BIot{1, {16, 0}, true, 1, Hand::t, 7}, "B.IOT U#1, mask=1111, last, ->T<128B>");
  same(0x0000ee93, BIot{0, {}, false, 1, Hand::u, 7}, "B.IOT mask=1111, ->U<128B>");
  same(0x00010013, BIor{0, {2, 0, 0}}, "B.IOR a0");
  same(0x01201023, BDatr{.type = 18}, "B.DATR S16, Default");
  same(0x05201023, BDatr{.saturate = true, .type = 18}, "B.DATR S16, Default, Sat");
  same(0x00401023, BDatr{.type = 4}, "B.DATR FP16, Default");
  same(0x19f01b23, BDatr{.pad = 3, .layout = nd2m16}, "B.DATR {ND2M16, DTYPE_NONE, Null, 0, Default, 0, 0}");
  same(0x00000001, BStop{}, "BSTOP");
}

TEST(CubeIsa, ShortAndLongForms) {
  EXPECT_EQ(decoded(0x42bc), Command(BDim{1, 0, 10, true}));
  EXPECT_EQ(decoded(0x827c), Command(BDim{2, 0, 9, true}));
  EXPECT_EQ(disassemble(BDim{1, 0, 10, true}), "C.B.DIMI 10, ->LB1");
  EXPECT_EQ(decoded(0x0000), Command(BStop{StopForm::c_bstop}));
  EXPECT_EQ(decoded(0x0000'0001'0000'000f), Command(BStop{StopForm::l_bstop}));
  // hl.liu 0x12345678, ->a0: low 20 bits 0x45678 above the destination (2) and 0x1d, high 12 bits 0x123 in the prefix.
  EXPECT_EQ(encode(Scalar{.op = ScalarOp::hl_liu, .destination = 2, .immediate = 0x12345678}),
            (Encoded{0x4567'811d'123e, 6}));
  // hl.addi a0, 0xabcdef, ->a1: 0xdef above source 2, function 0, destination 3 and 0x15; 0xabc in the prefix.
  EXPECT_EQ(encode(Scalar{.op = ScalarOp::hl_addi, .destination = 3, .left = 2, .immediate = 0xabcdef}),
            (Encoded{0xdef1'0195'abce, 6}));
}

// 17 bits of immediate: 12 low ones in 31:20, 5 high ones in 11:7.
TEST(CubeIsa, ImmediateOfDimIsSplit) {
  EXPECT_EQ(encode(BDim{0, 3, 0x1f001, false}), (Encoded{0x00118fc3, 4}));
  EXPECT_EQ(decoded(0x00118fc3), Command(BDim{0, 3, 0x1f001, false}));
}

TEST(CubeIsa, RefusalsSayWhatIsReserved) {
  EXPECT_EQ(refusal(0x79031181), "BSTART.TGEMV: DataType 15 is reserved");
  EXPECT_EQ(refusal(0x20331181), "BSTART: function of the CUBE 3 is reserved");
  EXPECT_EQ(refusal(0x18002023), "B.FPATR: PreQuantMode 6 is reserved");
  EXPECT_EQ(refusal(0x02002023), "B.FPATR: ReluMode 4 is reserved");
  EXPECT_EQ(refusal(0x00502023), "B.FPATR: GroupNCode 10 is reserved");
  EXPECT_EQ(refusal(0x000c0043), "B.DIM: RegSrc 24 is reserved");
  EXPECT_EQ(refusal(0xc03c), "C.B.DIMI: LoopNest 3 is reserved");
  EXPECT_EQ(refusal(0x4005ce13 | 1U << 15 | 1U << 17), "B.IOT: SizeCode 15 is reserved");
  EXPECT_EQ(refusal(0x00006013), "B.IOT: SizeCode 0 in the form that has only a destination");
  EXPECT_EQ(refusal(0x04005013), "B.IOT: SrcTile1 must be zero in a form without it, found 1");
  EXPECT_EQ(refusal(0x00000c13), "B.IOR: RegDst 24 is reserved");
  EXPECT_EQ(refusal(0xc0000013), "B.IOR: RegSrc2 24 is reserved");
  EXPECT_EQ(refusal(0xc0001023), "B.DATR: CMode 6 is reserved");
  EXPECT_EQ(refusal(0x00001123), "B.DATR: Layout 2 is reserved");
  EXPECT_EQ(refusal(0x00000f95), "addi: RegDst 31 is a queue of scalars, of which this core has none");
  EXPECT_EQ(refusal(0xffffffff'ffffffff), "no instruction: 0xffffffffffffffff");
}

TEST(CubeIsa, EncodeRefusesWhatDoesNotFit) {
  EXPECT_THROW(encode(BDim{3, 0, 1, false}), Defect);
  EXPECT_THROW(encode(BDim{0, 0, 1U << 17, false}), Defect);
  EXPECT_THROW(encode(BDim{0, 0, 256, true}), Defect);
  EXPECT_THROW(encode(BIot{1, {64, 0}, true, 0, Hand::t, 7}), Defect);
  EXPECT_THROW(encode(Scalar{.op = ScalarOp::addi, .immediate = 4096}), Defect);
  EXPECT_THROW(encode(Scalar{.op = ScalarOp::addi, .immediate = -1}), Defect);
  EXPECT_THROW(encode(Scalar{.op = ScalarOp::lui, .immediate = 1 << 19}), Defect);
  EXPECT_THROW(encode(Scalar{.op = ScalarOp::hl_liu, .immediate = std::int64_t{1} << 32}), Defect);
}

// By hand; all modulo 2^64.
TEST(CubeIsa, ScalarResults) {
  EXPECT_EQ(result_of({.op = ScalarOp::addi, .immediate = 4095}, 0xffff'ffff'ffff'ffff, 0), 4094U);
  EXPECT_EQ(result_of({.op = ScalarOp::hl_subi, .immediate = 3}, 1, 0), 0xffff'ffff'ffff'fffeU);
  EXPECT_EQ(result_of({.op = ScalarOp::lui, .immediate = -1}, 0, 0), 0xffff'ffff'ffff'f000U);
  EXPECT_EQ(result_of({.op = ScalarOp::hl_lui, .immediate = 0x80}, 0, 0), 0x80'0000'0000U);
  EXPECT_EQ(result_of({.op = ScalarOp::hl_lis, .immediate = -2}, 0, 0), 0xffff'ffff'ffff'fffeU);
  EXPECT_EQ(result_of({.op = ScalarOp::hl_liu, .immediate = 0xffff'fffe}, 0, 0), 0xffff'fffeU);
  EXPECT_EQ(result_of({.op = ScalarOp::add}, 5, 7), 12U);
  EXPECT_EQ(result_of({.op = ScalarOp::add, .modifier = Modifier::sw, .shift = 4}, 0, 0x1'8000'0000),
            0xffff'fff8'0000'0000U);
  EXPECT_EQ(result_of({.op = ScalarOp::sub, .modifier = Modifier::uw}, 10, 0x5'0000'0003), 7U);
  EXPECT_EQ(result_of({.op = ScalarOp::sub, .modifier = Modifier::neg, .shift = 1}, 10, 3), 16U);
}

TEST(CubeIsa, EveryCommandSaysSomething) {
  EXPECT_EQ(disassemble(BIot{1, {17, 0}, false, 0, Hand::n, 1}), ".word 0x1105393");
  EXPECT_EQ(disassemble(BIos{7, 4, 4}), "B.IOS mask=0001, ->S7<1KB>");
  EXPECT_EQ(disassemble(BIos{200, 0, 7}), "B.IOS S200, mask=1111");
  EXPECT_EQ(disassemble(BCatr{.dr = true, .trap = true, .far = true, .atom = true, .aq = true, .rl = true}),
            "B.CATR {trap, atomic, aq, rl, far, dr}");
  EXPECT_EQ(disassemble(BIor{23, {1, 0, 11}}), "B.IOR sp, zero, s0, ->x3");
  EXPECT_EQ(disassemble(Scalar{
                .op = ScalarOp::add, .destination = 4, .left = 2, .right = 3, .modifier = Modifier::neg, .shift = 3}),
            "add a0, a1.neg<<3, ->a2");
  EXPECT_EQ(disassemble(Scalar{.op = ScalarOp::hl_lui, .destination = 2, .immediate = 255}), "hl.lui 0xff, ->a0");
  EXPECT_EQ(disassemble(BStop{StopForm::l_bstop}), "L.BSTOP");
}

TEST(CubeIsa, NamesOfFaults) {
  EXPECT_EQ(name(FaultCode::illegal_instruction), "IllegalInstruction");
  EXPECT_EQ(name(FaultCode::tile_legality), "TileLegality");
  EXPECT_EQ(name(FaultCode::tile_allocation), "TileAllocation");
  EXPECT_EQ(name(FaultCode::bundle_control), "BundleControl");
}

// The cache against the decoder: words that come again, words that differ above their length, words that share a place.
TEST(CubeIsa, DecodedBeforeIsDecodedTheSame) {
  std::mt19937_64 random(23);
  std::vector<std::uint64_t> words;
  for (const std::uint32_t word : {0x21031181U, 0x00002023U, 0x00201043U, 0x4008cf13U, 0x00000001U, 0xc1031181U})
    words.push_back(word);
  for (int i = 0; i < 600; ++i) words.push_back(random() >> (random() % 64));
  DecodeCache cache;
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t word = words[random() % (i % 2 == 0 ? 12 : words.size())];
    const unsigned bytes = instruction_bytes(static_cast<std::uint16_t>(word));
    if (bytes < 8) word |= random() << (8 * bytes);
    const auto& seen = cache.decoded({word, bytes});
    const auto expected = decode(word);
    ASSERT_EQ(seen.index(), expected.index()) << std::hex << word;
    if (const auto* is = std::get_if<Decoded>(&seen)) {
      ASSERT_TRUE(is->command == std::get<Decoded>(expected).command) << std::hex << word;
      ASSERT_EQ(is->bytes, bytes);
    } else {
      ASSERT_EQ(std::get<DecodeError>(seen).what, std::get<DecodeError>(expected).what);
    }
  }
}

}  // namespace
}  // namespace tilevp::cube
