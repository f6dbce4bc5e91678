#include "system/conv_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "system/npy_file.hpp"
#include "tilevp/described/parse.hpp"

namespace tilevp::test {
namespace {

std::vector<std::int8_t> small_integers(std::mt19937_64& random, long count) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = static_cast<std::int8_t>(static_cast<int>(random() % 9) - 4);
  return values;
}

// `values` with axes a,b,c,d as floats with axes in the order of `order` (order[i]: the axis that becomes axis i).
template <class T>
std::vector<float> permuted(const std::vector<T>& values, const std::array<long, 4>& shape,
                            const std::array<std::size_t, 4>& order) {
  std::array<long, 4> step{};
  for (std::size_t i = 0; i < 4; ++i) {
    step[i] = 1;
    for (std::size_t j = order[i] + 1; j < 4; ++j) step[i] *= shape[j];
  }
  std::vector<float> out;
  out.reserve(values.size());
  for (long a = 0; a < shape[order[0]]; ++a)
    for (long b = 0; b < shape[order[1]]; ++b)
      for (long c = 0; c < shape[order[2]]; ++c)
        for (long d = 0; d < shape[order[3]]; ++d)
          out.push_back(static_cast<float>(
              values[static_cast<std::size_t>(a * step[0] + b * step[1] + c * step[2] + d * step[3])]));
  return out;
}

// The axes of a layout ("nhwc") by their places in the logical order ("nchw").
std::array<std::size_t, 4> order_of(const std::string& layout, const std::string& logical) {
  std::array<std::size_t, 4> order{};
  for (std::size_t i = 0; i < 4; ++i) order[i] = logical.find(layout[i]);
  return order;
}

std::vector<long> shape_of(const std::array<long, 4>& logical, const std::array<std::size_t, 4>& order) {
  return {logical[order[0]], logical[order[1]], logical[order[2]], logical[order[3]]};
}

std::array<std::size_t, 4> image_order(const ConvRun& run) { return order_of(run.image_layout, "nchw"); }
std::array<std::size_t, 4> filter_order(const ConvRun& run) { return order_of(run.filter_layout, "ochw"); }
// The filters are called c in nchw, o in the others.
std::array<std::size_t, 4> output_order(const ConvRun& run) {
  return order_of(run.output_layout, run.output_layout == "nchw" ? "nchw" : "nohw");
}

std::string list(std::initializer_list<long> numbers) {
  std::string text;
  for (const long number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::string line(const std::vector<std::string>& words) {
  std::string text = TILEVP_BINARY;
  for (const auto& word : words) text += " " + word;
  return text;
}

std::vector<long> image_shape(const ConvRun& run) {
  const ConvShape& s = run.shape;
  return shape_of({s.N, s.C, s.H, s.W}, image_order(run));
}

std::vector<long> filter_shape(const ConvRun& run) {
  const ConvShape& s = run.shape;
  return shape_of({s.O, s.filter_c(), s.Hf, s.Wf}, filter_order(run));
}

std::vector<long> output_shape(const ConvRun& run) {
  const ConvShape& s = run.shape;
  return shape_of({s.out_n(), s.O, s.out_h(), s.out_w()}, output_order(run));
}

// What is wrong with the result; empty: nothing.
std::string difference(const ConvRun& run, const ConvValues& values, const std::string& file) {
  const NpyFile got = read_npy(file);
  if (got.shape != output_shape(run)) return "the result has another shape";
  const auto expected = expected_output(run, values);
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = expected.size(); i-- > 0;)
    if (!(got.values[i] == expected[i])) ++wrong, first = i;
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(expected.size()) + " values differ; first at element " +
         std::to_string(first) + ": got " + std::to_string(got.values[first]) + ", expected " +
         std::to_string(expected[first]);
}

}  // namespace

ConvValues values_of(const ConvRun& run) {
  const ConvShape& s = run.shape;
  std::mt19937_64 random(run.seed);
  ConvValues values;
  values.image = small_integers(random, s.N * s.C * s.H * s.W);
  values.filter = small_integers(random, s.O * s.filter_c() * s.Hf * s.Wf);
  return values;
}

std::vector<float> image_in_layout(const ConvRun& run, const ConvValues& values) {
  const ConvShape& s = run.shape;
  return permuted(values.image, {s.N, s.C, s.H, s.W}, image_order(run));
}

std::vector<float> filter_in_layout(const ConvRun& run, const ConvValues& values) {
  const ConvShape& s = run.shape;
  return permuted(values.filter, {s.O, s.filter_c(), s.Hf, s.Wf}, filter_order(run));
}

std::vector<float> expected_output(const ConvRun& run, const ConvValues& values) {
  const ConvShape& s = run.shape;
  const auto output = naive_conv(s, values.image, values.filter);
  const std::array<long, 4> shape{s.out_n(), s.O, s.out_h(), s.out_w()};
  return permuted(output, shape, output_order(run));
}

std::vector<std::string> words_of(const ConvRun& run, const Folder& folder) {
  const ConvShape& s = run.shape;
  std::vector<std::string> words{"run",
                                 "conv2d",
                                 "--input",
                                 folder / "x.npy",
                                 "--weights",
                                 folder / "w.npy",
                                 "--output",
                                 folder / "y.npy",
                                 "--report",
                                 folder / "report.json",
                                 "--stride",
                                 list({s.sh, s.sw}),
                                 "--padding",
                                 list({s.pt, s.pb, s.pl, s.pr}),
                                 "--dilation",
                                 list({s.dh, s.dw}),
                                 "--dtype",
                                 run.dtype,
                                 "--variant",
                                 run.variant,
                                 "--platform",
                                 run.platform,
                                 "--image-layout",
                                 run.image_layout,
                                 "--filter-layout",
                                 run.filter_layout,
                                 "--output-layout",
                                 run.output_layout,
                                 "-q"};
  if (s.g > 1) words.insert(words.end(), {"--groups", std::to_string(s.g)});
  if (s.bg > 1) words.insert(words.end(), {"--batch-groups", std::to_string(s.bg)});
  for (const auto& assignment : run.overrides) {
    words.push_back("-c");
    words.push_back(assignment);
  }
  return words;
}

void write_operands(const ConvRun& run, const ConvValues& values, const Folder& folder) {
  write_npy(folder / "x.npy", {image_shape(run), image_in_layout(run, values)});
  write_npy(folder / "w.npy", {filter_shape(run), filter_in_layout(run, values)});
}

ConvCounts expect_exact(const ConvRun& run) {
  auto folder = std::make_unique<Folder>();
  const ConvValues values = values_of(run);
  write_operands(run, values, *folder);
  const auto words = words_of(run, *folder);
  const auto result = tilevp(words);
  std::string problem;
  ConvCounts counts;
  if (result.exit_code != 0) {
    problem = "exit code " + std::to_string(result.exit_code) + ": " + result.err;
  } else {
    problem = difference(run, values, *folder / "y.npy");
    const auto report = described::parse("report.json", read_file(*folder / "report.json")).tree;
    const auto& counted = report.at("result");
    counts = {counted.at("matmuls").to_number<std::int64_t>(), counted.at("pe_cycles").to_number<std::int64_t>(),
              std::string(counted.at("variant").as_string())};
    for (const auto* key : {"matmuls", "macs", "pe_cycles", "image_dma_bytes", "filter_dma_bytes"})
      if (counted.at(key).to_number<std::int64_t>() != counted.at("predicted").at(key).to_number<std::int64_t>())
        problem += std::string(" counted and predicted ") + key + " differ";
  }
  if (problem.empty()) return counts;
  ADD_FAILURE() << problem << "\nseed " << run.seed << ": " << line(words);
  static_cast<void>(folder.release());  // kept for whoever looks into it
  return counts;
}

}  // namespace tilevp::test
