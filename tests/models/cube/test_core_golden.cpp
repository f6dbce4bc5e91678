// Golden cases from words in memory to bytes in tiles, everything through TLM: tiles come by TLOAD bundles, results are
// read in the tile window. The values are worked by hand, or those of tests of PTO-ISA/pto-spec where noted.
#include <gtest/gtest.h>

#include <cstring>

#include "cube_bench.hpp"

namespace tilevp::cube::test {
namespace {

constexpr std::uint64_t a_at = data_address;
constexpr std::uint64_t b_at = data_address + 0x1000;
constexpr std::uint64_t c_at = data_address + 0x2000;
constexpr unsigned t1 = 0, u1 = 16, m1 = 32;  // source codes of T#1, U#1, M#1
constexpr unsigned size_512 = 3;

// A [1, K] in T#1 (M16) and B [K, N] in U#1 (N8), then the words of the bundle.
class Golden {
 public:
  template <class A, class B>
  Golden(DataType a_type, const std::vector<A>& a, DataType b_type, const std::vector<B>& b, unsigned k, unsigned n) {
    bench.data(a_at, bytes_of(a));
    bench.data(b_at, bytes_of(b));
    words.load(a_at, nd2m16, a_type, 1, k, size_512, Hand::t).load(b_at, nd2n8, b_type, k, n, size_512 + 1, Hand::u);
  }
  Golden& c(float value) {
    bench.data(c_at, bytes_of(std::vector<float>{value}));
    words.load(c_at, nd2m16, DataType::fp32, 1, 1, 1, Hand::m);
    return *this;
  }
  // Runs; elements of 32 bits at `positions` of the tile `selector`, in every PE.
  std::vector<std::uint32_t> run(std::initializer_list<std::uint32_t> bundle, unsigned selector,
                                 std::vector<unsigned> positions) {
    std::vector<std::uint32_t> found;
    run_and(
        [&] {
          for (unsigned pe = 0; pe < pes; ++pe) {
            const Bytes bytes = bench.tile(selector, pe, std::size_t{positions.back() + 1} * 4);
            std::vector<std::uint32_t> here;
            for (const unsigned position : positions) {
              std::uint32_t value = 0;
              std::memcpy(&value, bytes.data() + std::size_t{position} * 4, 4);
              here.push_back(value);
            }
            if (pe == 0) found = here;
            EXPECT_EQ(here, found) << "PE" << pe;
          }
        },
        bundle);
    return found;
  }
  void run_and(std::function<void()> look, std::initializer_list<std::uint32_t> bundle) {
    words.words(bundle);
    bench.program(words);
    bench.after = [&, look = std::move(look)] {
      look();
      flags = bench.get(registers::flags);
    };
    bench.run();
  }

  CubeBench bench;
  Words words;
  std::uint64_t flags = 0;
};

using Halves = std::vector<std::uint16_t>;

TEST(CubeGolden, G1DefaultsOneByOne) {
  Golden golden(DataType::fp16, Halves{0x4000}, DataType::fp16, Halves{0x4200}, 1, 1);
  EXPECT_EQ(golden.run({0x21031181, 0x00002023, 0x4008cf13, 0x00000001}, m1, {0}),
            std::vector<std::uint32_t>{0x40c00000});
  EXPECT_EQ(golden.flags, 0u);
}

TEST(CubeGolden, G2SeveralCells) {
  Golden golden(DataType::fp16, Halves(9, 0x3c00), DataType::fp16, Halves(90, 0x3c00), 9, 10);
  EXPECT_EQ(golden.run({0x21031181, 0x00002023, 0x00a01043, 0x00902043, 0x400a4f13, 0x00000001}, m1,
                       {0, 1, 32, 33, 64, 65, 96, 97, 128, 129}),
            std::vector<std::uint32_t>(10, 0x41100000));  // 9.0
}

TEST(CubeGolden, G2CompressedDimensions) {
  Golden golden(DataType::fp16, Halves(9, 0x3c00), DataType::fp16, Halves(90, 0x3c00), 9, 10);
  golden.words.words({0x21031181, 0x00002023}).half(0x42bc).half(0x827c);
  EXPECT_EQ(golden.run({0x400a4f13, 0x00000001}, m1, {0, 129}), std::vector<std::uint32_t>(2, 0x41100000));
}

TEST(CubeGolden, G3UnsignedPairs) {
  Golden golden(DataType::u16, Halves{2, 3}, DataType::u16, Halves{5, 7, 11, 13}, 2, 2);
  EXPECT_EQ(golden.run({0xd1031181, 0x00002023, 0x00201043, 0x00202043, 0x4008cf13, 0x00000001}, m1, {0, 1}),
            (std::vector<std::uint32_t>{43, 53}));
}

TEST(CubeGolden, G4SignedBytes) {
  using Bytes8 = std::vector<std::int8_t>;
  Golden golden(DataType::s8, Bytes8{-128, 127, 5, -1}, DataType::s8, Bytes8{-128, 1, 127, -1, 3, 2, 7, -7}, 4, 2);
  EXPECT_EQ(golden.run({0x99031181, 0x00002023, 0x00201043, 0x00402043, 0x4008cf13, 0x00000001}, m1, {0, 1}),
            (std::vector<std::uint32_t>{0x7f09, 0xffffff12}));
}

TEST(CubeGolden, G4SumsWrapAt32Bits) {
  Golden golden(DataType::s16, Halves{0x8000, 0x8000}, DataType::s16, Halves{0x8000, 0x8000}, 2, 1);
  EXPECT_EQ(golden.run({0x91031181, 0x00002023, 0x00202043, 0x4008cf13, 0x00000001}, m1, {0}),
            std::vector<std::uint32_t>{0x80000000});
}

TEST(CubeGolden, G5SumsInTheOrderOfK) {
  Golden golden(DataType::fp16, Halves{0x6c00, 0x3c00, 0x3c00}, DataType::fp16, Halves{0x6c00, 0x3c00, 0x3c00}, 3, 1);
  EXPECT_EQ(golden.run({0x21031181, 0x00002023, 0x00302043, 0x4008cf13, 0x00000001}, m1, {0}),
            std::vector<std::uint32_t>{0x4b800000});  // 4096^2 + 1 + 1, each 1 lost
}

TEST(CubeGolden, G5TheOtherWayRound) {
  Golden golden(DataType::fp16, Halves{0x3c00, 0x3c00, 0x6c00}, DataType::fp16, Halves{0x3c00, 0x3c00, 0x6c00}, 3, 1);
  EXPECT_EQ(golden.run({0x21031181, 0x00002023, 0x00302043, 0x4008cf13, 0x00000001}, m1, {0}),
            std::vector<std::uint32_t>{0x4b800001});
}

TEST(CubeGolden, G6TwoRoundingsATerm) {
  using Words32 = std::vector<std::uint32_t>;
  Golden golden(DataType::fp32, Words32{0x3f800001}, DataType::fp32, Words32{0x3f800001}, 1, 1);
  golden.c(-1.0F - 2 * 0x1p-23F);  // 0xbf800002
  EXPECT_EQ(golden.run({0x09231181, 0x00002023, 0x02004e13, 0x0108de13, 0x00000001}, t1, {0}),
            std::vector<std::uint32_t>{0});
}

TEST(CubeGolden, G7StartsFromC) {
  Golden golden(DataType::fp16, Halves{0x3c00, 0x3c00}, DataType::fp16, Halves{0x3c00, 0x3c00}, 2, 1);
  golden.c(16777216.0F);
  EXPECT_EQ(golden.run({0x21231181, 0x00002023, 0x00202043, 0x02004e13, 0x0108de13, 0x00000001}, t1, {0}),
            std::vector<std::uint32_t>{0x4b800000});
}

TEST(CubeGolden, G7MixedTypesOfOneClass) {
  Golden golden(DataType::bf16, Halves{0x3fc0, 0xc000}, DataType::fp16, Halves{0x4100, 0x3400}, 2, 1);
  EXPECT_EQ(golden.run({0x29031181, 0x00401023, 0x00002023, 0x00202043, 0x4008cf13, 0x00000001}, m1, {0}),
            std::vector<std::uint32_t>{0x40500000});  // 1.5 * 2.5 - 2 * 0.25 = 3.25
}

Bytes first_row(const Bytes& tile, unsigned row_bytes_of_cell, unsigned bytes) {
  Bytes row;
  for (unsigned i = 0; i < bytes; ++i)
    row.push_back(tile.at(std::size_t{i / row_bytes_of_cell} * cell_bytes + i % row_bytes_of_cell));
  return row;
}

Bytes raw(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Scale 2, offset -1 in a0: hl.lui gives the upper half, hl.addi the lower.
void quantised(std::uint32_t datr, const Bytes& expected, std::uint64_t expected_flags) {
  Golden golden(DataType::s8, std::vector<std::int8_t>{1}, DataType::s16,
                std::vector<std::int16_t>{3, 70, -70, 200, -200}, 1, 5);
  golden.words.command(Scalar{.op = ScalarOp::hl_lui, .destination = 2, .immediate = 0x3fe0})
      .command(Scalar{.op = ScalarOp::hl_liu, .destination = 3, .immediate = 0x40000000})
      .command(Scalar{.op = ScalarOp::add, .destination = 2, .left = 2, .right = 3});
  golden.run_and([&] { EXPECT_EQ(first_row(golden.bench.tile(m1, 0, 128), 8, 5), expected); },
                 {0x99031181, datr, 0x0c002023, 0x00501043, 0x00010013, 0x4008cf13, 0x00000001});
  EXPECT_EQ(golden.flags, expected_flags);
}

TEST(CubeGolden, G8RequantisedAndWrapped) { quantised(0x01201023, raw({0x05, 0x8b, 0x73, 0xfe, 0xff}), 0x14); }

TEST(CubeGolden, G8RequantisedAndSaturated) { quantised(0x05201023, raw({0x05, 0x7f, 0x80, 0x7f, 0x80}), 0x14); }

Halves alternating() {  // (-1)^n (n + 1), exact in FP16
  const Halves magnitudes{0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800,
                          0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80, 0x4c00};
  Halves b;
  for (unsigned n = 0; n < 16; ++n) b.push_back(static_cast<std::uint16_t>(magnitudes[n] | (n % 2) << 15));
  return b;
}

void with_reductions(std::uint32_t fpatr, std::uint32_t row_max, std::array<std::uint32_t, 2> group_max) {
  Golden golden(DataType::fp16, Halves{0x3c01}, DataType::fp16, alternating(), 1, 16);
  golden.run_and(
      [&] {
        const Halves d{0x3c01, 0xc001, 0x4202, 0xc401, 0x4501, 0xc602, 0x4702, 0xc801,
                       0x4881, 0xc901, 0x4981, 0xca02, 0x4a82, 0xcb02, 0x4b82, 0xcc01};
        EXPECT_EQ(first_row(golden.bench.tile(t1, 2, 512), 8, 32), bytes_of(d));
        EXPECT_EQ(golden.bench.tile(u1, 2, 4), bytes_of(std::vector<std::uint32_t>{row_max}));
        EXPECT_EQ(golden.bench.tile(m1, 2, 8), bytes_of(std::vector<std::uint32_t>{group_max[0], group_max[1]}));
      },
      {0x21031181, fpatr, 0x01001043, 0x4001ce13, 0x0000ee93, 0x0008ef13, 0x00000001});
  EXPECT_EQ(golden.flags, flag_inexact);
}

TEST(CubeGolden, G10ConvertedWithMaximaOfMagnitudes) {
  with_reductions(0x040ea023, 0x41802000, {0x41002000, 0x41802000});
}

TEST(CubeGolden, G10ConvertedWithMaxima) { with_reductions(0x040e2023, 0x41703c00, {0x40e03800, 0x41703c00}); }

void overflowing(std::uint32_t datr, std::uint16_t expected) {
  // 250 * 280 = 70000
  Golden golden(DataType::fp16, Halves{0x5bd0}, DataType::fp16, Halves{0x5c60}, 1, 1);
  golden.run_and([&] { EXPECT_EQ(golden.bench.tile(m1, 0, 2), bytes_of(Halves{expected})); },
                 {0x21031181, datr, 0x04002023, 0x4008cf13, 0x00000001});
  EXPECT_EQ(golden.flags, 0x14u);
}

TEST(CubeGolden, G12OverflowToInfinity) { overflowing(0x00401023, 0x7c00); }

TEST(CubeGolden, G12OverflowSaturates) { overflowing(0x04401023, 0x7bff); }

TEST(CubeGolden, G12TwoByTwo) {
  using Words32 = std::vector<float>;
  CubeBench bench;
  bench.data(a_at, bytes_of(Words32{1, 2, 3, 4}));
  bench.data(b_at, bytes_of(Words32{5, 6, 7, 8}));
  Words words;
  words.load(a_at, nd2m16, DataType::fp32, 2, 2, 1, Hand::t).load(b_at, nd2n8, DataType::fp32, 2, 2, 1, Hand::u);
  words.words({0x08031181, 0x00002023, 0x00200043, 0x00201043, 0x00202043, 0x4008cf13, 0x00000001});
  words.store(c_at, m162nd, DataType::fp32, 2, 2, m1);
  bench.program(words);
  bench.after = [&] { EXPECT_EQ(bench.read(c_at, 16), bytes_of(Words32{19, 22, 43, 50})); };
  bench.run();
  EXPECT_EQ(bench.statistic("", "stores"), 1u);
}

}  // namespace
}  // namespace tilevp::cube::test
