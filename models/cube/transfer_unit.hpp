#pragma once
// Moves tiles between memory and tile registers: TLOAD and TSTORE, one after the other, beside the matrix units.
//
// Time. Memory is asked for grain_bytes at a time (whole rows where they are shorter), each when the unit is free and
// fewer than outstanding_grains are under way; it answers by contiguous run and burst. A grain takes the unit for
// max(run_cycles, ceil(bytes of a run / bytes_per_cycle)) summed over its runs, from when memory begins to serve it. A
// bundle ends when its last grain has come and the unit is through, and not before the bundle before it. The next
// begins when the unit is free.
//
// The rows of a tile in memory are read once, whatever PEs take them, and written once: the bytes of the last PE in the
// mask. Bytes are sampled and written at the bundle's end; a memory without direct access is served grain by grain.
#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/cube/bundle_window.hpp"
#include "tilevp/cube/unit_monitor.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::cube {

class TransferUnit final : public sc_core::sc_module {
 public:
  memory::InitiatorPort memory;

  // `agent` is its own.
  TransferUnit(sc_core::sc_module_name name, Agent& agent, const ClockDomain& clock,
               const TransferUnitParameters& parameters, TileRegisters& tiles, BundleWindow& window);

  // Queues a bundle that is ready at record.ready_ps.
  void issue(BundleFlight& flight);
  // At the end of its work: moves the bytes, or sets the flight's fault.
  void finish(BundleFlight& flight);
  // Drops what is queued and what it works on, and takes bundles again once `active` is false.
  void cancel();
  bool active() const { return active_; }
  // Notified a delta after it has become inactive.
  const sc_core::sc_event& idle() const { return idle_; }

  std::uint64_t bytes() const { return bytes_.value(); }

 private:
  void run();
  void serve(BundleFlight& flight);
  // Both return when the bundle ends.
  std::uint64_t ask(BundleFlight& flight);
  std::uint64_t move(BundleFlight& flight, const memory::AccessPattern& whole);
  std::uint64_t ask_grain(BundleFlight& flight, memory::Command command, const memory::AccessPattern& grain);
  void occupy(BundleFlight& flight, std::uint64_t begin_ps, const memory::AccessPattern& grain);
  void require_reachable(const memory::AccessPattern& whole);
  void await_slot(const std::vector<memory::AccessGrant>& grants);
  void append_load(const BundleFlight& flight);
  void append_store(const BundleFlight& flight);
  std::span<std::byte> rows_of(const TransferOperation& operation) {
    return std::span(rows_).first(operation.rows * operation.row_bytes());
  }

  Agent& agent_;
  const ClockDomain& clock_;
  TransferUnitParameters parameters_;
  TileRegisters& tiles_;
  BundleWindow& window_;
  UnitMonitor monitor_;
  std::deque<BundleFlight*> queue_;
  std::uint64_t free_ = 0;         // cycle from which it takes the next grain
  std::uint64_t last_end_ps_ = 0;  // bundles end in order
  unsigned ending_ = 0;            // bundles with an end that has not come
  bool active_ = false;
  bool cancelled_ = false;
  bool failed_ = false;    // a bundle could not be asked for: none is after it
  bool skipping_ = false;  // a bundle has ended with a fault: those after it have no effect
  sc_core::sc_event wake_;
  sc_core::sc_event idle_;
  sc_core::sc_event finished_;
  std::vector<std::byte> rows_;  // scratch of effects: the rows of one tile
  Counter bytes_;
  Counter runs_;
  Probe queued_;
};

}  // namespace tilevp::cube
