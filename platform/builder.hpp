#pragma once
// A platform of one description: host, router, HBM and a machine (machine.hpp), bound together.
//
//   host ------------+                +--> hbm
//                    |                |
//   the machine's ---+--> [ router ] -+--> the windows of the machine:
//   fetches, DMA     |                |    its memories and registers
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilevp/base/break_point.hpp"
#include "tilevp/base/simulation.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/host_agent.hpp"
#include "tilevp/platform/machine.hpp"

namespace tilevp::platform {

struct BuildOptions {
  // Parts are constructed in an order drawn from this seed; 0: as listed above. No result depends on it: what decides
  // between agents is their port number, and that is fixed by role.
  std::uint64_t construction_seed = 0;
};

// The memories of the address map, by address.
std::vector<MemoryRegion> memory_map(const Description& description);

class Platform {
 public:
  // The description must have passed its checks. One platform a process: SystemC elaborates once.
  Platform(const Description& description, const SimulationOptions& options, const BuildOptions& build = {});
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  Simulation& simulation();
  HostAgent& host();
  const Description& description() const;

  // The address map, a line a region.
  std::string map_text() const;
  std::vector<RegisterWindow> register_windows() const;
  // What the machine's on-chip memories hold, as the run stands.
  std::vector<Occupancy> occupancy() const;

  // Debug accesses of memories, while the simulation runs or after it. False where not all bytes lie in memory.
  bool debug_write(std::uint64_t address, std::span<const std::byte> bytes);
  bool debug_read(std::uint64_t address, std::span<std::byte> bytes);

  // Stops the run before `unit` executes its instruction or descriptor `number`: "pe", "core0.pe", "dma0.q3". UserError
  // (`option`) with the nearest names where there is no such unit. run() then throws BreakReached.
  void break_at(std::string_view option, const std::string& unit, std::uint64_t number);
  // Where run() threw that: the instruction or descriptor, and what the machine holds (neuron_state.hpp).
  std::string stopped_text(const BreakReached& where) const;
  std::string state_text(const BreakReached& where) const;

  // Runs `program` on the host until it returns; ends as Simulation::run does.
  void run(std::function<void(runtime::Host&)> program, std::uint64_t max_time_ps = UINT64_MAX);
  // When that ended, well or not.
  std::uint64_t end_ps() const { return end_ps_; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::uint64_t end_ps_ = 0;
};

}  // namespace tilevp::platform
