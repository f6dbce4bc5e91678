// mnist_host activations DATA OUT
//     writes what the second and third convolution are fed with: OUT/conv2_input.npy, OUT/conv3_input.npy
// mnist_host dense DATA OUT
//     writes the operands of the last layer, from the third convolution's output OUT/conv3_sums.npy N,128,3,3:
//     OUT/dense_input.npy N,1152, OUT/dense_weights.npy 1152,10 and OUT/dense_bias.npy 1,10
// mnist_host classify DATA SCORES.npy
//     counts the digits that the last layer's output N,10 gets right
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "mnist_host/network.hpp"

namespace {

using namespace std::string_literals;
namespace mnist = tilevp::mnist;

void write_activations(const std::string& data, const std::string& out) {
  auto images = mnist::read_npy(data + "/digits.npy");
  for (const auto& [layer, next] : {std::pair{"/conv1"s, "/conv2_input.npy"s}, {"/conv2"s, "/conv3_input.npy"s}}) {
    const auto sums = mnist::convolution(images, mnist::read_npy(data + layer + "_weights.npy"));
    images = mnist::activation(sums, mnist::read_npy(data + layer + "_bias.npy"), true);
    mnist::write_npy(out + next, images);
  }
}

void write_dense_operands(const std::string& data, const std::string& out) {
  const auto sums = mnist::read_npy(out + "/conv3_sums.npy");
  const auto last = mnist::activation(sums, mnist::read_npy(data + "/conv3_bias.npy"), false);
  mnist::write_npy(out + "/dense_input.npy", mnist::flatten(last));
  mnist::write_npy(out + "/dense_weights.npy", mnist::transposed(mnist::read_npy(data + "/dense_weights.npy")));
  auto bias = mnist::read_npy(data + "/dense_bias.npy");
  bias.shape = {1, bias.values.size()};
  mnist::write_npy(out + "/dense_bias.npy", bias);
}

void count_right_digits(const std::string& data, const std::string& scores) {
  const auto found = mnist::classify(mnist::read_npy(scores));
  const auto labels = mnist::read_npy(data + "/labels.npy").values;
  std::size_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += static_cast<float>(found[i]) == labels.at(i) ? 1 : 0;
  std::printf("%zu of %zu\n", right, found.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc == 4 ? argv[1] : "";
  try {
    if (command == "activations") {
      write_activations(argv[2], argv[3]);
    } else if (command == "dense") {
      write_dense_operands(argv[2], argv[3]);
    } else if (command == "classify") {
      count_right_digits(argv[2], argv[3]);
    } else {
      std::fputs("usage: mnist_host activations|dense DATA OUT | mnist_host classify DATA SCORES.npy\n", stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mnist_host: %s\n", error.what());
    return 2;
  }
  return 0;
}
