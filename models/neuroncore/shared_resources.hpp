#pragma once
// What the engines of one core contend for.
#include <array>
#include <memory>
#include <span>
#include <string>

#include "tilevp/base/resource.hpp"
#include "tilevp/neuroncore/parameters.hpp"
#include "tilevp/neuroncore/psum.hpp"

namespace tilevp::neuroncore {

struct SharedResources {
  Psum& psum;
  bool psum_bank_exclusive;
  // NC-v2: "VectorE and GpSimdE may not access SBUF together, VectorE and ScalarE may not access PSUM together" (AWS
  // Neuron documentation, Trainium/Inferentia2 architecture guide). Null where the generation has them apart.
  std::unique_ptr<ExclusiveResource> vector_gpsimd_sbuf;
  std::unique_ptr<ExclusiveResource> vector_scalar_psum;

  SharedResources(const std::string& path, const Parameters& parameters, Psum& psum_)
      : psum(psum_), psum_bank_exclusive(parameters.psum_bank_exclusive) {
    if (parameters.vector_gpsimd_share_sbuf_port)
      vector_gpsimd_sbuf = std::make_unique<ExclusiveResource>(path + ".vector_gpsimd_sbuf_port");
    if (parameters.vector_scalar_share_psum_port)
      vector_scalar_psum = std::make_unique<ExclusiveResource>(path + ".vector_scalar_psum_port");
  }
};

// The resources of one instruction: banks and ports, without memory of the heap.
class ResourceSet {
 public:
  void add(ExclusiveResource& resource) { items_[count_++] = &resource; }
  std::span<ExclusiveResource* const> span() const { return {items_.data(), count_}; }
  bool empty() const { return count_ == 0; }

 private:
  std::array<ExclusiveResource*, psum_banks + 2> items_{};
  std::size_t count_ = 0;
};

}  // namespace tilevp::neuroncore
