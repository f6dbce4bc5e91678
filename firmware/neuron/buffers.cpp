#include "tilevp/neuron/buffers.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tilevp::neuron {
namespace {

struct Use {
  TensorInfo tensor;
  std::uint64_t end = 0;  // byte behind the last
  std::uint32_t first_row = UINT32_MAX, end_row = 0;
  std::size_t first_call = 0, last_call = 0;
  bool used() const { return end_row > 0; }
};

std::vector<Use> all_of(const Kernel& kernel) {
  std::vector<Use> uses;
  for (const TensorInfo& tensor : kernel.on_chip())
    uses.push_back(
        {tensor, tensor.address + static_cast<std::uint64_t>(tensor.free_size) * numeric::size_bytes(tensor.dtype)});
  std::ranges::sort(uses, {},
                    [](const Use& use) { return std::tuple(use.tensor.memory, use.tensor.address, use.tensor.index); });
  return uses;
}

void note(Use& use, const Region& region, std::size_t call) {
  if (!use.used()) use.first_call = call;
  use.last_call = call;
  use.first_row = std::min(use.first_row, region.row_begin);
  use.end_row = std::max(use.end_row, region.row_end);
}

}  // namespace

boost::json::array buffers_of(const Kernel& kernel) {
  std::vector<Use> uses = all_of(kernel);
  std::map<std::uint32_t, std::size_t> place_of;
  for (std::size_t i = 0; i < uses.size(); ++i) place_of[uses[i].tensor.index] = i;
  for (std::size_t call = 0; call < kernel.operations().size(); ++call)
    for (const Region& region : kernel.operations()[call].regions)
      if (region.memory != Memory::hbm) note(uses[place_of.at(region.tensor)], region, call);
  boost::json::array buffers;
  for (const Use& use : uses) {
    if (!use.used()) continue;
    buffers.push_back({{"name", use.tensor.name},
                       {"memory", name(use.tensor.memory)},
                       {"first_byte", use.tensor.address},
                       {"bytes", use.end - use.tensor.address},
                       {"partitions", {use.first_row, use.end_row - 1}},
                       {"calls", {use.first_call, use.last_call}}});
  }
  return buffers;
}

}  // namespace tilevp::neuron
