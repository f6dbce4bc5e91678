#pragma once
// The architectural bytes of published tiles, memory-mapped and read only (registers.hpp, tile_window): for hosts that
// debug, and for tests.
//
// A read beyond the tile, or where none is published, is TLM_ADDRESS_ERROR_RESPONSE; a write
// TLM_COMMAND_ERROR_RESPONSE; byte enables TLM_BYTE_ENABLE_ERROR_RESPONSE. It happens at now, after everything else of
// the instant has.
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "tilevp/base/simulation.hpp"
#include "tilevp/cube/tile_registers.hpp"

namespace tilevp::cube {

class TileWindow final : public sc_core::sc_module {
 public:
  // Takes any number of initiators.
  tlm_utils::multi_passthrough_target_socket<TileWindow> socket{"socket"};

  TileWindow(sc_core::sc_module_name name, Simulation& simulation, const TileRegisters& tiles);

 private:
  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(int id, tlm::tlm_generic_payload& payload);
  bool read(std::uint64_t address, std::span<unsigned char> to) const;

  Simulation& simulation_;
  const TileRegisters& tiles_;
};

}  // namespace tilevp::cube
