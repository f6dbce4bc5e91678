#include "tilevp/cube/core_units.hpp"

#include "tilevp/cube/cube_core.hpp"
#include "tilevp/cube/statistics.hpp"

namespace tilevp::cube {
namespace {

const Parameters& checked(const Parameters& parameters) {
  parameters.check("cube");
  parameters.sequencer.check("cube.sequencer");
  parameters.matrix_unit.check("cube.matrix_unit");
  parameters.transfer_unit.check("cube.transfer_unit");
  return parameters;
}

}  // namespace

CoreUnits::CoreUnits(const std::string& path, Simulation& sim, const Parameters& from, unsigned index)
    : simulation(sim),
      parameters(checked(from)),
      clock(path, from.clock_hz),
      sequencer_agent(sim, path + ".sequencer", agent_port_base + agent_ports * index),
      transfer_agent(sim, path + ".transfer", agent_port_base + agent_ports * index + 1),
      tiles(from.tile_selectors, from.capacity, from.tile_capacity_bytes),
      window(sim, from.sequencer.issue_depth, *this),
      matrix(sim, path, clock, sequencer_agent, from.matrix_unit, tiles),
      transfer("transfer", transfer_agent, clock, parameters.transfer_unit, tiles, window),
      sequencer(
          "sequencer", {sequencer_agent, clock, parameters, tiles, window, matrix, transfer},
          [this] {
            const bool halted = sequencer.status() == Sequencer::Status::halted;
            registers.set_interrupt(halted ? registers::interrupt_halted : registers::interrupt_faulted);
            update_interrupt();
          },
          [this] {
            registers.clear_interrupts();
            update_interrupt();
          }),
      tile_window("tiles", sim, tiles),
      control("control", sim, registers::control_bytes),
      registers(control, {parameters, sequencer, matrix, tiles, bundles, loads, stores}),
      path_(path) {
  registers.interrupt_changed = [this] { update_interrupt(); };
  sim.statistics().add(path, statistic_bundles, bundles);
  sim.statistics().add(path, statistic_loads, loads);
  sim.statistics().add(path, statistic_stores, stores);
  sim.statistics().add(path, statistic_faults, sequencer.fault_counter());
}

void CoreUnits::ended(BundleFlight& flight) {
  if (flight.kind == BundleFlight::Kind::matrix) matrix.ended(flight);
  if (flight.kind == BundleFlight::Kind::transfer) transfer.finish(flight);
}

// The arithmetic takes its operands before the results push older tiles out.
void CoreUnits::commit(const BundleFlight& flight) {
  if (flight.kind == BundleFlight::Kind::matrix) matrix.commit(flight);
  if (flight.kind == BundleFlight::Kind::transfer) (flight.transfer.load ? loads : stores) += 1;
  tiles.publish(std::span(flight.destinations.data(), flight.destinations.size()));
  bundles += 1;
  if (observer == nullptr) return;
  BundleRecord record = flight.record;
  record.commit_ps = now_ps();
  observer->committed(record);
}

void CoreUnits::failed(const BundleFlight& flight) {
  located(path_, [&] { sequencer.fail(flight); });
}

void CoreUnits::update_interrupt() {
  const bool level = registers.interrupt_pending();
  if (level == interrupt_level_) return;
  interrupt_level_ = level;
  if (interrupt) interrupt(level);
}

}  // namespace tilevp::cube
