#pragma once
// A memory on a TLM-2.0 port: DRAM, HBM, an on-chip buffer. Bytes, definedness and time.
//
// Time of a grain (one transaction): it occupies the shared port for its bits / (ceiling x efficiency) and its
// direction for bits / (contiguous x efficiency), each a queue of its own, in cycles of the memory's clock; it ends
// when the later of both has, plus `latency_ns`. Efficiency is that of the access pattern's runs (bandwidth.hpp). An
// idle memory takes a request at once and serves it from its next clock edge. Grains of one instant go round robin over
// the initiators' port numbers; initiators that do not say a number (no MemoryAccess extension) are told apart by the
// binding they come through only.
//
// Bytes are sampled and written at the end of a transaction: a plain b_transport returns when that has passed, with no
// annotated delay. A memory never refuses DMI, for the whole range at once; since a DMI write cannot be seen, a grant
// makes all bytes count as defined and every later effect execute at once.
//
// Both transports work whatever `coding_style` says: it is what the memory asks initiators of ours to use that can do
// either. Blocking accesses bypass the request queue; the order at the port is the same for both.
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <tlm>

#include "tilevp/base/probe.hpp"
#include "tilevp/base/resource.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/base/statistics.hpp"
#include "tilevp/memory/bandwidth.hpp"
#include "tilevp/memory/byte_store.hpp"
#include "tilevp/memory/coding_style.hpp"
#include "tilevp/memory/commit_wait.hpp"
#include "tilevp/memory/defined_map.hpp"
#include "tilevp/memory/memory_access.hpp"
#include "tilevp/memory/parameters.hpp"

namespace tilevp::memory {

// Port numbers of initiators that carry no extension: this + the number of the binding they come through.
inline constexpr unsigned foreign_port_base = 0x1'0000;

class Memory : public sc_core::sc_module, private DirectMemory {
 public:
  // Takes any number of initiators.
  tlm_utils::multi_passthrough_target_socket<Memory> socket{"socket"};

  // Throws UserError at `place` (a key path, "memories[0]") where a parameter is out of range.
  Memory(sc_core::sc_module_name name, Simulation& simulation, const MemoryParameters& parameters,
         std::string_view place = "memory");
  ~Memory() override;

  const MemoryParameters& parameters() const { return parameters_; }
  const Bandwidth& bandwidth() const { return bandwidth_; }
  // Whether somebody wrote all of these bytes; from address 0, in bounds.
  bool is_defined(std::uint64_t start, std::uint64_t bytes) const { return !defined_.first_undefined(start, bytes); }

 private:
  class NonBlocking;
  struct Timing {
    std::uint64_t begin_ps;
    std::uint64_t end_ps;
    Traffic traffic;
    std::uint64_t busy_ps;  // of the shared port
  };
  // Work of an access: first that at the shared port.
  struct Claims {
    std::array<RateClaim, 2> items{};
    std::size_t count = 0;
    std::span<const RateClaim> span() const { return {items.data(), count}; }
  };

  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  unsigned int transport_dbg(int id, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int id, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

  // Not served as the pattern of an extension.
  static bool is_plain(const tlm::tlm_generic_payload& payload);
  static AccessPattern pattern_of(const tlm::tlm_generic_payload& payload);
  static Direction direction_of(const tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload) const;
  // Answers what needs no time: an access that is refused or to be ignored.
  bool answered(tlm::tlm_generic_payload& payload) const;
  void serve_pattern(tlm::tlm_generic_payload& payload, MemoryAccess& access);
  void serve_plain(tlm::tlm_generic_payload& payload, unsigned port);
  void move_plain(tlm::tlm_generic_payload& payload);
  void move_pattern(tlm::tlm_generic_payload& payload, const MemoryAccess& access);
  bool inside(const AccessPattern& pattern) const { return pattern.highest() < parameters_.size_bytes; }
  Timing schedule(const AccessPattern& pattern, Direction direction, unsigned port);
  Claims claims_of(const AccessPattern& pattern, Direction direction);
  // Counts the access, too.
  Timing timing_of(const Grant& grant, const AccessPattern& pattern, Direction direction, CyclesQ32 port_work);
  void fill(MemoryAccess& access, const Timing& timing);
  // Returns what it added to the port's busy time.
  std::uint64_t count(const Traffic& traffic, Direction direction, std::uint64_t begin_ps, CyclesQ32 work);
  void require_defined(const AccessPattern& pattern, const std::string& reader) const;
  sc_core::sc_time dmi_latency(Direction direction) const;

  void gather(const AccessPattern& pattern, std::byte* out) const override;
  void scatter(const AccessPattern& pattern, const std::byte* in) override;
  const std::byte* flat() const override { return store_.data(); }
  HostRange extent(const AccessPattern& pattern) const override;
  void commit_read(const AccessPattern& pattern, const std::string& reader) override;
  void commit_write(const AccessPattern& pattern) override;

  Simulation& simulation_;
  MemoryParameters parameters_;
  Bandwidth bandwidth_;
  ClockDomain clock_;
  std::uint64_t latency_ps_;
  SparseStore store_;
  DefinedMap defined_;
  bool dmi_granted_ = false;
  CommitWait commit_;
  RateResource port_;
  RateResource read_;
  RateResource write_;
  std::unique_ptr<NonBlocking> nonblocking_;

  Counter bytes_read_;
  Counter bytes_written_;
  Counter wasted_bytes_;
  Counter runs_;
  Counter bursts_;
  Counter transactions_;
  Counter busy_ps_;
  CyclesQ32 busy_work_ = 0;
  Probe busy_;
};

}  // namespace tilevp::memory
