#pragma once
// SBUF: the software-managed on-chip memory, 128 partitions (AWS Neuron documentation, Trainium/Inferentia2, Trainium2
// and Trainium3 architecture guides: 192, 224, 256 KiB each, 256 KiB apart in the address map).
#include "tilevp/neuroncore/parameters.hpp"
#include "tilevp/neuroncore/scratchpad.hpp"

namespace tilevp::neuroncore {

class Sbuf final : public Scratchpad {
 public:
  Sbuf(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters);

 private:
  void before_tile_read(const TileAccess&) override {}
  void before_tile_write(const TileAccess&) override {}
  void before_memory_read(unsigned, std::uint32_t, std::uint32_t, const std::string&) override {}
  void before_memory_write(unsigned, std::uint32_t, std::uint32_t) override {}
};

// Bytes of a partition that programs may use. Throws UserError where the description's sizes do not fit.
std::uint32_t usable_sbuf_bytes(const Parameters& parameters);

}  // namespace tilevp::neuroncore
