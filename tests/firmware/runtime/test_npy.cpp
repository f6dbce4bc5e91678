#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "tilevp/runtime/npy.hpp"

namespace tilevp::runtime {
namespace {

// A file as numpy writes it: magic, version, length, dictionary padded to a multiple of 64, data.
std::string npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string text = dictionary;
  const std::size_t before = version == 1 ? 10 : 12;
  while ((before + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (std::size_t i = 0; i < before - 8; ++i) file += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return file + text + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::string hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

Tensor parse(const std::string& file) { return parse_npy("x.npy", std::as_bytes(std::span(file))); }

std::string error_of(const std::string& file) {
  try {
    parse(file);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> result;
  for (std::size_t i = 0; i < tensor.size(); ++i) result.push_back(tensor.value(i));
  return result;
}

using testing::ElementsAre;
using testing::HasSubstr;

// The data bytes of these files come from numpy 1.24: np.arange(6).reshape(2, 3) in each layout.
const std::string c_order = hex("000000000000803f0000004000004040000080400000a040");
const std::string fortran_order = hex("00000000000040400000803f00008040000000400000a040");
const std::string big_endian = hex("000000003f80000040000000404000004080000040a00000");

TEST(Npy, ReadsWhatNumpyWrites) {
  for (const int version : {1, 2, 3}) {
    const auto tensor = parse(npy(dictionary("<f4", "(2, 3)"), c_order, version));
    EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
    EXPECT_EQ(tensor.element, Element::f4);
    EXPECT_THAT(values(tensor), ElementsAre(0, 1, 2, 3, 4, 5));
  }
  EXPECT_THAT(values(parse(npy(dictionary("<f4", "(2, 3)", "True"), fortran_order))), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(values(parse(npy(dictionary(">f4", "(2, 3)"), big_endian))), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Npy, TransposesFortranOrderOfFourAxes) {
  const std::vector<std::size_t> shape{2, 3, 4, 5};
  std::string data(120, '\0');
  for (std::size_t i = 0; i < 120; ++i) {
    const auto index = std::array{i / 60, i / 20 % 3, i / 5 % 4, i % 5};
    data[index[0] + 2 * (index[1] + 3 * (index[2] + 4 * index[3]))] = static_cast<char>(i);
  }
  const auto tensor = parse(npy(dictionary("|u1", "(2, 3, 4, 5)", "True"), data));
  for (std::size_t i = 0; i < 120; ++i) ASSERT_EQ(tensor.value(i), static_cast<double>(i));
}

TEST(Npy, ReadsEveryElementType) {
  const auto one = [](const std::string& descr, const std::string& bytes) {
    return parse(npy(dictionary(descr, "(1,)"), hex(bytes))).value(0);
  };
  EXPECT_EQ(one("<f2", "003e"), 1.5);
  EXPECT_EQ(one(">f2", "7bff"), 65504);
  EXPECT_EQ(one("<f8", "000000000000f83f"), 1.5);
  EXPECT_EQ(one("|i1", "ff"), -1);
  EXPECT_EQ(one("|u1", "ff"), 255);
  EXPECT_EQ(one("|b1", "01"), 1);
  EXPECT_EQ(one("<i2", "feff"), -2);
  EXPECT_EQ(one("<u2", "feff"), 65534);
  EXPECT_EQ(one(">i4", "fffffffe"), -2);
  EXPECT_EQ(one("<u4", "feffffff"), 4294967294);
  EXPECT_EQ(one("<i8", "feffffffffffffff"), -2);
  EXPECT_EQ(one(">u8", "0000000000000102"), 258);
  EXPECT_EQ(one("=f4", "0000803f"), 1);
}

TEST(Npy, ReadsScalarsAndEmptyTensors) {
  EXPECT_THAT(parse(npy(dictionary("<f4", "()"), c_order.substr(4, 4))).shape, ElementsAre());
  const auto empty = parse(npy(dictionary("<f4", "(0, 3)"), ""));
  EXPECT_THAT(empty.shape, ElementsAre(0, 3));
  EXPECT_EQ(empty.size(), 0U);
}

TEST(Npy, ChecksTheShapeAgainstTheFileBeforeItAllocates) {
  EXPECT_EQ(error_of(npy(dictionary("<f4", "(2000000000,)"), std::string(48, 'x'))),
            "x.npy: header says shape (2000000000,) of <f4 = 8000000000 bytes, file has 48 after the header");
  EXPECT_EQ(error_of(npy(dictionary(">f4", "(2, 3)"), c_order + "x")),
            "x.npy: header says shape (2, 3) of >f4 = 24 bytes, file has 25 after the header");
  EXPECT_EQ(error_of(npy(dictionary("<f4", "(2, 3)"), c_order.substr(1))),
            "x.npy: header says shape (2, 3) of <f4 = 24 bytes, file has 23 after the header");
  EXPECT_EQ(error_of(npy(dictionary("<f4", "(4294967296, 4294967296)"), "")),
            "x.npy: header says shape (4294967296, 4294967296) of <f4, more bytes than 64 bits count");
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(4611686018427387905, 4)"), c_order.substr(0, 16))),
              HasSubstr("more bytes than"));
}

TEST(Npy, TakesDigitsOnlyInTheShape) {
  const auto shape_error = [](const std::string& shape) { return error_of(npy(dictionary("<f4", shape), c_order)); };
  EXPECT_THAT(shape_error("(a, 4)"), HasSubstr("shape: expected digits, found 'a, 4)"));
  EXPECT_THAT(shape_error("(-3, 4)"), HasSubstr("shape: expected digits, found '-3, 4)"));
  EXPECT_THAT(shape_error("(0x3, 4)"), HasSubstr("shape: expected ',' or ')', found 'x3, 4)"));
  EXPECT_THAT(shape_error("(6L,)"), HasSubstr("shape: expected ',' or ')', found 'L,)"));
  EXPECT_THAT(shape_error("(99999999999999999999999,)"), HasSubstr("shape: a number beyond 64 bits"));
  EXPECT_THAT(shape_error("(6)"), HasSubstr("shape: a tuple of one number is written (n,)"));
  EXPECT_THAT(shape_error("(2, 3"), HasSubstr("bad .npy header"));
  EXPECT_THAT(shape_error("6"), HasSubstr("expected '(', found '6"));
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1, ";
  EXPECT_THAT(shape_error(many + ")"), HasSubstr("shape: more than 32 axes"));
}

TEST(Npy, RefusesElementTypesByName) {
  const auto type_error = [](const std::string& descr) { return error_of(npy(dictionary(descr, "(1,)"), "")); };
  EXPECT_EQ(type_error("|V2"),
            "x.npy: bad .npy header: '|V2' (raw or structured elements) is not supported; known are "
            "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1");
  EXPECT_THAT(type_error("|O"), HasSubstr("'|O' (Python objects) is not supported"));
  EXPECT_THAT(type_error("<U5"), HasSubstr("(strings)"));
  EXPECT_THAT(type_error("<c8"), HasSubstr("(complex numbers)"));
  EXPECT_THAT(type_error("<M8[ns]"), HasSubstr("(dates or times)"));
  EXPECT_THAT(type_error("<f16"), HasSubstr("'<f16' (an unknown type)"));
  EXPECT_THAT(type_error(""), HasSubstr("(an unknown type)"));
  EXPECT_THAT(error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")),
              HasSubstr("structured elements are not supported"));
}

TEST(Npy, RefusesOtherDictionaries) {
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'shape': (1,)}", "")), HasSubstr("key 'fortran_order' is missing"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'descr': '<f4'}", "")), HasSubstr("key 'descr' stands twice"));
  EXPECT_THAT(error_of(npy("{'descr': '<f4', 'order': 'C'}", "")), HasSubstr("unknown key 'order'"));
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(1,)", "0"), "")), HasSubstr("expected True or False, found '0"));
  EXPECT_THAT(error_of(npy(dictionary("<f4", "(1,)") + " 1", "")), HasSubstr("text after the dictionary"));
  EXPECT_THAT(error_of(npy("{'descr: 1}", "")), HasSubstr("expected a quoted word"));
  EXPECT_THAT(error_of(npy("[1]", "")), HasSubstr("expected '{', found '[1]"));
  EXPECT_THAT(error_of(npy("{'descr' '<f4'}", "")), HasSubstr("expected ':', found"));
}

TEST(Npy, RefusesWhatIsNoNpyFile) {
  EXPECT_THAT(error_of(""), HasSubstr("x.npy: not a .npy file"));
  EXPECT_THAT(error_of("PK\x03\x04 a zip archive"), HasSubstr("not a .npy file"));
  std::string file = npy(dictionary("<f4", "(2, 3)"), c_order);
  file[6] = 4;
  EXPECT_EQ(error_of(file), "x.npy: .npy version 4.0 is not supported; known are 1.0, 2.0 and 3.0");
  file[6] = 1;
  EXPECT_EQ(error_of(file.substr(0, 20)), "x.npy: header says it is 118 bytes long, file has 10 after the length");
  file[6] = 2;
  EXPECT_EQ(error_of(file.substr(0, 10)), "x.npy: ends within the header's length");
}

// Whatever byte is damaged, the reader answers with a tensor of the file's size or a UserError.
TEST(Npy, SurvivesDamagedFiles) {
  constexpr std::uint32_t seed = 7;
  std::mt19937 random(seed);
  const std::string whole = npy(dictionary("<f4", "(2, 3)"), c_order);
  for (int round = 0; round < 50'000; ++round) {
    std::string file = whole;
    for (auto damage = random() % 3 + 1; damage > 0; --damage)
      file[random() % 70] =
          static_cast<char>(random() % 2 == 0 ? random() % 256 : "0123456789(),'{}<> "[random() % 19]);
    if (random() % 4 == 0) file.resize(random() % file.size());
    try {
      const auto tensor = parse(file);
      ASSERT_LE(tensor.data.size(), file.size()) << "seed " << seed << " round " << round;
    } catch (const UserError&) {
    }
  }
}

class NpyFile : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("tilevp_npy_" + std::to_string(getpid()));
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string path(const char* name) const { return (directory_ / name).string(); }

 private:
  std::filesystem::path directory_;
};

TEST_F(NpyFile, WritesNumpysBytes) {
  const std::vector<float> numbers{0, 1, 2, 3, 4, 5};
  write_npy(path("x.npy"), make_tensor({2, 3}, numbers));
  std::ifstream stream(path("x.npy"), std::ios::binary);
  const std::string written(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(written, npy(dictionary("<f4", "(2, 3)"), c_order));
  const auto again = read_npy(path("x.npy"));
  EXPECT_THAT(again.shape, ElementsAre(2, 3));
  EXPECT_THAT(values(again), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(NpyFile, NamesTheFileThatCannotBeRead) {
  const auto read = [&](const std::string& file) { return [file] { read_npy(file); }; };
  EXPECT_THAT(read(path("none.npy")),
              testing::ThrowsMessage<UserError>(path("none.npy") + ": cannot read: No such file or directory"));
  EXPECT_THAT(read(testing::TempDir()),
              testing::ThrowsMessage<UserError>(HasSubstr("cannot read: not a regular file")));
  std::ofstream(path("bad.npy")) << "text";
  EXPECT_THAT(read(path("bad.npy")), testing::ThrowsMessage<UserError>(HasSubstr("bad.npy: not a .npy file")));
}

}  // namespace
}  // namespace tilevp::runtime
