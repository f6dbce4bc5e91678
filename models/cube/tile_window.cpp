#include "tilevp/cube/tile_window.hpp"

#include <cstring>

#include "tilevp/cube/registers.hpp"

namespace tilevp::cube {

TileWindow::TileWindow(sc_core::sc_module_name name, Simulation& simulation, const TileRegisters& tiles)
    : sc_module(name), simulation_(simulation), tiles_(tiles) {
  socket.register_b_transport(this, &TileWindow::b_transport);
  socket.register_transport_dbg(this, &TileWindow::transport_dbg);
}

bool TileWindow::read(std::uint64_t address, std::span<unsigned char> to) const {
  if (address >= registers::tile_window_bytes) return false;
  const auto pe = static_cast<unsigned>(address / registers::tile_stride(1, 0));
  const auto tile = static_cast<std::uint8_t>(address / registers::tile_stride(0, 1) % local_tiles);
  const std::uint64_t offset = address % registers::tile_stride(0, 1);
  const auto slot = tiles_.find(tile);
  if (!slot || !tiles_.published(*slot) || !selects(tiles_.descriptor(*slot).mask, pe)) return false;
  if (offset + to.size() > tiles_.descriptor(*slot).storage_bytes()) return false;
  simulation_.effects().join();
  const auto bytes = tiles_.architectural_bytes(*slot, pe);
  std::memcpy(to.data(), bytes.data() + offset, to.size());
  return true;
}

void TileWindow::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (delay != sc_core::SC_ZERO_TIME) sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  simulation_.arbiter().settle(static_cast<unsigned>(id));
  payload.set_dmi_allowed(false);
  if (payload.get_byte_enable_ptr() != nullptr)
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  else if (!payload.is_read())
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  else if (payload.get_streaming_width() < payload.get_data_length())
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  else if (!read(payload.get_address(), {payload.get_data_ptr(), payload.get_data_length()}))
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  else
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned int TileWindow::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  if (!payload.is_read() || payload.get_data_length() == 0) return 0;
  return read(payload.get_address(), {payload.get_data_ptr(), payload.get_data_length()}) ? payload.get_data_length()
                                                                                          : 0;
}

}  // namespace tilevp::cube
