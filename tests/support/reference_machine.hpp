#pragma once
// An untimed interpreter of a schedule's instruction streams and descriptor rings.
//
// Agents (five sequencers, their engines, the DMA engines' queues) take steps in an order that a seed chooses, and only
// semaphores hold them back. So a schedule that leaves two conflicting operations unordered gives wrong numbers for
// some seed. Memories start as NaN, every access is checked against the memory's bounds, and a matmul may add only to
// what a matmul wrote.
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilevp/neuron/scheduler.hpp"

namespace tilevp::test {

struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ReferenceMachine {
 public:
  ReferenceMachine(const neuron::Machine& machine, std::size_t hbm_bytes, std::uint64_t seed);

  std::vector<std::byte> hbm;  // at address 0; the core's window lies behind it

  // Runs to the end of all streams. MachineError where nobody can go on, or something leaves its memory.
  void run(const neuron::Schedule& schedule);

  std::uint64_t matmuls = 0;
  std::uint64_t transposes = 0;  // on any engine
  std::uint64_t macs = 0;
  std::uint64_t pe_cycles = 0;
  std::vector<std::uint64_t> queue_bytes;

 private:
  struct Sequencer {
    std::size_t next = 0;             // instruction
    std::vector<std::size_t> flying;  // issued, not completed
  };
  struct Queue {
    std::size_t head = 0;
    std::size_t tail = 0;
  };

  bool step(std::size_t agent);
  bool issue(std::size_t engine);
  bool complete(std::size_t engine);
  bool copy(std::size_t queue, std::size_t engine);
  bool ready(const neuroncore::Instruction& instruction) const;
  void update(const neuroncore::Instruction& instruction);
  void execute(const neuroncore::Instruction& instruction);
  void matmul(const neuroncore::Instruction& instruction);
  void transpose(const neuroncore::Instruction& instruction);
  void elementwise(const neuroncore::Instruction& instruction);
  std::byte* tile(const neuroncore::Operand& operand, unsigned partitions, numeric::DType dtype);
  std::byte* at(std::uint64_t address, std::uint64_t bytes);

  neuron::Machine machine_;
  std::vector<std::byte> sbuf_;
  std::vector<std::byte> psum_;
  std::vector<std::uint8_t> from_matmul_;  // a PSUM cell
  std::vector<std::int64_t> semaphores_;
  std::vector<Sequencer> sequencers_;
  std::vector<Queue> queues_;  // [queue * engines + engine]
  const neuron::Schedule* schedule_ = nullptr;
  std::mt19937_64 random_;
};

}  // namespace tilevp::test
