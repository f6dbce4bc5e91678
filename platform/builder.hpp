#pragma once
// A platform of one description: host, router, HBM, one NeuronCore with its DMA engines, bound together.
//
//   host ----+                +--> hbm
//            |                |
//   core0 ---+--> [ router ] -+--> core0 window: SBUF, PSUM, registers, DMA registers
//            |                |
//   DMA  ----+                |
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tilevp/base/simulation.hpp"
#include "tilevp/platform/description.hpp"
#include "tilevp/platform/host_agent.hpp"

namespace tilevp::platform {

struct BuildOptions {
  // Parts are constructed in an order drawn from this seed; 0: as listed above. No result depends on it: what decides
  // between agents is their port number, and that is fixed by role.
  std::uint64_t construction_seed = 0;
};

// Registers of one window, as a Markdown table.
struct RegisterWindow {
  std::string name;
  std::string table;
};

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
