// The host model of the demo, and with it the files of data/mnist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "mnist_host/network.hpp"

namespace tilevp::mnist {
namespace {

using testing::ElementsAre;

Tensor data(const std::string& name) { return read_npy(std::string(TILEVP_SOURCE_DIR "/data/mnist/") + name + ".npy"); }

TEST(MnistHost, ConvolutionByHand) {
  // One channel 3x3, two filters 2x2 stored as C,H,W,O.
  const Tensor image{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const Tensor weights{
      {1, 2, 2, 2},
      {1, 0, 0, 1, 0, 0, 0, -1}};  // filter 0 takes the upper left pixel; filter 1 upper right - lower right
  const Tensor out = convolution(image, weights);
  EXPECT_THAT(out.shape, ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(out.values, ElementsAre(1, 2, 4, 5, 2 - 5, 3 - 6, 5 - 8, 6 - 9));
}

TEST(MnistHost, ActivationByHand) {
  const Tensor sums{{1, 1, 3, 3}, {-9, 1, 100, 2, -3, 100, 100, 100, 100}};
  EXPECT_THAT(activation(sums, {{1}, {0.5F}}, true).values, ElementsAre(2.5F));  // the odd row and column are dropped
  EXPECT_THAT(activation(sums, {{1}, {1}}, false).values, ElementsAre(0, 2, 101, 3, 0, 101, 101, 101, 101));
}

TEST(MnistHost, LastLayerByHand) {
  // Two images of two channels, one row of two pixels: channel innermost.
  const Tensor flat = flatten({{2, 2, 1, 2}, {1, 2, 10, 20, 3, 4, 30, 40}});
  EXPECT_THAT(flat.shape, ElementsAre(2, 4));
  EXPECT_THAT(flat.values, ElementsAre(1, 10, 2, 20, 3, 30, 4, 40));
  const Tensor weights{{2, 4}, {1, 0, 0, 0, 0, 0, 0, -1}};
  EXPECT_THAT(transposed(weights).values, ElementsAre(1, 0, 0, 0, 0, 0, 0, -1));
  EXPECT_THAT(transposed({{2, 3}, {1, 2, 3, 4, 5, 6}}).values, ElementsAre(1, 4, 2, 5, 3, 6));
  const Tensor scores = dense(flat, weights, {{2}, {0, 42}});
  EXPECT_THAT(scores.values, ElementsAre(1, 22, 3, 2));
  EXPECT_THAT(classify(scores), ElementsAre(1, 0));
}

TEST(MnistHost, Bf16RoundsToNearestEven) {
  EXPECT_EQ(to_bf16(1.0F + 1.0F / 256), 1.0F);               // half way between 1 and 1 + 2^-7: the even one
  EXPECT_EQ(to_bf16(1.0F + 3.0F / 256), 1.0F + 4.0F / 256);  // half way above an odd one
  EXPECT_EQ(to_bf16(1.0F + 1.0F / 256 + 1.0F / 65536), 1.0F + 2.0F / 256);
}

TEST(MnistHost, ShapesAreThoseOfTheNetwork) {
  EXPECT_THAT(data("digits").shape, ElementsAre(256, 1, 28, 28));
  EXPECT_THAT(data("labels").shape, ElementsAre(256));
  EXPECT_THAT(data("conv1_weights").shape, ElementsAre(1, 3, 3, 16));
  EXPECT_THAT(data("conv2_weights").shape, ElementsAre(16, 3, 3, 64));
  EXPECT_THAT(data("conv3_weights").shape, ElementsAre(64, 3, 3, 128));
  EXPECT_THAT(data("dense_weights").shape, ElementsAre(10, 1152));
}

TEST(MnistHost, ReadsRawBf16) {
  const std::string path = testing::TempDir() + "mnist_host_bf16.npy";
  const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += {static_cast<char>(header.size()), '\0'};
  bytes += header + std::string("\x80\x3F\x20\xC0\x7F\x3F", 6);
  std::ofstream(path, std::ios::binary) << bytes;
  // 3F80 = 1; C020 = -1.01b * 2 = -2.5; 3F7F = 1.1111111b / 2 = 255/256.
  EXPECT_THAT(read_npy(path).values, ElementsAre(1.0F, -2.5F, 255.0F / 256.0F));
  std::remove(path.c_str());
}

// Pixels / 255: a wrong byte order or width would leave this range at once.
TEST(MnistHost, DigitsAreBetweenZeroAndOne) {
  const auto pixels = data("digits").values;
  const auto [least, most] = std::minmax_element(pixels.begin(), pixels.end());
  EXPECT_EQ(*least, 0.0F);
  EXPECT_EQ(*most, 1.0F);
}

// 254 is what PyTorch counted with the same rounded weights when the network was trained (data/mnist/README.md).
TEST(MnistHost, Gets254Of256Right) {
  Tensor images = data("digits");
  for (const auto* layer : {"conv1", "conv2", "conv3"}) {
    const std::string name = layer;
    images = activation(convolution(images, data(name + "_weights")), data(name + "_bias"), name != "conv3");
  }
  EXPECT_THAT(images.shape, ElementsAre(256, 128, 3, 3));
  const auto found = classify(dense(flatten(images), data("dense_weights"), data("dense_bias")));
  const auto labels = data("labels").values;
  int right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += static_cast<float>(found[i]) == labels[i] ? 1 : 0;
  EXPECT_EQ(right, 254);
}

TEST(MnistHost, NpyReadsBackAndRefusesATruncatedFile) {
  const std::string path = testing::TempDir() + "mnist_host_roundtrip.npy";
  write_npy(path, {{2, 3}, {1, 2, 3, 4, 5, 6.5F}});
  EXPECT_THAT(read_npy(path).shape, ElementsAre(2, 3));
  EXPECT_THAT(read_npy(path).values, ElementsAre(1, 2, 3, 4, 5, 6.5F));
  std::ofstream(path, std::ios::binary | std::ios::app) << 'x';
  EXPECT_THROW(read_npy(path), std::runtime_error);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace tilevp::mnist
