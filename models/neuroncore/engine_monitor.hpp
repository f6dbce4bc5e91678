#pragma once
// What is seen of one engine from outside: counters, probes, and a record of each instruction.
#include <cstdint>
#include <string>

#include "tilevp/base/simulation.hpp"
#include "tilevp/base/stall_monitor.hpp"
#include "tilevp/neuroncore/isa.hpp"

namespace tilevp::neuroncore {

// Why an instruction of an engine begins later than it could.
enum class Stall : std::uint8_t {
  semaphore = 1,    // its stream waits for a semaphore
  psum_bank = 2,    // another engine holds a PSUM bank it uses
  port = 3,         // another engine holds a port they share (NC-v2)
  dependency = 4,   // an operand is the result of an instruction of the same engine still in flight
  fetch = 5,        // the record has not arrived from memory
  weight_load = 6,  // the stationary tile is not loaded yet
  window = 7,       // as many instructions are in flight as the engine can track
};
inline constexpr unsigned stall_causes = 7;

// One instruction that ran, for timelines and transaction lists. Times in ps; [begin, end) is the engine's occupation.
struct InstructionRecord {
  Engine engine;
  Opcode opcode;
  std::uint64_t index;  // in its stream
  std::uint64_t id;
  std::uint64_t fetch;         // id of the fetch that brought it
  std::uint64_t cause;         // id of the last operation that satisfied its waits; 0: it has none
  std::uint64_t requested_ps;  // when the sequencer had it ready
  std::uint64_t begin_ps;
  std::uint64_t end_ps;
  std::uint64_t complete_ps;  // its results are visible from here
  const Instruction* instruction;
};

class InstructionObserver {
 public:
  // When the instruction issues; for semaphore records, when they are satisfied.
  virtual void issued(const InstructionRecord& record) = 0;

 protected:
  ~InstructionObserver() = default;
};

class EngineMonitor {
 public:
  // `path` is the engine's ("core0.pe").
  EngineMonitor(Simulation& simulation, const std::string& path, const ClockDomain& clock);

  StallMonitor& stalls() { return stalls_; }
  void stalled(Stall cause, std::uint64_t from_ps, std::uint64_t to_ps) {
    stalls_.stalled(code(cause), from_ps, to_ps);
  }
  void waiting(Stall cause, std::uint64_t from_ps) { stalls_.waiting(code(cause), from_ps); }
  void waited(Stall cause, std::uint64_t from_ps, std::uint64_t to_ps) { stalls_.waited(code(cause), from_ps, to_ps); }
  void issued(const InstructionRecord& record);
  void control(const InstructionRecord& record);
  // An instruction that occupied the engine for so long.
  void completed(std::uint64_t busy_ps, std::uint64_t busy_cycles);
  void observe(InstructionObserver* observer) { observer_ = observer; }

  std::uint64_t stalled_cycles(Stall cause) const { return stalls_.cycles(code(cause)); }
  std::uint64_t busy_cycles() const { return busy_cycles_.value(); }

 private:
  static unsigned code(Stall cause) { return static_cast<unsigned>(cause); }
  void report(const InstructionRecord& record) const;

  Simulation& simulation_;
  std::string path_;
  StallMonitor stalls_;
  InstructionObserver* observer_ = nullptr;
  Counter instructions_;
  Counter busy_cycles_;
  Counter busy_ps_;
  Probe busy_;
  Probe opcode_;
  Probe instruction_;
};

}  // namespace tilevp::neuroncore
