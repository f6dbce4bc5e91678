// Work of four published convolutions: what the machine counts, to the digit. Closed forms of the kernel family's
// tilings (GrigoryEvko/nvopen-tools, public reverse engineering of the Neuron compiler).
#include <gtest/gtest.h>

#include "system/command_runner.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

using Words = std::vector<std::string>;

struct Golden {
  const char* name;
  Words words;
  std::int64_t matmuls;
  std::int64_t pe_cycles;
  double pe_us;       // pe_cycles / 2800
  double fp32_pe_us;  // four times that
  // All rows of every band of every strip. The closed form does not clamp to the image, and the machine need not
  // either: rows above and below the image are copied too, from zeros in HBM. They are `halo_bytes` of the image bytes.
  std::int64_t image_bytes;
  std::int64_t halo_bytes;
};

const Golden goldens[] = {
    // Strips of 28 rows, the last from output row 196 on: its bands for filter rows 0, 1, 2 leave the 224 rows by 0, 1,
    // 2. 3 rows x 256 channels x 224 columns x 2 bytes.
    {"Headline",
     {"--shape", "1,256,224,224", "--filter", "256,3,3"},
     3996,
     1'774'224,
     633.7,
     2534.6,
     77'070'336,
     3 * 256 * 224 * 2},
    // 28 tiles of 4 output rows stage (4 - 1) * 2 + 7 = 13 rows for each of 7 bands. Band r of the first begins at
    // image row r - 3, 3 + 2 + 1 rows before the image; of the last at 213 + r, 2 + 3 + ... + 8 = 35 rows behind it.
    // The last
    // but one ends inside: 205 + 6 + 13 = 224.
    {"Stem",
     {"--shape", "1,3,224,224", "--filter", "64,7,7", "--stride", "2,2", "--padding", "3,3,3,3"},
     196,
     87'808,
     31.4,
     125.4,
     3'424'512,
     (6 + 35) * 3 * 224 * 2},
    // Two bands, two outer tiles, strips of 9 rows: bands begin at image row strip + 2 t + r - 1. One row before, for
    // strip, t, r = 0. The strip from 54 on begins at 53 + 2 t + r: 6, 7, 8 and 9 of its 9 rows are behind.
    {"Resnet",
     {"--shape", "1,64,56,56", "--filter", "64,3,3", "--padding", "1,1,1,1"},
     42,
     18'816,
     6.7,
     26.9,
     1'806'336,
     (1 + 30) * 64 * 56 * 2},
    // Four bands, two outer tiles: from strip + 4 t + r - 2 on, 4 rows each of 8 strips. Before: 2 + 1 rows of t = 0.
    // Behind: the last strip of t = 0 begins at 26 + r and leaves by 1 for r = 3; of t = 1 at 30 + r: 2, 3, 4, 4; the
    // strip before of t = 1 at 26 + r: 1 for r = 3.
    {"FourImages",
     {"--shape", "4,32,32,32", "--filter", "32,5,5", "--padding", "2,2,2,2"},
     80,
     40'960,
     14.6,
     58.5,
     2'097'152,
     (3 + 1 + 13 + 1) * 32 * 32 * 4 * 2},
};

// How GoogleTest prints a parameter: by its name, not by its bytes, which hold addresses.
void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

class ConvGolden : public testing::TestWithParam<Golden> {};

boost::json::value report_of(const Golden& golden, const std::string& dtype) {
  const Folder folder;
  Words words{"run", "conv2d", "--arithmetic", "off", "-q", "--dtype", dtype, "--report", folder / "r.json"};
  words.insert(words.end(), golden.words.begin(), golden.words.end());
  const auto result = tilevp(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return described::parse("r.json", read_file(folder / "r.json")).tree;
}

std::int64_t number(const boost::json::value& report, const char* key) {
  return report.at("result").at(key).to_number<std::int64_t>();
}

const boost::json::value& pe(const boost::json::value& report) {
  for (const auto& unit : report.at("performance").at("units").as_array())
    if (unit.at("path").as_string() == "core0.pe") return unit;
  throw std::runtime_error("no unit core0.pe");
}

// Of the PE array, from its share of the kernel's time.
double pe_us(const boost::json::value& report) {
  return pe(report).at("utilisation").to_number<double>() * report.at("time").at("kernel_ps").to_number<double>() / 1e6;
}

TEST_P(ConvGolden, CountedToTheDigit) {
  const Golden& golden = GetParam();
  const auto report = report_of(golden, "bf16");
  EXPECT_EQ(number(report, "matmuls"), golden.matmuls);
  EXPECT_EQ(number(report, "pe_cycles"), golden.pe_cycles);
  EXPECT_EQ(number(report, "image_dma_bytes"), golden.image_bytes);
  EXPECT_EQ(report.at("result").at("predicted").at("image_halo_bytes").to_number<std::int64_t>(), golden.halo_bytes);
  EXPECT_EQ(pe(report).at("busy_cycles").to_number<std::int64_t>(), golden.pe_cycles);
  EXPECT_NEAR(pe_us(report), golden.pe_us, 0.05);
}

TEST_P(ConvGolden, Fp32TakesFourTimesTheCycles) {
  const Golden& golden = GetParam();
  const auto report = report_of(golden, "fp32");
  EXPECT_EQ(number(report, "matmuls"), golden.matmuls);
  EXPECT_EQ(number(report, "pe_cycles"), 4 * golden.pe_cycles);
  EXPECT_NEAR(pe_us(report), golden.fp32_pe_us, 0.06);  // the table rounds before it multiplies
}

// Column packing does the same work where its output fits SBUF: it is the loops that are ordered otherwise.
TEST(ConvGoldenPacking, CountedToTheDigit) {
  for (const Golden& golden : goldens) {
    if (golden.name == std::string("Headline") || golden.name == std::string("Stem")) continue;  // 222 rows; stride 2
    Golden packed = golden;
    packed.words.insert(packed.words.end(), {"--variant", "packing"});
    const auto report = report_of(packed, "bf16");
    EXPECT_EQ(number(report, "matmuls"), golden.matmuls) << golden.name;
    EXPECT_EQ(number(report, "pe_cycles"), golden.pe_cycles) << golden.name;
    EXPECT_EQ(number(report, "image_dma_bytes"), golden.image_bytes) << golden.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Published, ConvGolden, testing::ValuesIn(goldens),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tilevp::test
