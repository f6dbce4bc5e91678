#include "core_bench.hpp"

#include <cstring>

#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuroncore::test {
namespace {

using numeric::DType;

Instruction data(Opcode opcode, unsigned partitions) {
  Instruction i;
  i.opcode = opcode;
  i.partitions = i.source_partitions = static_cast<std::uint8_t>(partitions);
  return i;
}

std::uint64_t program_address(unsigned engine) { return 0x100'0000 * std::uint64_t{engine}; }

std::uint64_t address_of(Space space, unsigned partition, std::uint32_t offset) {
  return (std::uint64_t{partition} << (space == Space::sbuf ? sbuf_partition_shift : psum_partition_shift)) + offset;
}

}  // namespace

Instruction matmul(unsigned k, unsigned m, unsigned n, std::uint32_t weights, std::uint32_t image, unsigned bank,
                   unsigned flags) {
  Instruction i = data(Opcode::matmul, m);
  i.source_partitions = static_cast<std::uint8_t>(k);
  i.flags = static_cast<std::uint8_t>(flags);
  i.source0_dtype = i.source1_dtype = DType::bf16;
  i.destination = psum_tile(0, bank, n);
  i.source0 = sbuf_tile(0, image, n);
  i.source1 = sbuf_tile(0, weights, m);
  return i;
}

Instruction fp32(Instruction matmul) {
  matmul.source0_dtype = matmul.source1_dtype = DType::fp32;
  return matmul;
}

Instruction memset(const Operand& tile, unsigned partitions, float value, DType dtype) {
  Instruction i = data(Opcode::memset, partitions);
  i.dtype = dtype;
  i.destination = tile;
  i.scalar0.immediate = value;
  return i;
}

Instruction tensor_copy(const Operand& to, const Operand& from, unsigned partitions) {
  Instruction i = data(Opcode::tensor_copy, partitions);
  i.destination = to;
  i.source0 = from;
  return i;
}

Instruction tensor_tensor(const Operand& to, const Operand& a, AluOp op, const Operand& b, unsigned partitions) {
  Instruction i = data(Opcode::tensor_tensor, partitions);
  i.destination = to;
  i.source0 = a;
  i.source1 = b;
  i.op0 = op;
  return i;
}

Instruction activation(const Operand& to, const Operand& from, unsigned partitions, Function function, float scale,
                       float bias) {
  Instruction i = data(Opcode::activation, partitions);
  i.destination = to;
  i.source0 = from;
  i.function = function;
  i.scalar0.immediate = scale;
  i.scalar1.immediate = bias;
  return i;
}

Instruction tensor_scalar(const Operand& to, const Operand& from, unsigned partitions, AluOp op, float scalar) {
  Instruction i = data(Opcode::tensor_scalar, partitions);
  i.destination = to;
  i.source0 = from;
  i.op0 = op;
  i.scalar0.immediate = scalar;
  return i;
}

Instruction transpose(const Operand& to, const Operand& from, unsigned rows, unsigned columns, DType dtype) {
  Instruction i = data(Opcode::transpose, columns);
  i.source_partitions = static_cast<std::uint8_t>(rows);
  i.dtype = i.source0_dtype = dtype;
  i.destination = to;
  i.source0 = from;
  return i;
}

Instruction tensor_reduce(const Operand& to, AluOp op, const Operand& from, unsigned reduced_dims,
                          unsigned partitions) {
  Instruction i = data(Opcode::tensor_reduce, partitions);
  i.flags = static_cast<std::uint8_t>(reduced_dims);
  i.op0 = op;
  i.destination = to;
  i.source0 = from;
  return i;
}

Instruction with_dtypes(Instruction instruction, DType to, DType from0, DType from1) {
  instruction.dtype = to;
  instruction.source0_dtype = from0;
  instruction.source1_dtype = from1;
  return instruction;
}

Instruction wait_for(unsigned semaphore, std::int32_t value, Condition condition) {
  Instruction i = control(Opcode::semaphore);
  i.waits[0] = {condition, static_cast<std::uint8_t>(semaphore), value};
  return i;
}

Instruction add_to(unsigned semaphore, std::int16_t value) {
  return updating(control(Opcode::semaphore), semaphore, value);
}

Instruction updating(Instruction instruction, unsigned semaphore, std::int16_t value) {
  instruction.update = {UpdateKind::add, static_cast<std::uint8_t>(semaphore), value};
  return instruction;
}

Instruction control(Opcode opcode) {
  Instruction i;
  i.opcode = opcode;
  return i;
}

CoreBench::CoreBench(const BenchOptions& options)
    : sc_module(sc_core::sc_module_name("bench")),
      simulation("simulation", options.simulation),
      dram("dram", simulation, {.size_bytes = 1 << 28}),
      core("core0", simulation, options.parameters, 0, options.memories),
      agent_(simulation, "host", 1) {
  to_dram_.socket.bind(dram.socket);
  to_sbuf_.socket.bind(core.sbuf_window());
  to_psum_.socket.bind(core.psum_window());
  to_control_.socket.bind(core.control_window());
  for (unsigned e = 0; e < engines; ++e) core.fetch_socket(e).bind(dram.socket);
  if (options.keep_records) core.observe(*this);
  core.on_interrupt([this](bool level) {
    if (level) interrupted_.notify(sc_core::SC_ZERO_TIME);
  });
  simulation.thread(*this, "host", [this] { host(); });
}

void CoreBench::program(Engine engine, std::vector<Instruction> stream, bool halt) {
  if (halt) stream.push_back(control(Opcode::halt));
  std::vector<std::byte> bytes;
  for (const Instruction& instruction : stream) {
    const auto record = encode(instruction);
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  program_bytes(engine, std::move(bytes));
}

void CoreBench::program_bytes(Engine engine, std::vector<std::byte> records_) {
  programs_[static_cast<unsigned>(engine)] = std::move(records_);
}

void CoreBench::write(Space space, unsigned partition, std::uint32_t offset, std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  auto& port = space == Space::sbuf ? to_sbuf_ : to_psum_;
  port.transfer(memory::Command::write,
                memory::AccessPattern::contiguous(address_of(space, partition, offset), copy.size()), copy, 0);
}

std::vector<std::byte> CoreBench::read(Space space, unsigned partition, std::uint32_t offset, std::size_t bytes) {
  std::vector<std::byte> out(bytes);
  auto& port = space == Space::sbuf ? to_sbuf_ : to_psum_;
  port.transfer(memory::Command::read, memory::AccessPattern::contiguous(address_of(space, partition, offset), bytes),
                out, 0);
  return out;
}

void CoreBench::write_floats(Space space, unsigned partition, std::uint32_t offset, std::span<const float> values,
                             DType dtype) {
  std::vector<std::byte> bytes(values.size() * numeric::size_bytes(dtype));
  numeric::store_from_fp32(dtype, values.data(), values.size(), bytes.data(), 1);
  write(space, partition, offset, bytes);
}

std::vector<float> CoreBench::read_floats(Space space, unsigned partition, std::uint32_t offset, std::size_t count,
                                          DType dtype) {
  const auto bytes = read(space, partition, offset, count * numeric::size_bytes(dtype));
  std::vector<float> values(count);
  numeric::load_as_fp32(dtype, bytes.data(), count, 1, values.data());
  return values;
}

std::uint64_t CoreBench::register_value(std::uint64_t offset, unsigned bytes) {
  std::array<std::byte, 8> data{};
  to_control_.transfer(memory::Command::read, memory::AccessPattern::contiguous(offset, bytes),
                       std::span(data).first(bytes), 0);
  std::uint64_t value = 0;
  std::memcpy(&value, data.data(), bytes);
  return value;
}

void CoreBench::set_register(std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  std::array<std::byte, 8> data{};
  std::memcpy(data.data(), &value, bytes);
  to_control_.transfer(memory::Command::write, memory::AccessPattern::contiguous(offset, bytes),
                       std::span(data).first(bytes), 0);
}

void CoreBench::start(unsigned engine) {
  const std::uint64_t base = registers::sequencer(engine);
  set_register(base + registers::stream_base, 8, program_address(engine));
  set_register(base + registers::stream_count, 4, programs_[engine].size() / instruction_bytes);
  set_register(base + registers::start, 4, 1);
}

void CoreBench::host() {
  for (auto& [engine, bytes] : programs_)
    to_dram_.transfer(memory::Command::write, memory::AccessPattern::contiguous(program_address(engine), bytes.size()),
                      bytes, 0);
  if (before) before();
  std::uint64_t expected = 0;
  for (const auto& [engine, bytes] : programs_) {
    expected |= std::uint64_t{1} << engine;
    start(engine);
  }
  for (std::uint64_t halted = 0; halted != expected;) {
    std::uint64_t pending = register_value(registers::interrupt, 4);
    if (pending == 0) {
      sc_core::wait(interrupted_);
      pending = register_value(registers::interrupt, 4);
    }
    halted |= pending;
    set_register(registers::interrupt, 4, pending);
  }
  if (after) after();
  simulation.finish();
}

void CoreBench::run() { simulation.run(); }

std::vector<InstructionRecord> CoreBench::of(Engine engine) const {
  std::vector<InstructionRecord> out;
  for (const auto& record : records)
    if (record.engine == engine && record.opcode >= Opcode::matmul) out.push_back(record);
  return out;
}

std::uint64_t CoreBench::statistic(std::string_view engine, std::string_view name_) const {
  return const_cast<Simulation&>(simulation)
      .statistics()
      .value(std::string(core.name()) + "." + std::string(engine), name_);
}

}  // namespace tilevp::neuroncore::test
