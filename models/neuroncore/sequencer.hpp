#pragma once
// One of the five sequencers: fetches its stream, decodes, checks, waits for semaphores, issues to its engine.
//
// Records issue in order, one every issue_cycles. A data instruction issues when it begins, so the next record is
// looked at while it runs. semaphore and dma_trigger records take effect when their waits are satisfied; an update by a
// data instruction happens when that completes. Waiting does not change a semaphore.
#include <cstdint>
#include <functional>
#include <systemc>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/break_point.hpp"
#include "tilevp/memory/block_fetch.hpp"
#include "tilevp/memory/initiator_port.hpp"
#include "tilevp/neuroncore/dma_trigger.hpp"
#include "tilevp/neuroncore/execution_unit.hpp"
#include "tilevp/neuroncore/legality.hpp"
#include "tilevp/neuroncore/parameters.hpp"

namespace tilevp::neuroncore {

class Sequencer final : public sc_core::sc_module {
 public:
  enum class Status : std::uint32_t { idle = 0, running = 1, halted = 2, faulted = 3 };

  memory::InitiatorPort fetch;

  // `unit` is null for the sync engine. `ended` is called when the stream has ended or was stopped and all of it has
  // completed.
  Sequencer(sc_core::sc_module_name name, const EngineContext& context, ExecutionUnit* unit,
            const SequencerParameters& parameters, const LegalityLimits& limits, std::function<void()> ended);

  // Starts `count` records at `base`, at the present time; `cause` is the id of the register access that did. Throws
  // Fault when it is running or `base` is not a multiple of 64.
  void start(std::uint64_t base, std::uint64_t count, std::uint64_t cause);
  void connect(DmaTrigger& dma) { dma_ = &dma; }

  // Whether a fault of this engine stops it (status `faulted`) instead of ending the run.
  void survive_faults(bool survive) { survives_faults_ = survive; }
  // The record that faulted.
  std::uint64_t fault_index() const { return fault_index_; }
  // First half of a reset: nothing takes effect any more, and the stream ends at its next record or wait.
  void stop();
  // Second half, when the status is not `running`: idle, ready for a start.
  void reset();
  // Stops the run before record `index` of a stream: when it could issue, which is before its waits and before its
  // engine is asked. Instructions before it may be in flight still.
  void break_at(std::uint64_t index) { break_at_ = index; }
  // The record that it stopped before.
  const Instruction& stopped_before() const { return stopped_before_; }

  Status status() const { return status_; }
  // Records issued since start. While the sequencer runs ahead of simulated time (a quantum above zero) so does this.
  std::uint64_t executed() const { return index_; }
  std::uint64_t records() const { return count_; }
  std::uint64_t stream_base() const { return base_; }

 private:
  void run();
  void execute_stream();
  void end_stream();
  // True: the fault of record `index` stops this engine, or comes after it was stopped.
  bool stops_at_fault(std::uint64_t index);
  // Executes record `index_`. False: the stream has ended.
  bool step();
  [[noreturn]] void stop_before(const Instruction& instruction);
  bool execute(const Instruction& instruction);
  void execute_control(const Instruction& instruction);
  // Until the waits are satisfied; what satisfied them is then the cause of the next instruction.
  void await(const std::array<Wait, 2>& waits);
  void block(const std::array<Wait, 2>& waits);
  void note_cause(unsigned semaphore);
  void forget_cause();
  void load(Instruction& instruction);
  bool satisfied() const;
  WaitingRecord describe_wait() const;
  // The next record is ready `issue_cycles` after the edge at or after `begin_ps`.
  void ready_after(std::uint64_t begin_ps);

  EngineContext context_;
  ExecutionUnit* unit_;
  SequencerParameters parameters_;
  LegalityLimits limits_;
  std::function<void()> ended_;
  memory::BlockFetch instructions_;
  DmaTrigger* dma_ = nullptr;
  unsigned waiter_;

  Status status_ = Status::idle;
  std::uint64_t base_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t break_at_ = no_break;
  Instruction stopped_before_;
  std::uint64_t start_cause_ = 0;
  std::uint64_t cause_ = 0;      // of the next instruction: the operation that satisfied its waits last
  std::uint64_t caused_ps_ = 0;  // when that was
  // When the next record may issue. Local time follows when something is asked of others, so that a matmul costs the
  // simulation one wait.
  std::uint64_t ready_ps_ = 0;
  bool survives_faults_ = false;
  bool stopping_ = false;
  bool faulted_ = false;
  std::uint64_t fault_index_ = 0;
  std::array<Wait, 2> waits_{};
  std::uint64_t waiting_since_ps_ = 0;
  sc_core::sc_event started_;
};

}  // namespace tilevp::neuroncore
