#pragma once
// The parts of a CUBE core, as one object: what its sequencer executes on and what its registers show.
#include <functional>
#include <optional>
#include <string>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/clock_domain.hpp"
#include "tilevp/cube/bundle_observer.hpp"
#include "tilevp/cube/control_registers.hpp"
#include "tilevp/cube/matrix_units.hpp"
#include "tilevp/cube/parameters.hpp"
#include "tilevp/cube/sequencer.hpp"
#include "tilevp/cube/tile_registers.hpp"
#include "tilevp/cube/tile_window.hpp"
#include "tilevp/cube/transfer_unit.hpp"

namespace tilevp::cube {

class CoreUnits final : private BundleSink {
 public:
  CoreUnits(const std::string& path, Simulation& simulation, const Parameters& parameters, unsigned index);

  Simulation& simulation;
  const Parameters parameters;
  ClockDomain clock;
  Agent sequencer_agent;
  Agent transfer_agent;
  Counter bundles;
  Counter loads;
  Counter stores;
  TileRegisters tiles;
  BundleWindow window;
  MatrixUnits matrix;
  TransferUnit transfer;
  Sequencer sequencer;
  TileWindow tile_window;
  RegisterFile control;
  ControlRegisters registers;
  BundleObserver* observer = nullptr;
  std::function<void(bool)> interrupt{};

 private:
  void ended(BundleFlight& flight) override;
  void commit(const BundleFlight& flight) override;
  void failed(const BundleFlight& flight) override;
  void update_interrupt();

  std::string path_;
  bool interrupt_level_ = false;
};

}  // namespace tilevp::cube
