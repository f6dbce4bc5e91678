#include "tilevp/neuroncore/control_registers.hpp"

#include "tilevp/memory/memory_access.hpp"
#include "tilevp/neuroncore/legality.hpp"
#include "tilevp/neuroncore/registers.hpp"

namespace tilevp::neuroncore {
namespace {

RegisterSpec read_only(const char* name, std::uint64_t offset, unsigned bytes, const char* text,
                       std::function<std::uint64_t(unsigned)> read) {
  RegisterSpec spec;
  spec.name = name;
  spec.offset = offset;
  spec.bytes = bytes;
  spec.access = RegisterAccess::ro;
  spec.text = text;
  spec.on_read = std::move(read);
  return spec;
}

}  // namespace

ControlRegisters::ControlRegisters(RegisterFile& file, CoreState& state) : state_(state) {
  add_identity(file);
  for (unsigned e = 0; e < engines; ++e) add_sequencer(file, e);
  add_counters(file);
  add_semaphores(file);
  add_reset(file);
  RegisterSpec interrupt;
  interrupt.name = "interrupt";
  interrupt.offset = registers::interrupt;
  interrupt.access = RegisterAccess::w1c;
  interrupt.text = "bit e: sequencer e has halted; bit 8 + e: engine e has stopped at a fault";
  interrupt.on_write = [this](unsigned, std::uint64_t) {
    if (interrupt_changed) interrupt_changed();
  };
  interrupt_ = &file.add(std::move(interrupt));
}

void ControlRegisters::add_identity(RegisterFile& file) {
  const auto add = [&](const char* name, std::uint64_t offset, const char* text, auto read) {
    file.add(read_only(name, offset, 4, text, [this, read](unsigned) { return std::uint64_t{read(state_)}; }));
  };
  add("generation", registers::generation, "NeuronCore version: 2, 3 or 4",
      [](const CoreState& s) { return s.parameters.generation; });
  add("partitions", registers::partitions, "partitions of SBUF and PSUM",
      [](const CoreState&) { return max_partitions; });
  add("sbuf_partition_bytes", registers::sbuf_partition_bytes, "bytes of an SBUF partition usable by programs",
      [](const CoreState& s) { return s.sbuf_usable_bytes; });
  add("psum_bank_count", registers::psum_bank_count, "PSUM banks", [](const CoreState&) { return psum_banks; });
  add("dma_engines", registers::dma_engines, "DMA engines of the core",
      [](const CoreState& s) { return s.dma_engines; });
  add("dma_queues", registers::dma_queues, "rings of a DMA engine", [](const CoreState& s) { return s.dma_queues; });
}

void ControlRegisters::add_sequencer(RegisterFile& file, unsigned e) {
  const std::uint64_t base = registers::sequencer(e);
  const std::string prefix = std::string(name(static_cast<Engine>(e))) + "_";
  RegisterSpec stream_base;
  stream_base.name = prefix + "stream_base";
  stream_base.offset = base + registers::stream_base;
  stream_base.bytes = 8;
  stream_base.text = "address of instruction 0, a multiple of 64";
  const Register& base_register = file.add(std::move(stream_base));
  RegisterSpec stream_count;
  stream_count.name = prefix + "stream_count";
  stream_count.offset = base + registers::stream_count;
  stream_count.text = "instructions";
  const Register& count_register = file.add(std::move(stream_count));
  RegisterSpec start;
  start.name = prefix + "start";
  start.offset = base + registers::start;
  start.access = RegisterAccess::wo;
  start.text = "1 starts the stream";
  start.on_write = [this, e, &file, &base_register, &count_register](unsigned, std::uint64_t value) {
    if (value != 1) return;
    state_.sequencers[e]->start(base_register.value(), count_register.value(), memory::id_of_access(file.access()));
  };
  file.add(std::move(start));
  RegisterSpec status =
      read_only("", base + registers::status, 4, "0 idle, 1 running, 2 halted, 3 faulted",
                [this, e](unsigned) { return static_cast<std::uint64_t>(state_.sequencers[e]->status()); });
  status.name = prefix + "status";
  file.add(std::move(status));
  RegisterSpec executed = read_only("", base + registers::executed, 4, "instructions issued since start",
                                    [this, e](unsigned) { return state_.sequencers[e]->executed(); });
  executed.name = prefix + "executed";
  file.add(std::move(executed));
  RegisterSpec fault =
      read_only("", base + registers::fault_index, 4, "the instruction that faulted, while status is 3",
                [this, e](unsigned) { return state_.sequencers[e]->fault_index(); });
  fault.name = prefix + "fault_index";
  file.add(std::move(fault));
}

void ControlRegisters::add_reset(RegisterFile& file) {
  RegisterSpec reset;
  reset.name = "reset";
  reset.offset = registers::reset;
  reset.text = "1 resets the core; reads 1 until everything in flight has ended";
  reset.on_read = [this](unsigned) { return state_.resetting ? 1U : 0U; };
  reset.on_write = [this](unsigned, std::uint64_t value) {
    if (value == 1) state_.reset();
  };
  file.add(std::move(reset));
  RegisterSpec control;
  control.name = "fault_control";
  control.offset = registers::fault_control;
  control.text = "bit 0: a fault of an engine stops the engine and raises its interrupt; 0: it ends the run";
  control.on_write = [this](unsigned, std::uint64_t value) {
    for (Sequencer* const sequencer : state_.sequencers) sequencer->survive_faults((value & 1) != 0);
  };
  file.add(std::move(control));
}

void ControlRegisters::add_counters(RegisterFile& file) {
  const auto add = [&](const char* name, std::uint64_t offset, const char* text, auto read) {
    file.add(read_only(name, offset, 8, text, [this, read](unsigned) { return read(state_.pe); }));
  };
  add("matmuls", registers::counter_matmuls, "matmuls completed", [](const PeArray& pe) { return pe.matmuls(); });
  add("macs", registers::counter_macs, "K x M x N summed over matmuls", [](const PeArray& pe) { return pe.macs(); });
  add("pe_cycles", registers::counter_pe_cycles, "initiation intervals summed over matmuls, in PE cycles",
      [](const PeArray& pe) { return pe.pe_cycles(); });
  add("weight_loads", registers::counter_weight_loads, "stationary tiles loaded",
      [](const PeArray& pe) { return pe.weight_loads(); });
  RegisterSpec bytes =
      read_only("queue_bytes", registers::counter_queue_bytes(0), 8, "bytes written by all DMA engines for queue q",
                [this](unsigned queue) { return state_.dma == nullptr ? 0 : state_.dma->bytes_written(queue); });
  bytes.count = dma_queue_count;
  bytes.stride = 8;
  file.add(std::move(bytes));
}

void ControlRegisters::add_semaphores(RegisterFile& file) {
  RegisterSpec spec;
  spec.name = "semaphore";
  spec.offset = registers::semaphore(0);
  spec.text = "semaphore s, signed";
  spec.count = registers::semaphores;
  spec.stride = 4;
  spec.on_read = [this](unsigned s) { return std::uint64_t{static_cast<std::uint32_t>(state_.semaphores.value(s))}; };
  spec.on_write = [this, &file](unsigned s, std::uint64_t value) {
    state_.semaphores.write(s, static_cast<std::int32_t>(static_cast<std::uint32_t>(value)),
                            memory::id_of_access(file.access()));
  };
  file.add(std::move(spec));
}

}  // namespace tilevp::neuroncore
