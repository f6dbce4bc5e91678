#include "tilevp/neuron/slots.hpp"

namespace tilevp::neuron {

std::vector<Tensor> sbuf_slots(Kernel& kernel, Allocator& sbuf, const std::string& name, std::int64_t count,
                               numeric::DType dtype, std::int64_t elements) {
  std::vector<Tensor> slots;
  const auto bytes = static_cast<std::uint64_t>(elements) * numeric::size_bytes(dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string full = name + std::to_string(i);
    slots.push_back(kernel.sbuf(full, dtype, sbuf.allocate(full, bytes), elements));
  }
  return slots;
}

}  // namespace tilevp::neuron
