#pragma once
// The control window of a CUBE core (registers.hpp) on a register file.
#include <functional>

#include "tilevp/base/register_file.hpp"
#include "tilevp/cube/matrix_units.hpp"
#include "tilevp/cube/sequencer.hpp"
#include "tilevp/cube/tile_registers.hpp"

namespace tilevp::cube {

// What the registers show.
struct CoreState {
  const Parameters& parameters;
  Sequencer& sequencer;
  MatrixUnits& matrix;
  TileRegisters& tiles;
  const Counter& bundles;
  const Counter& loads;
  const Counter& stores;
};

class ControlRegisters {
 public:
  // Declares the registers in `file`, which outlives this as the state's parts do.
  ControlRegisters(RegisterFile& file, const CoreState& state);

  void set_interrupt(unsigned bit) { interrupt_->set_bits(1U << bit); }
  void clear_interrupts() { interrupt_->set(0); }
  bool interrupt_pending() const { return interrupt_->value() != 0; }
  // Called when the program has cleared interrupt bits.
  std::function<void()> interrupt_changed;

 private:
  using Read = std::function<std::uint64_t(unsigned)>;
  using Write = std::function<void(unsigned, std::uint64_t)>;
  void read_only(const char* name, std::uint64_t offset, unsigned bytes, const char* text, Read read);
  void add_identity();
  void add_running();
  void add_starting();
  void add_place();
  void add_counters();
  void add_tiles();
  void release(std::uint64_t selector);

  RegisterFile& file_;
  CoreState state_;
  Register* interrupt_ = nullptr;
  const Register* start_pc_ = nullptr;
  const Register* program_end_ = nullptr;
};

}  // namespace tilevp::cube
