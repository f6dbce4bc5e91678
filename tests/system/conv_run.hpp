#pragma once
// One convolution through the command: .npy files in, exit code and .npy file out, against the definition.
#include <cstdint>
#include <string>
#include <vector>

#include "support/naive_conv.hpp"
#include "system/command_runner.hpp"

namespace tilevp::test {

struct ConvRun {
  ConvShape shape{};
  std::string dtype = "bf16";
  std::string image_layout = "chwn";
  std::string filter_layout = "chwo";
  std::string output_layout = "nchw";
  std::string variant = "auto";
  std::string platform = "trn1";
  std::vector<std::string> overrides{};  // of the platform's description
  std::uint64_t seed = 1;                // of the values
};

// Whole numbers from -4 to 4, so that every partial sum is exact in fp32. Axes N,C,H,W and O,C,Hf,Wf.
struct ConvValues {
  std::vector<std::int8_t> image;
  std::vector<std::int8_t> filter;
};
ConvValues values_of(const ConvRun& run);

// The values in the axes of the run's image layout, and in C,Hf,Wf,O.
std::vector<float> image_in_layout(const ConvRun& run, const ConvValues& values);
std::vector<float> filter_in_layout(const ConvRun& run, const ConvValues& values);
// What must come out, in the axes of the run's output layout.
std::vector<float> expected_output(const ConvRun& run, const ConvValues& values);

// The command line without program files, waves and such: `tilevp run conv2d ...`, files in `folder`.
std::vector<std::string> words_of(const ConvRun& run, const Folder& folder);
void write_operands(const ConvRun& run, const ConvValues& values, const Folder& folder);

// What the machine counted, from the report's `result`.
struct ConvCounts {
  std::int64_t matmuls = 0;
  std::int64_t pe_cycles = 0;
  std::string variant;
};

// Runs the command and compares every element; a difference is a failure of the test that prints the seed and the
// command line, whose files are then kept. What the machine counted must be what the plan predicted.
ConvCounts expect_exact(const ConvRun& run);

}  // namespace tilevp::test
