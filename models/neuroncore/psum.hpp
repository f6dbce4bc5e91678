#pragma once
// PSUM: the accumulation memory behind the PE array, 128 partitions of 8 banks of 2 KiB (512 fp32).
//
// A matmul overwrites (START) or adds. Adding is defined only onto cells that a matmul wrote last: onto cells nobody
// wrote it is undefined everywhere, onto cells another engine wrote it is undefined on NC-v2 and v3 (AWS Neuron
// documentation, nki.isa.nc_matmul). An accumulation group lives in one bank, one group a bank, from its START to its
// STOP; until then the bank may not be read (same source). An add into a bank whose group has ended opens it again
// unless it carries STOP.
#include <array>
#include <memory>

#include "tilevp/base/resource.hpp"
#include "tilevp/neuroncore/scratchpad.hpp"

namespace tilevp::neuroncore {

class Psum final : public Scratchpad {
 public:
  Psum(sc_core::sc_module_name name, Simulation& simulation);

  // An engine holds a bank for the length of its instruction.
  ExclusiveResource& bank(unsigned index) { return *banks_[index].resource; }
  // Which bank, or null.
  const ExclusiveResource* find(const Resource* resource) const;
  // For the waves: bank `index` is held from begin to end.
  void occupied(unsigned index, std::uint64_t begin_ps, std::uint64_t end_ps);
  // No group is open and no matmul has written anything. The bytes stay.
  void close_groups();

 private:
  struct Bank {
    std::unique_ptr<ExclusiveResource> resource;
    std::unique_ptr<Probe> busy;
    std::unique_ptr<Probe> open_group;
    bool open = false;
  };
  void before_tile_read(const TileAccess& access) override;
  void before_tile_write(const TileAccess& access) override;
  void before_memory_read(unsigned partition, std::uint32_t offset, std::uint32_t bytes,
                          const std::string& reader) override;
  void before_memory_write(unsigned partition, std::uint32_t offset, std::uint32_t bytes) override;
  void require_closed(std::uint32_t first_byte, std::uint32_t last_byte, const std::string& reader) const;
  void require_started(const TileAccess& access) const;
  void set_open(Bank& bank, bool open);

  std::array<Bank, psum_banks> banks_;
  PartitionBitmap matmul_cells_;  // bytes a matmul wrote last
};

}  // namespace tilevp::neuroncore
