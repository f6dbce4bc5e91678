// Programs on a CUBE core: results against the host's own sums in the same order, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "firmware/pto/cube_host.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/pto/operand.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::pto::test {
namespace {

using Options = std::map<std::string, std::string>;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void expect_exact(const std::string& program, const Options& options, const RunOptions& run = {}) {
  const auto result = run_program(program, options, run);
  ASSERT_TRUE(result.verification);
  EXPECT_EQ(result.verification->mismatches, 0U);
  EXPECT_GT(result.verification->compared, 0U);
  EXPECT_GT(result.kernel_ps, 0U);
  const auto& predicted = result.result.at("predicted").as_object();
  for (const auto& [key, value] : predicted)
    EXPECT_EQ(result.result.at(key).to_number<std::uint64_t>(), value.to_number<std::uint64_t>()) << key;
}

// One simulation a process, so one case a test.
struct Case {
  std::string name;
  std::string program;
  Options options;
  RunOptions run{};
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class CubePrograms : public testing::TestWithParam<Case> {};

TEST_P(CubePrograms, AreExact) { expect_exact(GetParam().program, GetParam().options, GetParam().run); }

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

std::vector<Case> tgemv(std::vector<std::pair<std::string, Options>> list, const RunOptions& run = {}) {
  std::vector<Case> cases;
  for (auto& [name, options] : list) {
    options.emplace("random", "normal");
    cases.push_back({name, "cube/tgemv", std::move(options), run});
  }
  return cases;
}

// 609 columns are ten blocks on four PEs, 271 rows five bundles each; the last ones are odd.
INSTANTIATE_TEST_SUITE_P(Sizes, CubePrograms,
                         testing::ValuesIn(tgemv({{"OneBundle", {{"shape", "9,10"}}},
                                                  {"Smallest", {{"shape", "1,1"}}},
                                                  {"OddOnFourPes", {{"shape", "271,609"}}},
                                                  {"OnePe", {{"shape", "130,300"}, {"pes", "1"}}},
                                                  {"ThreePes", {{"shape", "130,300"}, {"pes", "3"}}}})),
                         name_of);

std::vector<Case> all_types() {
  std::vector<std::pair<std::string, Options>> list;
  for (const char* type : {"fp32", "tf32", "hf32", "bf16", "hif8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1x2", "e1m2x2",
                           "s16", "int8", "s4x2", "u16", "uint8", "u4x2"})
    list.push_back({type, {{"shape", "75,21"}, {"dtype", type}}});
  list.push_back({"bf16_e4m3", {{"shape", "40,50"}, {"dtype", "bf16"}, {"weights-dtype", "e4m3"}}});
  list.push_back({"s4x2_s16", {{"shape", "40,50"}, {"dtype", "s4x2"}, {"weights-dtype", "s16"}}});
  return tgemv(std::move(list));
}
INSTANTIATE_TEST_SUITE_P(Types, CubePrograms, testing::ValuesIn(all_types()), name_of);

// Added last by one bundle; the start of the sum where there are several.
INSTANTIATE_TEST_SUITE_P(Bias, CubePrograms,
                         testing::ValuesIn(tgemv({{"Last", {{"shape", "9,10"}, {"bias", "random"}}},
                                                  {"First", {{"shape", "300,70"}, {"bias", "random"}}},
                                                  {"Integers",
                                                   {{"shape", "300,70"}, {"dtype", "int8"}, {"bias", "random"}}}})),
                         name_of);

std::vector<Case> conversions() {
  std::vector<std::pair<std::string, Options>> list{
      {"F322F16", {}},
      {"F322BF16", {{"relu", "relu"}}},
      {"QF322B8_PRE", {{"scale", "3.5"}, {"offset", "-7"}, {"saturate", ""}}},
      {"QF322HIF8_PRE", {{"scale", "0.5"}}},
      {"QF322FP8_PRE", {{"scale", "100"}, {"saturate", ""}}},
      {"QF322F32_PRE", {{"scale", "1.25"}, {"rounding", "RTZ"}, {"relu", "leaky"}, {"slope", "0.125"}}},
      {"None", {{"relu", "leaky"}, {"slope", "0.25"}}},
      {"REQ8", {{"dtype", "int8"}, {"scale", "0.01"}, {"offset", "3"}}},
      {"REQ4", {{"dtype", "int8"}, {"scale", "0.001"}, {"rounding", "RHB"}, {"saturate", ""}}},
      {"DEQF16", {{"dtype", "int8"}, {"scale", "0.5"}, {"rounding", "RTM"}}},
      {"DEQS16", {{"dtype", "int8"}, {"scale", "0.1"}, {"offset", "-1000"}, {"relu", "relu"}}},
      {"SHIFTS322S16", {{"dtype", "int8"}, {"shift", "4"}}},
      {"VREQ8", {{"dtype", "int8"}, {"scale", "0.02"}, {"offset", "-4"}, {"relu", "prelu"}, {"slope", "0.01"}}},
      {"VDEQF16", {{"dtype", "int8"}, {"scale", "0.5"}}},
      {"VSHIFTS322S16", {{"dtype", "int8"}, {"shift", "5"}}},
      {"VQF322BF16_PRE", {{"scale", "3"}, {"bias", "random"}, {"relu", "relu"}}},
      {"QS322BF16_PRE", {{"dtype", "int8"}, {"scale", "0.3"}, {"rounding", "RNA"}}}};
  for (auto& [name, options] : list) {
    options.emplace("shape", "100,90");
    options.emplace("prequant", name);
  }
  return tgemv(std::move(list));
}
INSTANTIATE_TEST_SUITE_P(Conversions, CubePrograms, testing::ValuesIn(conversions()), name_of);

std::vector<Case> tmatmul() {
  std::vector<Case> cases;
  for (const char* shape : {"5,40,33", "16,70,20", "17,70,20", "75,130,90"}) {
    std::string name(shape);
    std::ranges::replace(name, ',', '_');
    cases.push_back({"Rows" + name, "cube/tmatmul", {{"shape", shape}, {"random", "normal"}}});
  }
  cases.push_back({"Integers", "cube/tmatmul", {{"shape", "40,200,30"}, {"dtype", "int8"}, {"bias", "random"}}});
  cases.push_back({"BiasLast",
                   "cube/tmatmul",
                   {{"shape", "33,20,30"}, {"random", "normal"}, {"bias", "random"}, {"prequant", "F322F16"}}});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Tmatmul, CubePrograms, testing::ValuesIn(tmatmul()), name_of);

std::vector<Case> readings() {
  RunOptions fused;
  fused.parameters.accumulate = cube::Accumulate::fma;
  auto cases = tgemv({{"Fused", {{"shape", "100,90"}, {"dtype", "fp32"}}}}, fused);
  RunOptions per_pe;
  per_pe.parameters.capacity = cube::CapacityRule::pe;
  for (auto& c : tgemv({{"CapacityPerPe", {{"shape", "300,200"}}}}, per_pe)) cases.push_back(c);
  // Registers are named and none is ever freed: a bundle a block, no more than 16 of them.
  RunOptions absolute;
  absolute.parameters.tile_selectors = cube::TileSelectors::absolute;
  for (auto& c : tgemv({{"Absolute", {{"shape", "256,64"}}}}, absolute)) cases.push_back(c);
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Readings, CubePrograms, testing::ValuesIn(readings()), name_of);

// 609 columns are ten blocks of 64, 271 rows five pieces of 64: 50 tiles of B; the four PEs share a tile of A among
// their blocks: 20 of A.
TEST(CubeTgemv, ATileOfAServesAllBlocksOfAPe) {
  const auto result = run_program("cube/tgemv", {{"shape", "271,609"}});
  EXPECT_EQ(result.result.at("loads"), 70U);
  EXPECT_EQ(result.result.at("stores"), 10U);
  EXPECT_EQ(result.result.at("bundles"), 50U + 70 + 10);
}

TEST(CubeTgemv, SumsOfRawCodesHaveNoReference) {
  RunOptions run;
  run.parameters.accumulate = cube::Accumulate::raw_asl;
  EXPECT_THROW(run_program("cube/tgemv", {{"shape", "10,10"}}, run), UserError);
}

TEST(CubeTgemv, AbsoluteSelectorsHaveNoRoomForMany) {
  RunOptions run;
  run.parameters.tile_selectors = cube::TileSelectors::absolute;
  EXPECT_THROW(run_program("cube/tgemv", {{"shape", "4000,4000"}}, run), UserError);
}

class CubeFiles : public testing::Test {
 protected:
  CubeFiles() { std::filesystem::create_directories(folder_); }
  ~CubeFiles() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, std::vector<std::size_t> shape, std::vector<float> values) const {
    const std::string path = (folder_ / name).string();
    runtime::write_npy(path, runtime::make_tensor(std::move(shape), values));
    return path;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("cube_files_" + std::to_string(::getpid()));
};

// (1, 2, 3) times ((1, 4), (2, 5), (3, 6)) is (14, 32); with bias (10, -40): (24, -8); ReLU: (24, 0).
TEST_F(CubeFiles, ByHand) {
  const std::string a = file("a.npy", {3}, {1, 2, 3});
  const std::string b = file("b.npy", {3, 2}, {1, 4, 2, 5, 3, 6});
  const std::string bias = file("bias.npy", {2}, {10, -40});
  run_program("cube/tgemv",
              {{"input", a}, {"weights", b}, {"bias", bias}, {"relu", "relu"}, {"output", path("d.npy")}});
  const auto d = runtime::read_npy(path("d.npy"));
  ASSERT_EQ(d.shape, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(d.value(0), 24);
  EXPECT_EQ(d.value(1), 0);
}

// (14, -32, 6) is (1, 2, 3) times ((1, -4, 1), (2, -5, 1), (3, -6, 1)); scales (2, 1, 0.5), and the slope 0.25 in the
// place of the negative sum's: (28, -8, 3), as S8.
TEST_F(CubeFiles, AScaleAndASlopeAColumn) {
  const std::string a = file("a.npy", {3}, {1, 2, 3});
  const std::string b = file("b.npy", {3, 3}, {1, -4, 1, 2, -5, 1, 3, -6, 1});
  const std::string scale = file("s.npy", {3}, {2, 1, 0.5});
  const std::string slope = file("l.npy", {1, 3}, {1, 0.25, 1});
  run_program("cube/tgemv", {{"input", a},
                             {"weights", b},
                             {"dtype", "int8"},
                             {"prequant", "VREQ8"},
                             {"scale", scale},
                             {"relu", "prelu"},
                             {"slope", slope},
                             {"output", path("d.npy")}});
  const auto d = runtime::read_npy(path("d.npy"));
  ASSERT_EQ(d.element, runtime::Element::i1);
  EXPECT_EQ(d.value(0), 28);
  EXPECT_EQ(d.value(1), -8);
  EXPECT_EQ(d.value(2), 3);
}

TEST_F(CubeFiles, WrongFilesAreRefused) {
  const std::string two = file("two.npy", {2}, {1, 2});
  EXPECT_THAT(refusal("cube/tgemv", {{"shape", "3,3"}, {"dtype", "int8"}, {"prequant", "VREQ8"}, {"scale", two}}),
              HasSubstr("two.npy: expected 3 numbers, one a column, found shape (2,)"));
  EXPECT_THAT(refusal("cube/tgemv", {{"shape", "3,3"}, {"dtype", "int8"}, {"prequant", "REQ8"}, {"scale", two}}),
              HasSubstr("--scale: expected a number, found"));
  const std::string a = file("a.npy", {3}, {1, 2, 3});
  const std::string b = file("b.npy", {2, 3}, {1, 4, 2, 5, 3, 6});
  const std::string half = file("half.npy", {3}, {1, 2.5, 300});
  EXPECT_THAT(refusal("cube/tgemv", {{"input", a}, {"weights", b}}), HasSubstr("b.npy: K is 2, "));
  EXPECT_THAT(refusal("cube/tgemv", {{"input", b}, {"weights", b}}), HasSubstr("expected one row (axes 1,K)"));
  EXPECT_THAT(refusal("cube/tgemv", {{"input", half}, {"weights", b}, {"dtype", "int8"}}),
              HasSubstr("element [1] is 2.5, which S8 does not hold"));
  EXPECT_THAT(refusal("cube/tgemv", {{"input", half}, {"weights", b}, {"dtype", "e3m2"}}),
              HasSubstr("element [2] is 300, which E3M2 does not hold"));
}

// Element and option are named, and what must stand there.
TEST_F(CubeFiles, AWrongNumberAmongParametersHasItsPlace) {
  const std::string infinity = file("inf.npy", {1, 3}, {1, HUGE_VALF, 1});
  const std::string nan = file("nan.npy", {3}, {std::nanf(""), 1, 1});
  const Options floats{{"shape", "3,3"}};
  const Options integers{{"shape", "3,3"}, {"dtype", "int8"}};
  const auto refused = [](Options options, const Options& more) {
    options.insert(more.begin(), more.end());
    return refusal("cube/tgemv", options);
  };
  const std::string fp19 = "expected a positive normal number of FP19, 1.1755e-38 to 3.4011e+38";
  EXPECT_EQ(refused(floats, {{"prequant", "VQF322B8_PRE"}, {"scale", nan}}),
            "--scale: " + nan + ": element [0]: " + fp19 + ", found nan");
  EXPECT_EQ(refused(floats, {{"relu", "prelu"}, {"slope", infinity}}),
            "--slope: " + infinity + ": element [0, 1]: " + fp19 + ", or 0, found inf");
  EXPECT_EQ(refused(integers, {{"prequant", "VSHIFTS322S16"}, {"shift", nan}}),
            "--shift: " + nan + ": element [0]: expected a whole number from 1 to 16, found nan");
}

// What a float type has, a file may hold: 61440 is half way from E5M2's largest number to the next power.
TEST_F(CubeFiles, InfinityAndNanWhereTheTypeHasThem) {
  const std::string one = file("one.npy", {1, 1}, {1});
  const auto through = [&](const std::string& type, float value) {
    const std::string a = file("x.npy", {1, 1}, {value});
    std::vector<std::string> warnings;
    const Matrix matrix = file_matrix("--input", a, "M,K", parse_type("--dtype", type), warnings);
    return std::pair(matrix.value(0, 0), warnings.empty() ? "" : warnings[0].substr(a.size()));
  };
  const double infinity = HUGE_VAL;
  for (const char* type : {"e5m2", "hif8", "fp16", "bf16"}) {
    EXPECT_EQ(through(type, HUGE_VALF), std::pair(infinity, std::string())) << type;
    EXPECT_EQ(through(type, -HUGE_VALF), std::pair(-infinity, std::string())) << type;
    EXPECT_TRUE(std::isnan(through(type, std::nanf("")).first)) << type;
  }
  EXPECT_TRUE(std::isnan(through("e4m3", std::nanf("")).first));
  EXPECT_EQ(through("e5m2", 61439), std::pair(57344.0, std::string(": 1 of 1 values rounded to E5M2")));
  EXPECT_EQ(through("e5m2", 61440), std::pair(infinity, std::string(": 1 of 1 values beyond E5M2 became infinite")));
  EXPECT_EQ(through("hif8", -40000), std::pair(-infinity, std::string(": 1 of 1 values beyond HIF8 became infinite")));
  EXPECT_EQ(through("fp16", 1e6F), std::pair(infinity, std::string(": 1 of 1 values beyond FP16 became infinite")));
  for (const auto& [type, value] : {std::pair("e4m3", 449.0F), {"e4m3", HUGE_VALF}, {"e2m1x2", std::nanf("")}})
    EXPECT_THROW(through(type, value), UserError) << type;
}

TEST_F(CubeFiles, NamesOfModesInAnyCase) {
  const auto run = [&](const Options& names) {
    Options options{{"shape", "40,30"}, {"random", "normal"}, {"scale", "1.5"}, {"output", path("d.npy")}};
    options.insert(names.begin(), names.end());
    expect_exact("cube/tgemv", options);
  };
  run({{"prequant", "qF322f32_pre"}, {"rounding", "rtz"}, {"relu", "ReLU"}});
}

TEST(CubeTgemv, WrongOptionsAreRefused) {
  const auto refused = [](Options options) {
    options.emplace("shape", "8,8");
    return refusal("cube/tgemv", options);
  };
  EXPECT_EQ(refused({{"shape", "8,0"}}), "--shape: expected sizes from 1 to 1048576, found 0");
  EXPECT_EQ(refused({{"pes", "5"}}), "--pes: expected a whole number from 1 to 4, found 5");
  EXPECT_THAT(refused({{"dtype", "fp64"}}), HasSubstr("--dtype: expected one of FP32, TF32"));
  EXPECT_THAT(refused({{"weights-dtype", "int8"}}), HasSubstr("S8 does not go with FP16"));
  EXPECT_THAT(refused({{"prequant", "REQ8"}}), HasSubstr("--prequant: REQ8 goes with sums in S32"));
  EXPECT_THAT(refused({{"prequant", "REQ9"}}), HasSubstr("there is no mode 'REQ9'; nearest is 'REQ"));
  EXPECT_THAT(refused({{"prequant", "fp16"}}),
              AllOf(HasSubstr("'fp16'; of sums in FP32 there are None, F322F16, "), Not(HasSubstr("REQ8"))));
  EXPECT_THAT(refused({{"prequant", "QF322F16_PRE"}, {"scale", "1e40"}}), HasSubstr("3.4011e+38, found 1e+40"));
  for (const char* relu : {"relu", "leaky", "PReLU"})
    EXPECT_EQ(refused({{"prequant", "13"}, {"dtype", "int8"}, {"shift", "3"}, {"relu", relu}, {"slope", "1"}}),
              "--relu: SHIFTS322S16 only shifts: the core takes no account of ReLU in it; expected none, found " +
                  std::string(relu));
  EXPECT_THAT(refused({{"prequant", "QF322F16_PRE"}}), HasSubstr("--scale: is missing"));
  EXPECT_THAT(refused({{"prequant", "QF322F16_PRE"}, {"scale", "-1"}}), HasSubstr("--scale: expected a positive"));
  EXPECT_THAT(refused({{"prequant", "QF322F16_PRE"}, {"scale", "1"}, {"offset", "1"}}),
              HasSubstr("--offset: goes with a mode that has an offset"));
  EXPECT_THAT(refused({{"rounding", "RTZ"}}), HasSubstr("--rounding: the rounding of None is fixed"));
  EXPECT_THAT(refused({{"saturate", ""}}), HasSubstr("--saturate: None does not saturate"));
  EXPECT_THAT(refused({{"relu", "leaky"}}), HasSubstr("--slope: is missing"));
  EXPECT_THAT(refused({{"slope", "1"}}), HasSubstr("--slope: goes with --relu leaky or prelu"));
  EXPECT_THAT(refused({{"prequant", "SHIFTS322S16"}, {"dtype", "int8"}, {"shift", "17"}}),
              HasSubstr("--shift: expected a whole number from 1 to 16, found 17"));
  EXPECT_THAT(refusal("cube/tgemv", {}), HasSubstr("expected either --input and --weights, or --shape"));
  EXPECT_THAT(refusal("cube/tgemv", {{"shape", "8,8"}, {"relu", "relu"}},
                      {.kind = runtime::CheckRequest::Kind::tolerance, .bound = 0.1}),
              HasSubstr("--check: tolerance compares sums"));
}

TEST(CubeRaw, OptionsAreChecked) {
  EXPECT_THAT(refusal("cube/raw", {}), HasSubstr("expected a file to run"));
  EXPECT_THAT(refusal("cube/raw", {{"file", "f"}, {"gpr", "q0=1"}}), HasSubstr("--gpr: expected a GPR"));
  EXPECT_THAT(refusal("cube/raw", {{"file", "f"}, {"gpr", "a0"}}), HasSubstr("--gpr: expected NAME=VALUE"));
  EXPECT_THAT(refusal("cube/raw", {{"file", "f"}, {"gpr", "a0=12x"}}), HasSubstr("--gpr: expected a number"));
  EXPECT_THAT(refusal("cube/raw", {{"file", "/nonexistent/f"}, {"gpr", "a0=0x12"}}), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace tilevp::pto::test
