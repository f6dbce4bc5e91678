#pragma once
// A NeuronCore with a memory for its instructions and a host that starts it: enough to run a program in a test.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tilevp/base/agent.hpp"
#include "tilevp/memory/initiator_port.hpp"
#include "tilevp/memory/memory.hpp"
#include "tilevp/neuroncore/neuroncore.hpp"

namespace tilevp::neuroncore::test {

// ---- Instructions, written short.

inline Operand sbuf_tile(unsigned partition, std::uint32_t offset, unsigned columns, int step = 1) {
  return {Space::sbuf,
          static_cast<std::uint8_t>(partition),
          offset,
          {Dim{0, 1}, Dim{0, 1}, Dim{static_cast<std::int16_t>(step), static_cast<std::uint16_t>(columns)}}};
}
inline Operand psum_tile(unsigned partition, unsigned bank, unsigned columns, std::uint32_t byte = 0, int step = 1) {
  Operand tile = sbuf_tile(partition, bank * psum_bank_bytes + byte, columns, step);
  tile.space = Space::psum;
  return tile;
}
// bf16 operands: stationary [k][m] at `weights`, moving [k][n] at `image`, into a bank.
Instruction matmul(unsigned k, unsigned m, unsigned n, std::uint32_t weights, std::uint32_t image, unsigned bank,
                   unsigned flags);
Instruction fp32(Instruction matmul);
Instruction memset(const Operand& tile, unsigned partitions, float value, numeric::DType dtype = numeric::DType::fp32);
Instruction tensor_copy(const Operand& to, const Operand& from, unsigned partitions);
Instruction tensor_tensor(const Operand& to, const Operand& a, AluOp op, const Operand& b, unsigned partitions);
Instruction activation(const Operand& to, const Operand& from, unsigned partitions, Function function, float scale = 1,
                       float bias = 0);
Instruction tensor_scalar(const Operand& to, const Operand& from, unsigned partitions, AluOp op, float scalar);
// Source of `rows` partitions x `columns` elements.
Instruction transpose(const Operand& to, const Operand& from, unsigned rows, unsigned columns,
                      numeric::DType dtype = numeric::DType::fp32);
Instruction tensor_reduce(const Operand& to, AluOp op, const Operand& from, unsigned reduced_dims, unsigned partitions);
Instruction with_dtypes(Instruction instruction, numeric::DType to, numeric::DType from0, numeric::DType from1);
Instruction wait_for(unsigned semaphore, std::int32_t value, Condition condition = Condition::ge);
Instruction add_to(unsigned semaphore, std::int16_t value);
Instruction updating(Instruction instruction, unsigned semaphore, std::int16_t value = 1);
Instruction control(Opcode opcode);

// ---- The bench.

struct BenchOptions {
  Parameters parameters{};
  SimulationOptions simulation{};
  NeuronCore::Memories memories = NeuronCore::Memories::bound;
  bool keep_records = true;
};

class CoreBench : public sc_core::sc_module, private InstructionObserver {
 public:
  explicit CoreBench(const BenchOptions& options = {});

  // The engine's stream; a halt is added unless `halt` is false.
  void program(Engine engine, std::vector<Instruction> stream, bool halt = true);
  // Raw records.
  void program_bytes(Engine engine, std::vector<std::byte> records);

  // Bytes of SBUF or PSUM through the memory-mapped face, on the host's thread: use them in before() and after().
  void write(Space space, unsigned partition, std::uint32_t offset, std::span<const std::byte> bytes);
  std::vector<std::byte> read(Space space, unsigned partition, std::uint32_t offset, std::size_t bytes);
  void write_floats(Space space, unsigned partition, std::uint32_t offset, std::span<const float> values,
                    numeric::DType dtype = numeric::DType::fp32);
  std::vector<float> read_floats(Space space, unsigned partition, std::uint32_t offset, std::size_t count,
                                 numeric::DType dtype = numeric::DType::fp32);
  std::uint64_t register_value(std::uint64_t offset, unsigned bytes);
  void set_register(std::uint64_t offset, unsigned bytes, std::uint64_t value);

  std::function<void()> before;  // after the programs are in memory, before they start
  std::function<void()> after;   // when all streams have halted

  // Runs to the end of all streams; failures are thrown.
  void run();

  Simulation simulation;
  memory::Memory dram;
  NeuronCore core;
  std::vector<InstructionRecord> records;  // of all engines, where they are kept

  // The records of one engine's data instructions.
  std::vector<InstructionRecord> of(Engine engine) const;
  std::uint64_t statistic(std::string_view engine, std::string_view name) const;

 private:
  void issued(const InstructionRecord& record) override { records.push_back(record); }
  void host();
  void start(unsigned engine);

  Agent agent_;
  memory::InitiatorPort to_dram_{"to_dram", agent_};
  memory::InitiatorPort to_sbuf_{"to_sbuf", agent_};
  memory::InitiatorPort to_psum_{"to_psum", agent_};
  memory::InitiatorPort to_control_{"to_control", agent_};
  std::map<unsigned, std::vector<std::byte>> programs_;
  sc_core::sc_event interrupted_;
};

}  // namespace tilevp::neuroncore::test
