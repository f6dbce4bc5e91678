// A .npy file: what is accepted has as many bytes as its shape says.
#include "tilevp/runtime/npy.hpp"

#include <span>

#include "fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tilevp;
  fuzz::accepted([&] {
    const auto tensor = runtime::parse_npy("input.npy", std::as_bytes(std::span(data, size)));
    std::size_t bytes = runtime::size_bytes(tensor.element);
    for (const auto extent : tensor.shape) bytes *= extent;
    fuzz::require(tensor.data.size() == bytes && bytes <= size, "a tensor is as large as its shape says");
  });
  return 0;
}
