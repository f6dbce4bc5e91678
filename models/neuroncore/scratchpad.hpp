#pragma once
// What SBUF and PSUM have in common: bytes in 128 partitions, definedness of each byte, and two faces.
//
//   tiles    the engines' face (TileProtocol): whole tiles, checked and counted when an operation commits
//   memory   the memory-mapped face for DMA engines and the host: partition p at p << shift, base protocol, patterns
//            (MemoryAccess) and direct access. It serves at once: what a DMA transfer takes is the DMA engine's rate
//            and latency; no public figure says that the memories' own ports limit it.
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <string>
#include <systemc>

#include "tilevp/base/nonblocking_bridge.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/memory/byte_store.hpp"
#include "tilevp/memory/memory_access.hpp"
#include "tilevp/neuroncore/partition_bitmap.hpp"
#include "tilevp/neuroncore/tile_access.hpp"

namespace tilevp::neuroncore {

class RaceDetector;

class Scratchpad : public sc_core::sc_module, protected memory::DirectMemory {
 public:
  // A test may put its own memory in the place of one face.
  tlm_utils::multi_passthrough_target_socket<Scratchpad, 32, TileProtocol, 0, sc_core::SC_ZERO_OR_MORE_BOUND> tiles{
      "tiles"};
  tlm_utils::multi_passthrough_target_socket<Scratchpad, 32, tlm::tlm_base_protocol_types, 0,
                                             sc_core::SC_ZERO_OR_MORE_BOUND>
      memory{"memory"};

  std::uint32_t usable_bytes() const { return layout_.usable_bytes; }
  // Whether somebody wrote all of these bytes, which must lie in the partition.
  bool is_defined(unsigned partition, std::uint32_t offset, std::uint32_t bytes) const {
    return !defined_.first_clear({partition, 1}, offset, bytes);
  }

  // Bytes that somebody wrote, of [offset, offset + bytes) of each partition; multiples of 64.
  std::vector<std::uint64_t> written_bytes(std::uint32_t offset, std::uint32_t bytes) const {
    return defined_.count(offset, bytes);
  }
  // Tiles that are read and written are told to it.
  void watch(RaceDetector& races) { races_ = &races; }

 protected:
  struct Layout {
    Space space;
    unsigned partition_shift;    // of the address map
    std::uint32_t usable_bytes;  // of a partition
    const char* kind;            // "sbuf"
    const char* bounds_rule;     // rule ids
    const char* undefined_read_rule;
  };
  Scratchpad(sc_core::sc_module_name name, Simulation& simulation, const Layout& layout);
  ~Scratchpad() override = default;

  // Rules of the kind beyond definedness, and its own marks. `access` is in bounds.
  virtual void before_tile_read(const TileAccess& access) = 0;
  virtual void before_tile_write(const TileAccess& access) = 0;
  virtual void before_memory_read(unsigned partition, std::uint32_t offset, std::uint32_t bytes,
                                  const std::string& reader) = 0;
  virtual void before_memory_write(unsigned partition, std::uint32_t offset, std::uint32_t bytes) = 0;

  Simulation& simulation() const { return simulation_; }
  const PartitionBitmap& defined() const { return defined_; }
  Counter& bytes_read() { return bytes_read_; }

 private:
  void tile_transport(int id, TileAccess& access, sc_core::sc_time& delay);
  void require_bounds(const TileAccess& access) const;
  void require_defined(const TileAccess& access) const;
  numeric::MutableStridedTile view_of(const TileAccess& access);
  void report(const TileAccess& access, std::uint64_t bytes) const;

  void memory_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum memory_nonblocking(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay);
  unsigned int memory_debug(int id, tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status problem_of(const tlm::tlm_generic_payload& payload,
                                      const memory::AccessPattern& pattern) const;
  bool in_bounds(const memory::AccessPattern& pattern) const;
  void move(tlm::tlm_generic_payload& payload, const memory::AccessPattern& pattern);
  std::byte* at(std::uint64_t address);
  const std::byte* at(std::uint64_t address) const { return const_cast<Scratchpad*>(this)->at(address); }
  // Calls fn(partition, offset, bytes) for each run of the set of bytes.
  template <class Fn>
  void for_each_piece(const memory::AccessPattern& pattern, Fn&& fn) const;

  void gather(const memory::AccessPattern& pattern, std::byte* out) const override;
  void scatter(const memory::AccessPattern& pattern, const std::byte* in) override;
  HostRange extent(const memory::AccessPattern& pattern) const override;
  void commit_read(const memory::AccessPattern& pattern, const std::string& reader) override;
  void commit_write(const memory::AccessPattern& pattern) override;

  Simulation& simulation_;
  Layout layout_;
  NonBlockingBridge nonblocking_;
  std::uint32_t store_stride_;  // from a partition to the next
  memory::SparseStore store_;
  PartitionBitmap defined_;
  RaceDetector* races_ = nullptr;
  Counter bytes_read_;
  Counter bytes_written_;
};

}  // namespace tilevp::neuroncore
