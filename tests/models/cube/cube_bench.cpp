#include "cube_bench.hpp"

#include <cstring>

namespace tilevp::cube::test {
namespace {

constexpr std::uint8_t base_gpr = 2;  // a0

}  // namespace

Words& Words::append(std::uint64_t value, unsigned bytes) {
  ++instructions_;
  for (unsigned i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  return *this;
}

Words& Words::command(const Command& command) {
  const Encoded encoded = encode(command);
  return append(encoded.word, encoded.bytes);
}

namespace {

void transfer(Words& to, Operation operation, DataType type, std::uint64_t address, unsigned layout, unsigned rows,
              unsigned columns, const BIot& tile) {
  to.command(Scalar{.op = ScalarOp::hl_liu, .destination = base_gpr, .immediate = static_cast<std::int64_t>(address)});
  const std::uint64_t stride = (std::uint64_t{columns} * bits(type) + 7) / 8;
  to.command(
      Scalar{.op = ScalarOp::hl_liu, .destination = base_gpr + 1, .immediate = static_cast<std::int64_t>(stride)});
  to.command(BStart{operation, type});
  BDatr datr;
  datr.layout = static_cast<std::uint8_t>(layout);
  to.command(datr);
  to.command(BDim{.dimension = 0, .immediate = columns});
  to.command(BDim{.dimension = 1, .immediate = rows});
  to.command(BIor{.source = {base_gpr, base_gpr + 1, 0}});
  to.command(tile);
  to.command(BStop{});
}

}  // namespace

Words& Words::load(std::uint64_t address, unsigned layout, DataType type, unsigned rows, unsigned columns,
                   unsigned size_code, Hand hand, unsigned pe_mode) {
  transfer(*this, Operation::tload, type, address, layout, rows, columns,
           {.last = true,
            .size_code = static_cast<std::uint8_t>(size_code),
            .destination = hand,
            .pe_mode = static_cast<std::uint8_t>(pe_mode)});
  return *this;
}

Words& Words::store(std::uint64_t address, unsigned layout, DataType type, unsigned rows, unsigned columns,
                    unsigned selector, unsigned pe_mode) {
  transfer(*this, Operation::tstore, type, address, layout, rows, columns,
           {.sources = 1,
            .source = {static_cast<std::uint8_t>(selector), 0},
            .last = true,
            .pe_mode = static_cast<std::uint8_t>(pe_mode)});
  return *this;
}

CubeBench::CubeBench(const BenchOptions& options)
    : sc_module(sc_core::sc_module_name("bench")), simulation("simulation", options.simulation) {
  const auto make_host = [this] {
    agent_ = std::make_unique<Agent>(simulation, "host", 1);
    to_dram_ = std::make_unique<memory::InitiatorPort>("to_dram", *agent_);
    to_control_ = std::make_unique<memory::InitiatorPort>("to_control", *agent_);
    to_tiles_ = std::make_unique<memory::InitiatorPort>("to_tiles", *agent_);
    simulation.thread(*this, "host", [this] { host_thread(); });
  };
  if (options.host_first) make_host();
  if (options.host_first) dram = std::make_unique<memory::Memory>("dram", simulation, options.memory);
  core = std::make_unique<CubeCore>("cube0", simulation, options.parameters);
  if (!options.host_first) dram = std::make_unique<memory::Memory>("dram", simulation, options.memory);
  if (!options.host_first) make_host();
  to_dram_->socket.bind(dram->socket);
  to_control_->socket.bind(core->control_window());
  to_tiles_->socket.bind(core->tile_window());
  core->fetch_socket().bind(dram->socket);
  if (options.bind_transfers) core->memory_socket().bind(dram->socket);
  if (options.keep_records) core->observe(*this);
  core->on_interrupt([this](bool level) {
    pending_ = level;
    if (level) interrupted_.notify(sc_core::SC_ZERO_TIME);
  });
}

void CubeBench::write(std::uint64_t address, std::span<const std::byte> bytes) {
  Bytes copy(bytes.begin(), bytes.end());
  to_dram_->transfer(memory::Command::write, memory::AccessPattern::contiguous(address, copy.size()), copy, 0);
}

Bytes CubeBench::read(std::uint64_t address, std::size_t bytes) {
  Bytes out(bytes);
  to_dram_->transfer(memory::Command::read, memory::AccessPattern::contiguous(address, bytes), out, 0);
  return out;
}

void CubeBench::set(std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  Bytes data(8);
  std::memcpy(data.data(), &value, bytes);
  to_control_->transfer(memory::Command::write, memory::AccessPattern::contiguous(offset, bytes),
                        std::span(data).first(bytes), 0);
}

std::uint64_t CubeBench::get(std::uint64_t offset, unsigned bytes) {
  Bytes data(8);
  to_control_->transfer(memory::Command::read, memory::AccessPattern::contiguous(offset, bytes),
                        std::span(data).first(bytes), 0);
  std::uint64_t value = 0;
  std::memcpy(&value, data.data(), bytes);
  return value;
}

Bytes CubeBench::tile(unsigned selector, unsigned pe, std::size_t bytes) {
  Bytes out(bytes);
  to_tiles_->transfer(memory::Command::read,
                      memory::AccessPattern::contiguous(registers::tile_stride(pe, selector), bytes), out, 0);
  return out;
}

void CubeBench::start() {
  set(registers::start_pc, 8, program_address);
  set(registers::program_end, 8, program_address + program_.size());
  set(registers::start, 4, 1);
}

std::uint64_t CubeBench::await_interrupt() {
  while (!pending_) sc_core::wait(interrupted_);
  const std::uint64_t bits = get(registers::interrupt);
  set(registers::interrupt, 4, bits);
  return bits;
}

void CubeBench::run_program() {
  start();
  await_interrupt();
}

void CubeBench::host_thread() {
  for (const Piece& piece : data_) write(piece.address, piece.bytes);
  if (!program_.empty()) write(program_address, program_);
  if (host)
    host();
  else
    run_program();
  if (after) after();
  simulation.finish();
}

void CubeBench::run() { simulation.run(); }

std::uint64_t CubeBench::statistic(std::string_view unit, std::string_view name_) const {
  const std::string path = std::string(core->name()) + (unit.empty() ? "" : ".") + std::string(unit);
  return const_cast<Simulation&>(simulation).statistics().value(path, name_);
}

}  // namespace tilevp::cube::test
