#pragma once
// The matrix units of a core: one a PE, or one that the PEs use in turns.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/cube/bundle_window.hpp"
#include "tilevp/cube/unit_monitor.hpp"

namespace tilevp::cube {

class MatrixUnits {
 public:
  // `path` of the core; `agent` is the sequencer's.
  MatrixUnits(Simulation& simulation, const std::string& path, const ClockDomain& clock, Agent& agent,
              const MatrixUnitParameters& parameters, TileRegisters& tiles);

  // Takes a bundle that is ready at cycle `ready` (record.id, matrix and mask are set): sets its times. Returns when
  // its last result is written, in ps.
  std::uint64_t issue(BundleFlight& flight, std::uint64_t ready);
  // At that time: counts what the units were occupied for.
  void ended(const BundleFlight& flight);
  // In program order: the arithmetic, as effects.
  void commit(const BundleFlight& flight);
  // As new: nothing in the pipelines, no flags.
  void reset();

  // Sticky NumericFlag bits of everything committed; executes pending effects.
  std::uint8_t flags();
  void set_flags(std::uint8_t flags);
  std::uint64_t macs() const { return macs_.value(); }
  std::uint64_t issued_macs() const { return macs_.value() + row_padding_macs_.value() + step_padding_macs_.value(); }

 private:
  void count_macs(const BundleFlight& flight);
  bool works(const BundleFlight& flight, unsigned unit) const;
  void show(const BundleFlight& flight, unsigned unit, bool first) const;

  Simulation& simulation_;
  const ClockDomain& clock_;
  Agent& agent_;
  MatrixUnitParameters parameters_;
  TileRegisters& tiles_;
  std::vector<MatrixPipeline> pipelines_;
  std::vector<std::unique_ptr<UnitMonitor>> monitors_;
  std::atomic<std::uint8_t> flags_ = 0;  // written by effects
  Counter macs_;
  Counter row_padding_macs_;
  Counter step_padding_macs_;
  Counter waiting_macs_;
};

}  // namespace tilevp::cube
