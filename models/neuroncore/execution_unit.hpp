#pragma once
// What the PE array and the vector, scalar and gpsimd engines have in common: instructions in flight that commit in
// order, each at its own time.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>

#include "tilevp/base/agent.hpp"
#include "tilevp/neuroncore/engine_monitor.hpp"
#include "tilevp/neuroncore/semaphores.hpp"
#include "tilevp/neuroncore/tile_geometry.hpp"

namespace tilevp::neuroncore {

// What an engine is given to work with.
struct EngineContext {
  Simulation& simulation;
  Agent& agent;  // of the engine's sequencer
  EngineMonitor& monitor;
  SemaphoreFile& semaphores;
  Engine engine;
  const ClockDomain& clock;
};

// Where an instruction comes from: its index in the stream, the id of the fetch that brought it, and of what released
// it.
struct Origin {
  std::uint64_t index = 0;
  std::uint64_t fetch = 0;
  std::uint64_t cause = 0;
};

class ExecutionUnit;

struct Flight final : Completion {
  ExecutionUnit* unit = nullptr;
  Instruction instruction;
  std::uint64_t index = 0;
  std::uint64_t id = 0;
  std::uint64_t requested_ps = 0;
  std::uint64_t begin_ps = 0;
  std::uint64_t end_ps = 0;       // the engine is free
  std::uint64_t complete_ps = 0;  // the result is visible
  std::uint64_t cycles = 0;       // end - begin in the engine's cycles
  // Of the vector, scalar and gpsimd engines: the tiles written and read, at most two sources and two scalars.
  TileExtent destination;
  std::array<TileExtent, 4> sources{};
  unsigned source_count = 0;
  void complete() override;
};

class ExecutionUnit {
 public:
  // Instructions in flight; the compiler models a reorder window of 64 for the PE array. Vector engines never fill it.
  static constexpr std::size_t window = 64;

  explicit ExecutionUnit(const EngineContext& context);
  virtual ~ExecutionUnit() = default;
  ExecutionUnit(const ExecutionUnit&) = delete;
  ExecutionUnit& operator=(const ExecutionUnit&) = delete;

  // On the sequencer's thread: takes a legal instruction that is ready at `requested_ps` (at or after the agent's local
  // time), decides when it begins (moving local time towards that) and schedules its completion. Returns when it
  // begins.
  std::uint64_t issue(const Instruction& instruction, const Origin& origin, std::uint64_t requested_ps);
  // Until everything issued has completed.
  void drain();

  // What is in flight, and what is issued until `resume`, takes its time and has no effect.
  void cancel() { cancelled_ = true; }
  void resume() { cancelled_ = false; }
  // Asked when an instruction faults as it completes: true: the unit is cancelled and the run goes on.
  std::function<bool(std::uint64_t index)> survives_fault;
  // Flights that have not completed, oldest first.
  std::size_t in_flight() const { return count_; }
  const Flight& flight(std::size_t position) const { return flights_[(first_ + position) % window]; }

 protected:
  // Sets begin_ps, end_ps, complete_ps and cycles of a flight whose instruction, index and id are set.
  virtual void schedule(Flight& flight) = 0;
  // At its completion: checks, counts, and appends the effect.
  virtual void commit(const Flight& flight) = 0;

  const EngineContext& context() const { return context_; }

 private:
  friend struct Flight;
  void completed(Flight& flight);
  void take_effect(const Flight& flight);
  // Until fewer than `window` instructions are in flight; returns when an instruction ready at `requested_ps` may
  // issue.
  std::uint64_t await_slot(std::uint64_t requested_ps);

  EngineContext context_;
  std::array<Flight, window> flights_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  sc_core::sc_event completed_;
  bool someone_waits_ = false;
  bool cancelled_ = false;
};

}  // namespace tilevp::neuroncore
