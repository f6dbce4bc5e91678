// Programs that do what a kernel builder would not let anyone write, for a `tilevp` of the tests' own.
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "tilevp/dma/descriptor.hpp"
#include "tilevp/dma/registers.hpp"
#include "tilevp/neuron/programs.hpp"
#include "tilevp/neuroncore/isa.hpp"
#include "tilevp/neuroncore/registers.hpp"
#include "tilevp/sc_main/programs.hpp"

namespace tilevp::test {
namespace {

using namespace neuroncore;
using numeric::DType;
using runtime::Host;
namespace core = neuroncore::registers;

using Body = void (*)(Host&, runtime::ProgramResult&);

class RawProgram final : public runtime::Program {
 public:
  RawProgram(std::string name, Body body) : name_(std::move(name)), body_(body) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "a test"; }
  std::vector<runtime::OptionDescription> options() const override { return {}; }
  void prepare(const runtime::RunRequest&) override {}
  runtime::ProgramResult run(Host& host) override {
    runtime::ProgramResult result;
    body_(host, result);
    return result;
  }
  std::string describe(runtime::Host&) override { return "a test\n"; }

 private:
  std::string name_;
  Body body_;
};

std::uint64_t core_base(Host& host) { return host.region("core0").base; }
std::uint64_t control(Host& host, std::uint64_t offset) { return core_base(host) + core::control_window + offset; }

// Loads and starts a stream, which ends with a halt.
void start(Host& host, Engine engine, std::vector<Instruction> stream) {
  stream.emplace_back().opcode = Opcode::halt;
  const auto e = static_cast<unsigned>(engine);
  const std::uint64_t address = host.region("hbm").base + 0x100'0000 + 0x10'0000 * std::uint64_t{e};
  for (std::size_t i = 0; i < stream.size(); ++i) host.write(address + i * instruction_bytes, encode(stream[i]));
  host.write_value<std::uint64_t>(control(host, core::sequencer(e) + core::stream_base), address);
  host.write_value<std::uint32_t>(control(host, core::sequencer(e) + core::stream_count),
                                  static_cast<std::uint32_t>(stream.size()));
  host.write_value<std::uint32_t>(control(host, core::sequencer(e) + core::start), 1);
}

void run_stream(Host& host, Engine engine, std::vector<Instruction> stream) {
  start(host, engine, std::move(stream));
  host.wait_for_interrupt(0);
}

Operand tile(Space space, std::uint32_t offset, unsigned columns) {
  return {space, 0, offset, {Dim{0, 1}, Dim{0, 1}, Dim{1, static_cast<std::uint16_t>(columns)}}};
}

// 1 x 1 stationary at 4096, 1 x columns moving at 0, into bank 0. Partition 0 of SBUF holds ones.
Instruction matmul(unsigned columns, unsigned flags) {
  Instruction i;
  i.opcode = Opcode::matmul;
  i.flags = static_cast<std::uint8_t>(flags);
  i.source0_dtype = i.source1_dtype = DType::bf16;
  i.destination = tile(Space::psum, 0, columns);
  i.source0 = tile(Space::sbuf, 0, columns);
  i.source1 = tile(Space::sbuf, 4096, 1);
  return i;
}

void fill_sbuf(Host& host) {
  std::vector<std::uint16_t> ones(4096, 0x3f80);
  host.write(core_base(host), std::as_bytes(std::span(ones)));
}

void free_size(Host& host, runtime::ProgramResult&) {
  fill_sbuf(host);
  run_stream(host, Engine::pe, {matmul(640, matmul_start | matmul_stop)});
}

void accumulate(Host& host, runtime::ProgramResult&) {
  fill_sbuf(host);
  run_stream(host, Engine::pe, {matmul(64, matmul_accumulate | matmul_stop)});
}

void undefined_read(Host& host, runtime::ProgramResult&) {
  Instruction copy;
  copy.opcode = Opcode::tensor_copy;
  copy.destination = tile(Space::sbuf, 0, 16);
  copy.source0 = tile(Space::sbuf, 1024, 16);
  run_stream(host, Engine::vector, {copy});
}

void deadlock(Host& host, runtime::ProgramResult&) {
  Instruction wait;
  wait.opcode = Opcode::semaphore;
  wait.waits[0] = {Condition::ge, 7, 3};
  run_stream(host, Engine::sync, {wait});
}

void unmapped(Host& host, runtime::ProgramResult&) { host.read_value<std::uint32_t>(0x7000'0000'0000); }

void spin(Host& host, runtime::ProgramResult&) {
  while (true) host.read_value<std::uint32_t>(control(host, core::generation));
}

void acknowledge(Host& host) { host.write_value<std::uint32_t>(control(host, core::interrupt), 0xffff'ffff); }

void endless(Host& host, runtime::ProgramResult&) {
  fill_sbuf(host);
  while (true) {
    run_stream(host, Engine::pe, {matmul(512, matmul_start | matmul_stop)});
    acknowledge(host);
  }
}

void one_then_spin(Host& host, runtime::ProgramResult& result) {
  fill_sbuf(host);
  run_stream(host, Engine::pe, {matmul(512, matmul_start | matmul_stop)});
  spin(host, result);
}

void defect(Host&, runtime::ProgramResult&) { throw std::logic_error("a mistake of ours"); }

void wrong(Host&, runtime::ProgramResult& result) {
  result.verification = runtime::Verification{
      .kind = "exact", .compared = 8, .mismatches = 1, .first_index = {1, 3}, .first_got = 2.5, .first_expected = 2};
  result.result = {{"answer", 42}};
}

void warning(Host&, runtime::ProgramResult& result) { result.warnings = {"a warning"}; }

// The host alone is at work.
void store(Host& host, runtime::ProgramResult&) {
  host.write(host.region("hbm").base, std::vector<std::byte>(1 << 20));
}

void good(Host& host, runtime::ProgramResult& result) {
  result.result = {{"generation", host.read_value<std::uint32_t>(control(host, core::generation))}};
}

// Ten matmuls of 512 columns, one after the other.
void compute(Host& host, runtime::ProgramResult&) {
  fill_sbuf(host);
  run_stream(host, Engine::pe, std::vector<Instruction>(10, matmul(512, matmul_start | matmul_stop)));
}

// 64 KiB within HBM, an equal part for each DMA engine, released by the sync engine; of the source the first `written`
// are.
void copy_written(Host& host, std::uint64_t written) {
  constexpr std::uint64_t bytes = 65'536;
  const auto engines = host.read_value<std::uint32_t>(control(host, core::dma_engines));
  const std::uint64_t source = host.region("hbm").base + 0x200'0000;
  host.write(source, std::vector<std::byte>(written));
  for (unsigned e = 0; e < engines; ++e) {
    const std::uint64_t part = bytes / engines;
    dma::Descriptor descriptor;
    descriptor.source = memory::AccessPattern::contiguous(source + e * part, part);
    descriptor.destination = memory::AccessPattern::contiguous(source + bytes + e * part, part);
    descriptor.signals = true;
    descriptor.semaphore = 5;
    descriptor.increment = 1;
    const std::uint64_t ring = source + 2 * bytes + e * dma::descriptor_bytes;
    host.write(ring, dma::encode(descriptor));
    const std::uint64_t queue =
        core_base(host) + core::dma_window + e * dma::registers::window_bytes + dma::registers::queue_base(0);
    host.write_value<std::uint64_t>(queue + dma::registers::ring_base, ring);
    host.write_value<std::uint32_t>(queue + dma::registers::ring_size, 1);
  }
  Instruction trigger;
  trigger.opcode = Opcode::dma_trigger;
  trigger.descriptors = 1;
  Instruction wait;
  wait.opcode = Opcode::semaphore;
  wait.waits[0] = {Condition::ge, 5, static_cast<std::int32_t>(engines)};
  run_stream(host, Engine::sync, {trigger, wait});
}

void copy(Host& host, runtime::ProgramResult&) { copy_written(host, 65'536); }
void copy_undefined(Host& host, runtime::ProgramResult&) { copy_written(host, 60'000); }

}  // namespace
}  // namespace tilevp::test

namespace tilevp::command {

// In place of the command's own table.
runtime::ProgramRegistry builtin_programs() {
  using namespace tilevp::test;
  runtime::ProgramRegistry all;
  neuron::register_programs(all);
  const std::pair<const char*, Body> table[] = {{"test/free-size", free_size},
                                                {"test/accumulate", accumulate},
                                                {"test/undefined-read", undefined_read},
                                                {"test/deadlock", deadlock},
                                                {"test/unmapped", unmapped},
                                                {"test/spin", spin},
                                                {"test/endless", endless},
                                                {"test/one-then-spin", one_then_spin},
                                                {"test/defect", defect},
                                                {"test/wrong", wrong},
                                                {"test/good", good},
                                                {"test/store", store},
                                                {"test/warning", warning},
                                                {"test/compute", compute},
                                                {"test/copy", copy},
                                                {"test/copy-undefined", copy_undefined}};
  for (const auto& [name, body] : table)
    all.add(name, [name = std::string(name), body = body] { return std::make_unique<RawProgram>(name, body); });
  return all;
}

}  // namespace tilevp::command
