#pragma once
// The block sequencer of a CUBE core: fetches, decodes, latches headers, closes bundles, and stops at faults.
//
// Time, in cycles of the core's clock: an instruction takes decode_cycles, the close of a bundle preflight_cycles more,
// after what it waits for: a place among issue_depth bundles in flight, the producers of its sources, and, where it
// would fault, all bundles before it. Then the bundle goes to its unit and the next instruction is looked at.
//
// A fault is raised when simulated time has caught up and every bundle before has committed. It leaves the header as it
// was before the instruction that faulted. A transfer that memory refuses is found late: GPRs, header and PC go back to
// what they were when its bundle closed.
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <systemc>

#include "tilevp/base/agent.hpp"
#include "tilevp/base/break_point.hpp"
#include "tilevp/cube/bundle_window.hpp"
#include "tilevp/cube/decode_cache.hpp"
#include "tilevp/cube/matrix_units.hpp"
#include "tilevp/cube/registers.hpp"
#include "tilevp/cube/transfer_unit.hpp"
#include "tilevp/cube/unit_monitor.hpp"
#include "tilevp/memory/block_fetch.hpp"

namespace tilevp::cube {

// What the sequencer works with.
struct SequencerContext {
  Agent& agent;
  const ClockDomain& clock;
  const Parameters& parameters;
  TileRegisters& tiles;
  BundleWindow& window;
  MatrixUnits& matrix;
  TransferUnit& transfer;
};

class Sequencer final : public sc_core::sc_module {
 public:
  using Status = registers::Status;

  memory::InitiatorPort fetch;

  // `status_changed` is called when it has halted or faulted, `reset_done` when a reset is complete.
  Sequencer(sc_core::sc_module_name name, const SequencerContext& context, std::function<void()> status_changed,
            std::function<void()> reset_done);

  // At the present time; `cause` is the id of the register access. Throw Fault where the status does not allow it.
  void start(std::uint64_t pc, std::uint64_t end, std::uint64_t cause);
  void restart(registers::Restart how, std::uint64_t end, std::uint64_t cause);
  // Everything as new but statistics, once all in flight has ended.
  void reset();
  bool resetting() const { return resetting_; }

  // Whether a fault stops the core instead of ending the run.
  void survive_faults(bool survive) { survives_faults_ = survive; }
  // The oldest bundle's transfer failed; on the kernel thread at that time, before it is dropped.
  void fail(const BundleFlight& flight);

  Status status() const { return status_; }
  std::uint64_t pc() const { return pc_; }
  void set_pc(std::uint64_t pc);
  const Header& header() const { return header_; }
  const BundleFault& fault() const { return fault_; }
  std::uint64_t fault_pc() const { return fault_pc_; }
  std::uint64_t gpr(unsigned index) const { return gpr_.at(index); }
  void set_gpr(unsigned index, std::uint64_t value);
  std::uint64_t words() const { return monitor_.instructions(); }
  std::uint64_t faults() const { return faults_.value(); }
  const Counter& fault_counter() const { return faults_; }
  void break_at(std::uint64_t index) { break_at_ = index; }

 private:
  struct Stopped {};  // thrown on the sequencer's thread when it was stopped while it waited

  void run();
  void await_start();
  void await_leftovers();
  void execute_program();
  void end_program();
  void step();
  // The next instruction's bytes, little endian, and how many they are.
  Encoded load();
  void reach(std::uint64_t bytes);
  void execute(const Command& command, std::uint64_t next_pc);
  void execute_scalar(const Scalar& scalar);
  void require(MaybeFault fault, const Command& command);
  void close(const Command& closer, std::uint64_t next_pc);
  void await_window();
  Verdict judge();
  void await_verdict(const Wait& wait);
  void issue(const Command& closer, const Verdict& verdict, std::uint64_t requested);
  [[noreturn]] void stop_before();

  // Everything that waits ends here: a stopped sequencer does nothing more.
  void checkpoint() const {
    if (stops_ != seen_stops_) throw Stopped{};
  }
  // Until something has left the window, once local time has come; counts the stall.
  void await_change(unsigned cause);
  void await_until_cycle();
  void drain();
  [[noreturn]] void raise(BundleFault fault, const std::string& instruction);
  void trap(BundleFault fault, std::uint64_t pc, const std::string& instruction);
  // Takes the next `cycles` of its time.
  void work(std::uint64_t cycles);
  // Counts it, and tells of it as the work for `flight`; without one as that of instructions behind the last bundle.
  void count_busy(const BundleFlight* flight = nullptr);
  std::uint64_t cause_of(const Slots& sources) const;
  void finish_reset();
  WaitingRecord describe_open_bundle() const;
  std::uint64_t cycle_now() const { return context_.clock.edge_at_or_after(now_ps()); }
  std::uint64_t time_ps() const { return context_.clock.time_ps(cycle_); }

  SequencerContext context_;
  UnitMonitor monitor_;
  memory::BlockFetch instructions_;
  DecodeCache decoded_;
  std::function<void()> status_changed_;
  std::function<void()> reset_done_;

  Status status_ = Status::idle;
  std::uint64_t base_ = 0;  // of the stream that is fetched
  std::uint64_t end_ = 0;
  std::uint64_t cause_ = 0;
  std::uint64_t pc_ = 0;
  Header header_;
  Gprs gpr_{};
  BundleFault fault_;
  std::uint64_t fault_pc_ = 0;
  bool survives_faults_ = false;
  std::uint64_t stops_ = 0;       // how often it was stopped
  std::uint64_t seen_stops_ = 0;  // of these, before the program that runs was started
  bool resetting_ = false;
  std::uint64_t cycle_ = 0;  // when the next instruction can be decoded; local time follows when others are asked
  std::uint64_t busy_cycles_ = 0;
  std::uint64_t counted_cycles_ = 0;                   // of these, what the monitor knows
  std::uint64_t counted_to_ = 0;                       // cycle up to which it knows them
  std::array<std::uint64_t, tile_slots> producers_{};  // ids of the bundles that defined the slots last
  std::uint64_t waiting_since_ps_ = 0;
  std::uint64_t break_at_ = no_break;
  Counter faults_;
  Probe pc_probe_;
  Probe status_probe_;
  Probe fault_probe_;
  sc_core::sc_event started_;
  sc_core::sc_event stop_;
};

}  // namespace tilevp::cube
