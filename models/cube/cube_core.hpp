#pragma once
// One CUBE core of the PTO ISA: four PEs that execute bundles.
//
//      host (memory-mapped)                      instruction fetch            TLOAD, TSTORE
//        |             |                                ^                          ^
//   control_window  tile_window (read only)             | memory-mapped            | memory-mapped
//        |             |                         +-------------+            +-------------+
//   registers, irq,    |                         |  sequencer  |--bundles-->|  transfer   |
//   GPRs, restart      |                         | fetch       |            |  unit       |
//                      |                         | decode      |            +-------------+
//                      |                         | latch       |               |    ^
//                      |                         | preflight   |---bundles--+  |    |
//                      |                         +-------------+            |  |    |
//                      |                           ^ scoreboard, commit     |  |    |
//                      v                           | and faults in order    v  v    |
//                 +-----------------------------------------------------------------------+
//                 |  64 local tile registers, a payload bank a PE; one descriptor each    |
//                 +-----------------------------------------------------------------------+
//                     | A B C ^ D         | ^                | ^               | ^
//                  matrix0 (PE0)        matrix1           matrix2           matrix3
//                  read > array > post > write, each busy with another bundle
//
// A bundle closes: its sources are waited for, its preflight passes (or faults, once all bundles before it have
// committed), and it goes to the matrix units of its PEs or to the transfer unit. Results are published when it
// commits, in program order. Times: matrix_timing.hpp, transfer_unit.hpp, sequencer.hpp; docs/cube.md has the formulas
// with their sources, what is modelled and what is not.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/clock_domain.hpp"
#include "tilevp/base/register_file.hpp"
#include "tilevp/cube/bundle_observer.hpp"
#include "tilevp/cube/registers.hpp"
#include "tilevp/memory/initiator_port.hpp"

namespace tilevp::cube {

struct Parameters;
class CoreUnits;
class TileWindow;

// Agents of core `index` have the port numbers agent_port_base + agent_ports * index + (0 sequencer, 1 transfer unit).
inline constexpr unsigned agent_port_base = 0x2000;
inline constexpr unsigned agent_ports = 16;

class CubeCore : public sc_core::sc_module {
 public:
  // `index` is the number of the core in its platform. Throws UserError where a parameter is out of range.
  CubeCore(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters, unsigned index = 0);
  ~CubeCore() override;

  // The windows of registers.hpp, addresses relative to each; any number of initiators.
  tlm_utils::multi_passthrough_target_socket<RegisterFile>& control_window();
  tlm_utils::multi_passthrough_target_socket<TileWindow>& tile_window();
  // Where it fetches from, and where tiles are loaded from and stored to.
  tlm_utils::simple_initiator_socket<memory::InitiatorPort>& fetch_socket();
  tlm_utils::simple_initiator_socket<memory::InitiatorPort>& memory_socket();

  // Called with the level of the interrupt line when it changes: high while a bit of the interrupt register is set.
  void on_interrupt(std::function<void(bool level)> callback);
  // Sees every bundle that commits.
  void observe(BundleObserver& observer);
  // Stops the run before bundle `index` closes, when all bundles before it have committed.
  void break_at(std::uint64_t index);

  const ClockDomain& clock() const;
  const RegisterFile& control() const;

 private:
  std::unique_ptr<CoreUnits> units_;
};

}  // namespace tilevp::cube
