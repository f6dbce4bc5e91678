#pragma once
// One NeuronCore.
//
//      host, DMA (memory-mapped)                            instruction fetch (memory-mapped)
//        |            |            |                    ^        ^        ^        ^        ^
//   sbuf.memory  psum.memory   control            sequencer  sequencer sequencer sequencer sequencer
//        |            |            |                   pe     scalar    gpsimd    vector     sync
//        |            |     registers, irq,             |        |         |         |         |
//        |            |     256 semaphores <----------- updates, waits of all five ----------- |
//        |            |                                 |        |         |         |         |
//   +---------+       |         stationary, moving +--------+    |         |         |    DMA trigger
//   |  SBUF   |-------|--------------------------->|PE array|    |         |         |    (any sequencer)
//   |128 parts|<------|------ tiles ---------------|128x128 |----|---------|---------|
//   +---------+       |                            +--------+  scalar    gpsimd    vector
//        ^       +---------+   overwrite, accumulate    |      engine    engine    engine
//        |       |  PSUM   |<---------------------------+        |         |         |
//        |       | 8 banks |<------------------ tiles -----------+-------- | --------+
//        |       +---------+                                     |         |         |
//        +-------------------------------- tiles ----------------+---------+---------+
//
// Times: pe_array.hpp, tile_engine.hpp, engine_costs.hpp, sequencer.hpp. Limits: isa.hpp (constants), legality.hpp,
// rules.cpp (every rule with its source). Each engine has a clock of its own. PSUM banks, and on NC-v2 two ports, are
// shared (shared_resources.hpp). Figures and their sources: the platform descriptions.
//
// Not modelled: fp8 and MX types, row and column tiling of the array, double-row and sparse matmuls, the faster modes
// of vector engines for 16-bit operands on NC-v3 and v4, events, sequencer registers and branches.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <systemc>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/register_file.hpp"
#include "tilevp/neuroncore/control_registers.hpp"
#include "tilevp/neuroncore/dma_trigger.hpp"
#include "tilevp/neuroncore/engine_monitor.hpp"
#include "tilevp/neuroncore/parameters.hpp"
#include "tilevp/neuroncore/pe_array.hpp"
#include "tilevp/neuroncore/psum.hpp"
#include "tilevp/neuroncore/sbuf.hpp"
#include "tilevp/neuroncore/semaphores.hpp"
#include "tilevp/neuroncore/sequencer.hpp"
#include "tilevp/neuroncore/shared_resources.hpp"
#include "tilevp/neuroncore/tile_engine.hpp"

namespace tilevp::neuroncore {

// Agents of core `index` have the port numbers agent_port_base + agent_ports * index + engine.
inline constexpr unsigned agent_port_base = 0x1000;
inline constexpr unsigned agent_ports = 16;

class NeuronCore : public sc_core::sc_module {
 public:
  // Binds the engines to SBUF and PSUM, or leaves their sockets open for a test that binds its own memories.
  enum class Memories { bound, open };

  // `index` is the number of the core in its platform. Throws UserError where a parameter is out of range.
  NeuronCore(sc_core::sc_module_name name, Simulation& simulation, const Parameters& parameters, unsigned index = 0,
             Memories memories = Memories::bound);

  // The windows of registers.hpp, addresses relative to each; any number of initiators.
  auto& sbuf_window() { return sbuf_.memory; }
  auto& psum_window() { return psum_.memory; }
  auto& control_window() { return control_.socket; }
  // Where sequencer `engine` fetches from.
  auto& fetch_socket(unsigned engine) { return sequencers_[engine]->fetch.socket; }

  // DMA engines add to it when a descriptor with a semaphore ends.
  SemaphoreFile& semaphores() { return semaphores_; }
  // `queues` of each of `engines` DMA engines; before the simulation starts.
  void connect_dma(DmaTrigger& dma, std::uint32_t engines, std::uint32_t queues);
  // Called with the level of the interrupt line when it changes.
  void on_interrupt(std::function<void(bool level)> callback) { interrupt_ = std::move(callback); }
  // Watches all that acts on the core's bytes, with what its DMA engines and the host tell it (race_detector.hpp);
  // before the simulation starts.
  void watch(RaceDetector& races);
  // Sees every instruction of every engine.
  void observe(InstructionObserver& observer);

  unsigned agent_port(unsigned engine) const { return agents_[engine]->port(); }
  const ClockDomain& clock(Engine engine) const { return *clocks_[index_of(engine)]; }
  EngineMonitor& monitor(Engine engine) { return *monitors_[index_of(engine)]; }
  Sbuf& sbuf() { return sbuf_; }
  Psum& psum() { return psum_; }
  PeArray& pe() { return *pe_; }
  Sequencer& sequencer(Engine engine) { return *sequencers_[index_of(engine)]; }
  // Null for the sync engine.
  const ExecutionUnit* unit(Engine engine) const;
  TileEngine& tile_engine(Engine engine) { return *tile_engines_[index_of(engine)]; }
  RegisterFile& control() { return control_; }

 private:
  static std::size_t index_of(Engine engine) { return static_cast<std::size_t>(engine); }
  void build_engine(Engine engine, unsigned core);
  void build_sequencer(Engine engine);
  void bind_memories();
  EngineContext context_of(Engine engine);
  void ended(unsigned engine);
  void reset();
  void finish_reset();
  void update_interrupt();

  Simulation& simulation_;
  Parameters parameters_;
  Sbuf sbuf_;
  Psum psum_;
  SemaphoreFile semaphores_;
  SharedResources shared_;
  std::array<std::unique_ptr<ClockDomain>, engines> clocks_;
  std::array<std::unique_ptr<Agent>, engines> agents_;
  std::array<std::unique_ptr<EngineMonitor>, engines> monitors_;
  std::unique_ptr<PeArray> pe_;
  std::array<std::unique_ptr<TileEngine>, engines> tile_engines_;  // scalar, gpsimd, vector
  std::array<std::unique_ptr<Sequencer>, engines> sequencers_;
  RegisterFile control_;
  std::unique_ptr<CoreState> state_;
  std::unique_ptr<ControlRegisters> registers_;
  std::function<void(bool)> interrupt_;
  bool interrupt_level_ = false;
};

}  // namespace tilevp::neuroncore
