// Whole programs on the reference host: options, encoded streams and rings, counters, verification, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/reference_host.hpp"
#include "tilevp/base/errors.hpp"
#include "tilevp/neuron/programs.hpp"
#include "tilevp/runtime/npy.hpp"

namespace tilevp::test {
namespace {

using Options = std::map<std::string, std::string, std::less<>>;
using runtime::CheckRequest;
using testing::HasSubstr;

std::unique_ptr<runtime::Program> program(const std::string& name) {
  runtime::ProgramRegistry registry;
  neuron::register_programs(registry);
  return registry.make(name);
}

runtime::RunRequest request_of(const runtime::Program& made, Options options) {
  for (const auto& option : made.options())
    if (!option.default_value.empty()) options.try_emplace(option.name, option.default_value);
  return {.options = runtime::OptionValues(options), .check = {CheckRequest::Kind::exact, 0}};
}

struct Run {
  std::unique_ptr<runtime::Program> made;
  runtime::ProgramResult result;
};

Run run(const std::string& name, const Options& options, CheckRequest check = {CheckRequest::Kind::exact, 0}) {
  Run run{program(name), {}};
  auto request = request_of(*run.made, options);
  request.check = check;
  run.made->prepare(request);
  ReferenceHost host(8 << 20);
  run.result = run.made->run(host);
  return run;
}

std::string refusal(const std::string& name, const Options& options) {
  const auto made = program(name);
  auto request = request_of(*made, options);
  request.check = {};
  try {
    made->prepare(request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::int64_t number(const runtime::ProgramResult& result, const char* key) {
  return result.result.at(key).to_number<std::int64_t>();
}

TEST(Programs, ConvolutionOfIntegersIsExactAndCounted) {
  const auto done = run("conv2d", {{"shape", "2,5,9,8"}, {"filter", "6,3,3"}, {"padding", "1,1,1,1"}});
  ASSERT_TRUE(done.result.verification);
  EXPECT_EQ(done.result.verification->mismatches, 0u);
  EXPECT_EQ(done.result.verification->compared, 2u * 6 * 9 * 8);
  EXPECT_EQ(done.result.variant, "default");
  for (const char* key : {"macs", "matmuls", "pe_cycles", "image_dma_bytes", "filter_dma_bytes"})
    EXPECT_EQ(number(done.result, key), done.result.result.at("predicted").at(key).to_number<std::int64_t>()) << key;
  EXPECT_EQ(number(done.result, "filter_dma_bytes"), 5 * 9 * 6 * 2);
  EXPECT_EQ(number(done.result, "useful_macs"), 2 * 6 * 5 * 9 * 9 * 8);
}

TEST(Programs, ConvolutionOfRealNumbersIsExactInTheMachinesOrder) {
  for (const char* dtype : {"bf16", "fp16", "fp32"}) {
    const Options options{{"shape", "3,40,9,8"}, {"filter", "6,5,3"},  {"padding", "2,2,-1,1"},
                          {"dtype", dtype},      {"random", "normal"}, {"dilation", "1,2"}};
    EXPECT_EQ(run("conv2d", options).result.verification->mismatches, 0u) << dtype;
    const auto close = run("conv2d", options, {CheckRequest::Kind::tolerance, 1e-6});
    EXPECT_EQ(close.result.verification->mismatches, 0u) << dtype;
    EXPECT_GT(close.result.verification->max_abs_error, 0.0) << dtype;  // another reference: double precision
  }
}

TEST(Programs, StrideGoesToTheStridedForm) {
  const auto done = run(
      "conv2d",
      {{"shape", "2,5,9,8"}, {"filter", "6,3,3"}, {"stride", "2,2"}, {"output-layout", "ohwn"}, {"random", "normal"}});
  EXPECT_EQ(done.result.variant, "stride");
  EXPECT_EQ(done.result.verification->mismatches, 0u);
}

TEST(Programs, ConvolutionOfFiles) {
  const std::string folder = testing::TempDir();
  // One channel 2 x 3, filter 1 x 2 of (10, 1): each output is 10 * x[w] + x[w + 1].
  runtime::write_npy(folder + "conv_x.npy", runtime::make_tensor({1, 2, 3, 1}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  runtime::write_npy(folder + "conv_w.npy", runtime::make_tensor({1, 1, 2, 1}, std::vector<float>{10, 1}));
  const std::string out = folder + "conv_y.npy";
  std::filesystem::remove(out);
  const auto done =
      run("conv2d", {{"input", folder + "conv_x.npy"}, {"weights", folder + "conv_w.npy"}, {"output", out}});
  EXPECT_FALSE(std::filesystem::exists(out));
  done.made->write_outputs();
  const auto y = runtime::read_npy(out);
  EXPECT_THAT(y.shape, testing::ElementsAre(1, 1, 2, 2));
  const float expected[] = {12, 23, 45, 56};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(y.value(i), expected[i]);
}

TEST(Programs, WithoutArithmeticNothingIsReadBack) {
  const auto made = program("conv2d");
  auto request =
      request_of(*made, {{"shape", "1,2,4,4"}, {"filter", "2,1,1"}, {"output", testing::TempDir() + "none.npy"}});
  request.arithmetic = false;
  request.check = {};
  made->prepare(request);
  ReferenceHost host(1 << 20);
  const auto result = made->run(host);
  made->write_outputs();
  EXPECT_FALSE(std::filesystem::exists(testing::TempDir() + "none.npy"));
  EXPECT_FALSE(result.verification);
  EXPECT_EQ(number(result, "matmuls"), 1);
}

TEST(Programs, ConvolutionRefusesWrongInput) {
  const auto with = [](Options options) {
    options.try_emplace("shape", "1,2,4,4");
    options.try_emplace("filter", "2,1,1");
    return refusal("conv2d", options);
  };
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(
      with({{"image-layout", "abcd"}}),
      "--image-layout abcd: unsupported permutation; supported are chwn (3,0,1,2), nchw (0,1,2,3), cnhw (1,0,2,3), "
      "nhwc (0,3,1,2)");
  EXPECT_EQ(with({{"filter-layout", "2,0,1,3"}}),
            "--filter-layout 2,0,1,3: unsupported permutation; supported are chwo (3,0,1,2), ohwc (0,3,1,2), ochw "
            "(0,1,2,3), cohw (1,0,2,3), cowh (1,0,3,2)");
  EXPECT_EQ(with({{"output-layout", "nhwc"}}),
            "--output-layout nhwc: unsupported permutation; supported are nchw (0,1,2,3), ohwn (3,0,1,2), hwno "
            "(2,3,0,1)");
  EXPECT_EQ(with({{"image-layout", "nhwc"}, {"stride", "2,1"}}),
            "--image-layout nhwc: unsupported perm with strides: --stride 2,1 needs --image-layout chwn or cnhw");
  EXPECT_THAT(with({{"image-layout", "nchw"}, {"stride", "2,1"}}), HasSubstr("unsupported perm with strides"));
  EXPECT_EQ(with({{"image-layout", "nchw"}, {"variant", "stride"}}),
            "--variant stride: takes --image-layout chwn, cnhw or nhwc, found nchw");
  EXPECT_THAT(with({{"variant", "best"}}), HasSubstr(" or a full name ('tilevp list variants'), found 'best'"));
  EXPECT_EQ(with({{"groups", "2"}, {"variant", "Conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh"}}),
            "--variant Conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh: refused: default: dense: groups 2, expected 1; stride: "
            "dense: groups 2, expected 1");
  EXPECT_EQ(with({{"variant", "conv2d_dw_fb01_io01_01bf_rep_nhwc_Pcinh"}}), "");
  EXPECT_EQ(with({{"groups", "3"}}), "conv2d: 3 groups do not divide 2 channels");
  EXPECT_EQ(with({{"groups", "0"}}), "--groups: expected a whole number from 1 to 1048576, found 0");
  EXPECT_EQ(with({{"groups", "2"}, {"variant", "default"}}), "--variant default: dense: groups 2, expected 1");
  EXPECT_EQ(with({{"stride", "2,x"}}), "--stride: expected 2 integers like 1,1, found 2,x");
  EXPECT_EQ(with({{"stride", "2"}}), "--stride: expected 2 integers like 1,1, found 2");
  EXPECT_EQ(with({{"stride", "2,1,"}}), "--stride: expected 2 integers like 1,1, found 2,1,");
  EXPECT_EQ(with({{"stride", "0,1"}}), "--stride: expected 1 to 1000000, found 0");
  EXPECT_EQ(with({{"shape", "1,2,0,4"}}), "--shape: expected sizes from 1 to 1048576, found 0");
  EXPECT_EQ(with({{"filter", "2,5,1"}}), "conv2d: the filter spans 5 rows, the padded image has 4");
  EXPECT_EQ(with({{"dtype", "fp8"}}), "--dtype: expected bf16, fp16 or fp32, found 'fp8'");
  EXPECT_EQ(with({{"random", "all"}}), "--random: expected integers or normal, found 'all'");
  EXPECT_EQ(with({{"input", "x.npy"}}), "conv2d: expected either --input and --weights, or --shape and --filter");
  EXPECT_EQ(refusal("conv2d", {}), "conv2d: expected either --input and --weights, or --shape and --filter");
  EXPECT_EQ(refusal("conv2d", {{"shape", "1,1,1,1"}}), "--filter: is missing");
  EXPECT_EQ(with({{"shape", "1000000,1000,1000,10"}}), "conv2d: the image would be larger than 64 GiB");
}

TEST(Programs, ConvolutionRefusesFilesThatDoNotFit) {
  const std::string folder = testing::TempDir();
  const auto file = [&](const char* name, std::vector<std::size_t> shape) {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    runtime::write_npy(folder + name, runtime::make_tensor(shape, std::vector<float>(count, 1.0F)));
    return folder + name;
  };
  const std::string image = file("bad_x.npy", {3, 4, 4, 1});
  EXPECT_EQ(refusal("conv2d", {{"input", image}, {"weights", file("bad_w.npy", {2, 1, 1, 5})}}),
            "--input: " + image + " (3, 4, 4, 1) read as C,H,W,N (--image-layout chwn) has 3 channels, " + folder +
                "bad_w.npy (C,Hf,Wf,O) has 2");
  // 2 images of 3 channels, for a filter of 3: the other layout is named where it would do.
  const Options swapped{{"input", file("bad_n.npy", {2, 3, 20, 24})}, {"weights", file("bad_f.npy", {3, 1, 1, 5})}};
  const auto with = [&](const char* option, const char* value) {
    Options options = swapped;
    options[option] = value;
    return refusal("conv2d", options);
  };
  const std::string message = "--input: " + folder + "bad_n.npy (2, 3, 20, 24) read as C,H,W,N (--image-layout chwn) " +
                              "has 2 channels, " + folder + "bad_f.npy (C,Hf,Wf,O) has 3";
  EXPECT_EQ(refusal("conv2d", swapped), message + "; --image-layout nchw would fit");
  EXPECT_EQ(with("stride", "2,1"), message);
  EXPECT_EQ(with("image-layout", "nchw"), "");
  EXPECT_EQ(refusal("conv2d", {{"input", image}, {"weights", folder + "bad_f.npy"}, {"image-layout", "nchw"}}),
            "--input: " + image + " (3, 4, 4, 1) read as N,C,H,W (--image-layout nchw) has 4 channels, " + folder +
                "bad_f.npy (C,Hf,Wf,O) has 3; --image-layout chwn or cnhw would fit");
  EXPECT_EQ(refusal("conv2d", {{"input", file("bad_3.npy", {3, 4, 4})}, {"weights", image}}),
            "--input: " + folder + "bad_3.npy: expected 4 axes (C,H,W,N), found shape (3, 4, 4)");
  EXPECT_THAT(refusal("conv2d", {{"input", folder + "absent.npy"}, {"weights", image}}), HasSubstr("absent.npy"));
}

TEST(Programs, MatmulIsExactForRaggedSizes) {
  for (const auto& [m, k, n] : {std::tuple{1, 1, 1}, {130, 300, 517}, {600, 129, 1100}, {64, 1000, 30}}) {
    const auto done = run(
        "matmul", {{"m", std::to_string(m)}, {"k", std::to_string(k)}, {"n", std::to_string(n)}, {"random", "normal"}});
    EXPECT_EQ(done.result.verification->mismatches, 0u) << m << " " << k << " " << n;
    for (const char* key : {"macs", "matmuls", "pe_cycles", "lhs_dma_bytes", "rhs_dma_bytes"})
      EXPECT_EQ(number(done.result, key), done.result.result.at("predicted").at(key).to_number<std::int64_t>()) << key;
    EXPECT_EQ(number(done.result, "macs"), std::int64_t{m} * k * n);
  }
}

TEST(Programs, MatmulStreamsTheRightHandSideWhereItDoesNotFit) {
  const auto made = program("matmul");
  made->prepare(request_of(*made, {{"m", "700"}, {"k", "900"}, {"n", "600"}}));
  neuron::Machine machine;
  machine.sbuf_bytes = 28'000;
  ReferenceHost host(8 << 20, machine);
  const auto result = made->run(host);
  EXPECT_EQ(result.verification->mismatches, 0u);
  EXPECT_EQ(number(result, "rhs_dma_bytes"), 2 * 900 * 600 * 2);  // once for each of two blocks of rows
}

TEST(Programs, MatmulOfFilesTakesTheLeftHandSideTransposed) {
  const std::string folder = testing::TempDir();
  runtime::write_npy(folder + "mm_a.npy", runtime::make_tensor({2, 1}, std::vector<float>{3, 5}));
  runtime::write_npy(folder + "mm_b.npy", runtime::make_tensor({2, 2}, std::vector<float>{1, 2, 10, 20}));
  const auto done =
      run("matmul", {{"lhs-t", folder + "mm_a.npy"}, {"rhs", folder + "mm_b.npy"}, {"output", folder + "mm_c.npy"}});
  done.made->write_outputs();
  const auto c = runtime::read_npy(folder + "mm_c.npy");
  EXPECT_THAT(c.shape, testing::ElementsAre(1, 2));
  EXPECT_EQ(c.value(0), 53);
  EXPECT_EQ(c.value(1), 106);
  EXPECT_THAT(refusal("matmul", {{"lhs-t", folder + "mm_a.npy"}, {"rhs", folder + "mm_c.npy"}}), HasSubstr("K is 1, "));
  EXPECT_EQ(refusal("matmul", {{"m", "0"}, {"k", "1"}, {"n", "1"}}),
            "--m: expected a whole number from 1 to 1048576, found 0");
}

TEST(Programs, BenchGivesARowAPoint) {
  const auto made = program("bench");
  auto request = request_of(*made, {{"engines", "1,4"}, {"direction", "load"}});
  request.check = {};
  made->prepare(request);
  ReferenceHost host(8 << 20);
  const auto result = made->run(host);
  const auto& table = result.result.at("table").as_array();
  ASSERT_EQ(table.size(), 22u);
  EXPECT_EQ(table[6].at("run_bytes").as_int64(), 2048);
  EXPECT_EQ(table[6].at("published_percent").as_double(), 81.3);
  EXPECT_EQ(host.runs, 1u + 2 * 22);
  EXPECT_EQ(refusal("bench", {{"engines", "0"}}), "--engines: expected at least 1, found 0");
  EXPECT_EQ(refusal("bench", {{"direction", "up"}}), "--direction: expected all, load, store or local, found 'up'");
}

TEST(Programs, AreFoundByAUniqueLastPart) {
  runtime::ProgramRegistry registry;
  neuron::register_programs(registry);
  EXPECT_THAT(registry.names(), testing::ElementsAre("dma/bench", "neuron/conv2d", "neuron/matmul", "neuron/raw"));
  EXPECT_EQ(registry.make("conv2d")->name(), "neuron/conv2d");
  const auto error_of = [&](const char* name) {
    try {
      registry.make(name);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("conv2"), "conv2: unknown program; nearest is 'conv2d'");
  registry.add("other/matmul", nullptr);
  EXPECT_EQ(error_of("matmul"), "matmul: names 2 programs: neuron/matmul, other/matmul");
}

TEST(Programs, ARegionThatIsNotThereIsNamed) {
  ReferenceHost host(1 << 16);
  try {
    host.region("core1");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "address map: no region 'core1'; there are hbm, core0");
  }
}

}  // namespace
}  // namespace tilevp::test
