#pragma once
// The control window of a core (registers.hpp) on a register file.
#include <functional>

#include "tilevp/base/register_file.hpp"
#include "tilevp/neuroncore/dma_trigger.hpp"
#include "tilevp/neuroncore/parameters.hpp"
#include "tilevp/neuroncore/pe_array.hpp"
#include "tilevp/neuroncore/semaphores.hpp"
#include "tilevp/neuroncore/sequencer.hpp"

namespace tilevp::neuroncore {

// What the registers show. DMA figures are zero until engines are connected.
struct CoreState {
  const Parameters& parameters;
  std::uint32_t sbuf_usable_bytes;
  SemaphoreFile& semaphores;
  const PeArray& pe;
  std::array<Sequencer*, engines> sequencers;
  DmaTrigger* dma = nullptr;
  std::uint32_t dma_engines = 0;
  std::uint32_t dma_queues = 0;
  std::function<void()> reset{};
  bool resetting = false;
};

class ControlRegisters {
 public:
  // Declares the registers in `file`; `state` outlives it.
  ControlRegisters(RegisterFile& file, CoreState& state);

  void set_interrupt(unsigned bit) { interrupt_->set_bits(1U << bit); }
  void clear_interrupts() { interrupt_->set(0); }
  bool interrupt_pending() const { return interrupt_->value() != 0; }
  // Called when the program has cleared interrupt bits.
  std::function<void()> interrupt_changed;

 private:
  void add_identity(RegisterFile& file);
  void add_sequencer(RegisterFile& file, unsigned engine);
  void add_counters(RegisterFile& file);
  void add_reset(RegisterFile& file);
  void add_semaphores(RegisterFile& file);

  CoreState& state_;
  Register* interrupt_ = nullptr;
};

}  // namespace tilevp::neuroncore
