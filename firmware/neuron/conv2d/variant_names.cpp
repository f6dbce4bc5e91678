// The names of the family's kernels, token by token.
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <map>

#include "tilevp/neuron/conv2d/variants.hpp"

namespace tilevp::neuron::conv2d {
namespace {

const std::map<std::string_view, std::string_view> words{
    {"conv2d", "convolution over rows and columns"},
    {"conv1d", "convolution over columns"},
    {"dw", "derivative of the weights: the filter is an output's gradient, the result is small"},
    {"rep", "filter rows replicated: several stand beside the channels on the partitions"},
    {"nhwc", "native order of the data: images, rows, columns, channels"},
    {"Pcinh", "partitions hold (input channel x filter row)"},
    {"default", "stride 1: strips of rows staged once"},
    {"stride", "any stride, in the access pattern of the matmul"},
    {"depthwise", "each channel with its own filter, on the vector engine"},
    {"column", "tiles of output columns,"},
    {"packing", "packed into up to 8 PSUM banks at once"},
    {"1", "one image, a group a channel (feature_group_count = C = O)"},
    {"io10", "filter C, O, Wf, Hf"},
    {"default of a row", "all positions in one step"},
    {"packing of a row", "512 products a step"},
    {"f", "the free axis, into which output positions are packed"},
};

// Axes of a tensor's memory order, slowest first: "fb01" of an image is C, N, H, W.
std::string axes(std::string_view token, std::size_t tensor) {
  static constexpr const char* tensors[] = {"image", "filter", "output"};
  std::string text = std::string(tensors[tensor]) + " ";
  const char* separator = "";
  for (const char letter : token) {
    text += separator;
    separator = ", ";
    if (letter == 'b') text += "N";
    if (letter == 'i') text += "C";
    if (letter == 'o') text += "O";
    if (letter == 'f') text += tensor == 2 ? "O" : "C";
    if (letter == '0') text += tensor == 0 ? "H" : tensor == 1 ? "Hf" : "rows";
    if (letter == '1') text += tensor == 0 ? "W" : tensor == 1 ? "Wf" : "columns";
  }
  return text;
}

bool names_axes(std::string_view token) {
  return token.size() == 4 && token.find_first_not_of("bfio01") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> decoded(std::string_view full_name) {
  std::vector<std::string> tokens;
  boost::algorithm::split(tokens, full_name, boost::algorithm::is_any_of("_"));
  std::vector<std::string> lines;
  std::size_t tensor = 0;
  for (const std::string& token : tokens) {
    auto word = words.find(tokens.front() == "conv1d" ? token + " of a row" : token);
    if (word == words.end()) word = words.find(token);
    if (word != words.end())
      lines.push_back(token + "  " + std::string(word->second));
    else if (names_axes(token) && tensor < 3)
      lines.push_back(token + "  " + axes(token, tensor++));
  }
  return lines;
}

}  // namespace tilevp::neuron::conv2d
