#include "tilevp/neuroncore/engine_monitor.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "tilevp/neuroncore/opcode_names.hpp"
#include "tilevp/neuroncore/statistics.hpp"

namespace tilevp::neuroncore {
namespace {

// By Stall - 1.
constexpr std::array<StallDefinition, stall_causes> stall_definitions{{
    {{"stalled_semaphore_cycles", "cycles", "Cycles its stream waited for a semaphore."},
     {"stalled_semaphore_ps", "ps", "As stalled_semaphore_cycles, in ps."},
     "semaphore"},
    {{"stalled_psum_bank_cycles", "cycles", "Cycles an instruction waited for a PSUM bank that another engine held."},
     {"stalled_psum_bank_ps", "ps", "As stalled_psum_bank_cycles, in ps."},
     "PSUM bank"},
    {{"stalled_port_cycles", "cycles", "Cycles an instruction waited for a port shared with another engine."},
     {"stalled_port_ps", "ps", "As stalled_port_cycles, in ps."},
     "port"},
    {{"stalled_dependency_cycles", "cycles",
      "Cycles an instruction waited for the result of one in flight on the same engine."},
     {"stalled_dependency_ps", "ps", "As stalled_dependency_cycles, in ps."},
     "dependency"},
    {{"stalled_fetch_cycles", "cycles", "Cycles its stream waited for records from memory."},
     {"stalled_fetch_ps", "ps", "As stalled_fetch_cycles, in ps."},
     "fetch"},
    {{"stalled_weight_load_cycles", "cycles", "Cycles a matmul waited for its stationary tile to be loaded."},
     {"stalled_weight_load_ps", "ps", "As stalled_weight_load_cycles, in ps."},
     "weight load"},
    {{"stalled_window_cycles", "cycles", "Cycles an instruction waited because too many were in flight."},
     {"stalled_window_ps", "ps", "As stalled_window_cycles, in ps."},
     "window"},
}};

std::vector<ValueName> opcode_values() {
  std::vector<ValueName> values;
  for (unsigned code = 0; code <= 0xff; ++code) {
    const char* name = mnemonic(static_cast<Opcode>(code));
    if (std::string_view(name) != "unknown") values.push_back({code, name});
  }
  return values;
}

}  // namespace

EngineMonitor::EngineMonitor(Simulation& simulation, const std::string& path, const ClockDomain& clock)
    : simulation_(simulation),
      path_(path),
      stalls_(simulation, path, clock, stall_definitions, "what its stream or its next instruction waits for"),
      busy_(simulation.probes(), path + ".busy", 1, "an instruction occupies the engine"),
      opcode_(simulation.probes(), path + ".opcode", 8, "opcode of the instruction that began last", opcode_values()),
      instruction_(simulation.probes(), path + ".instruction", 32, "index in the stream of the one that began last") {
  StatisticsRegistry& statistics = simulation.statistics();
  statistics.add(path, statistic_instructions, instructions_);
  statistics.add(path, statistic_busy_cycles, busy_cycles_);
  statistics.add(path, statistic_busy_ps, busy_ps_);
}

void EngineMonitor::issued(const InstructionRecord& record) {
  instructions_ += 1;
  busy_.set(record.begin_ps, 1);
  busy_.set(record.end_ps, 0);
  opcode_.set(record.begin_ps, static_cast<std::uint64_t>(record.opcode));
  instruction_.set(record.begin_ps, record.index);
  if (observer_ != nullptr) observer_->issued(record);
  if (simulation_.transactions() != nullptr) report(record);
}

void EngineMonitor::control(const InstructionRecord& record) {
  instructions_ += 1;
  opcode_.set(record.begin_ps, static_cast<std::uint64_t>(record.opcode));
  instruction_.set(record.begin_ps, record.index);
  if (observer_ != nullptr) observer_->issued(record);
  if (simulation_.transactions() != nullptr) report(record);
}

void EngineMonitor::completed(std::uint64_t busy_ps, std::uint64_t busy_cycles) {
  busy_ps_ += busy_ps;
  busy_cycles_ += busy_cycles;
}

void EngineMonitor::report(const InstructionRecord& record) const {
  Transaction transaction{.id = record.id, .parent = record.fetch, .cause = record.cause};
  transaction.initiator = path_;
  transaction.kind = "instruction";
  transaction.name = mnemonic(record.opcode);
  transaction.what = {&record, [](const void* object, std::string& to) {
                        const auto& seen = *static_cast<const InstructionRecord*>(object);
                        to += '#' + std::to_string(seen.index) + ' ' + disassemble(*seen.instruction);
                      }};
  transaction.requested_ps = record.requested_ps;
  transaction.begin_ps = record.begin_ps;
  transaction.end_ps = record.end_ps;
  transaction.complete_ps = record.complete_ps;
  transaction.busy_ps = record.end_ps - record.begin_ps;
  simulation_.transactions()->happened(transaction);
}

}  // namespace tilevp::neuroncore
