#pragma once
// The network of data/mnist on the host, in plain loops: what the demo feeds the simulated machine with and judges its
// digits by. It includes no header of the product, so the two cannot share a mistake.
#include <cstddef>
#include <string>
#include <vector>

namespace tilevp::mnist {

// Row-major, the last axis fastest.
struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

// A file as numpy.save writes it: version 1, C order, `<f4`, `<u2` taken as raw bf16, or `<i4` of integers below 2^24.
// Throws std::runtime_error with the file's name and what was expected.
Tensor read_npy(const std::string& path);
// As `<f4`. Throws std::runtime_error with the file's name.
void write_npy(const std::string& path, const Tensor& tensor);

// Nearest value that bfloat16 can hold, ties to even. Finite values only.
float to_bf16(float value);

// Images N,C,H,W and weights C,Hf,Wf,O to N,O,H-Hf+1,W-Wf+1: stride 1, no padding, summed in fp32 in the order channel,
// row, column.
Tensor convolution(const Tensor& images, const Tensor& weights);

// What a convolution's output N,O,H,W is to the next layer: bias, ReLU, a 2x2 maximum where `pool` is set (an odd last
// row or column is dropped), bf16.
Tensor activation(const Tensor& sums, const Tensor& bias, bool pool);

// An activation N,C,H,W as the dense layer reads it: N,H*W*C, channel innermost.
Tensor flatten(const Tensor& activation);

// Rows become columns.
Tensor transposed(const Tensor& matrix);

// The scores N,10 of flattened inputs N,1152 with the dense layer's weights 10,1152 and bias 10.
Tensor dense(const Tensor& inputs, const Tensor& weights, const Tensor& bias);

// The class of each image: the largest of its scores N,classes.
std::vector<int> classify(const Tensor& scores);

}  // namespace tilevp::mnist
