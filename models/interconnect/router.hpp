#pragma once
// Address routing: one address space over several targets.
//
//   initiators --> in (any number) --> [regions] --> out(0), out(1), ... --> targets
//
// An access is forwarded to the region that holds all of it, its address translated to the target's own and restored
// afterwards. The pattern of a MemoryAccess extension travels with it where the pattern stays in the region; where it
// leaves, the extension is hidden, the target serves the first run as the plain transaction it is, and the initiator
// sends the other runs itself. An access that no region holds ends with TLM_ADDRESS_ERROR_RESPONSE. Non-blocking
// accesses, debug transport and DMI are translated likewise.
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <systemc>
#include <tlm>
#include <vector>

#include "tilevp/memory/memory_access.hpp"

namespace tilevp::interconnect {

struct Region {
  std::string name;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  unsigned output = 0;              // its target is bound to out(output)
  std::uint64_t target_offset = 0;  // address at the target of the region's first byte

  std::uint64_t last() const { return base + (size - 1); }
};

class Router : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<Router> in{"in"};

  // An access takes `latency_ps` more than its target says. Throws UserError at `place` naming the region for a size of
  // zero or an end beyond 2^64, and naming both regions and both ranges where two overlap.
  Router(sc_core::sc_module_name name, std::vector<Region> regions, std::uint64_t latency_ps = 0,
         std::string_view place = "address map");
  ~Router() override;

  // The socket to bind to the target of the regions with this output number.
  tlm_utils::simple_initiator_socket_tagged<Router>& out(unsigned output) { return *outputs_.at(output); }
  // The map, a line a region in ascending addresses: first and last address, size, name.
  std::string map_text() const;

 private:
  class Hops;
  const Region* find(std::uint64_t address) const;
  // The region that holds all of an access; null where none does.
  const Region* region_of(const tlm::tlm_generic_payload& payload) const;
  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void forward(const Region& region, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(int input, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int output, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  unsigned int transport_dbg(int id, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int id, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(int output, sc_dt::uint64 start, sc_dt::uint64 end);

  std::vector<Region> regions_;  // by ascending base
  std::uint64_t latency_ps_;
  std::vector<std::unique_ptr<tlm_utils::simple_initiator_socket_tagged<Router>>> outputs_;
  std::unique_ptr<Hops> hops_;
};

}  // namespace tilevp::interconnect
