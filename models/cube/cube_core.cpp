#include "tilevp/cube/cube_core.hpp"

#include "tilevp/cube/core_units.hpp"

namespace tilevp::cube {

CubeCore::CubeCore(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters, unsigned index)
    : sc_module(name), units_(std::make_unique<CoreUnits>(this->name(), simulation, parameters, index)) {}

CubeCore::~CubeCore() = default;

tlm_utils::multi_passthrough_target_socket<RegisterFile>& CubeCore::control_window() { return units_->control.socket; }

tlm_utils::multi_passthrough_target_socket<TileWindow>& CubeCore::tile_window() { return units_->tile_window.socket; }

tlm_utils::simple_initiator_socket<memory::InitiatorPort>& CubeCore::fetch_socket() {
  return units_->sequencer.fetch.socket;
}

tlm_utils::simple_initiator_socket<memory::InitiatorPort>& CubeCore::memory_socket() {
  return units_->transfer.memory.socket;
}

void CubeCore::on_interrupt(std::function<void(bool level)> callback) { units_->interrupt = std::move(callback); }

void CubeCore::observe(BundleObserver& observer) { units_->observer = &observer; }

void CubeCore::break_at(std::uint64_t index) { units_->sequencer.break_at(index); }

const ClockDomain& CubeCore::clock() const { return units_->clock; }

const RegisterFile& CubeCore::control() const { return units_->control; }

}  // namespace tilevp::cube
