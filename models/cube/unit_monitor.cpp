#include "tilevp/cube/unit_monitor.hpp"

#include <vector>

#include "tilevp/base/hex_text.hpp"
#include "tilevp/cube/statistics.hpp"

namespace tilevp::cube {
namespace {

std::vector<ValueName> operation_values() {
  std::vector<ValueName> values;
  for (auto code = Operation::tload; code <= Operation::tgemvmx_acc; code = static_cast<Operation>(unsigned(code) + 1))
    values.push_back({static_cast<std::uint64_t>(code), name(code).data()});
  return values;
}

}  // namespace

UnitMonitor::UnitMonitor(Simulation& simulation, const std::string& path, const ClockDomain& clock,
                         std::span<const StallDefinition> stalls, const char* busy)
    : simulation_(simulation),
      path_(path),
      stalls_(simulation, path, clock, stalls, "what the unit waits for"),
      busy_(simulation.probes(), path + ".busy", 1, busy),
      operation_(simulation.probes(), path + ".operation", 4, "operation of the bundle that began last",
                 operation_values()),
      bundle_(simulation.probes(), path + ".bundle", 32, "number of the bundle that began last") {
  simulation.statistics().add(path, statistic_instructions, instructions_);
  simulation.statistics().add(path, statistic_busy_cycles, busy_cycles_);
  simulation.statistics().add(path, statistic_busy_ps, busy_ps_);
}

void UnitMonitor::report(const UnitWork& work) const {
  if (simulation_.transactions() == nullptr) return;
  Transaction transaction{.id = work.id, .parent = work.parent, .cause = work.cause};
  transaction.initiator = path_;
  transaction.kind = "instruction";
  transaction.name = work.name;
  transaction.what = {&work, [](const void* object, std::string& to) {
                        const auto& seen = *static_cast<const UnitWork*>(object);
                        to += "bundle " + std::to_string(seen.index) + " at " + hex_text(seen.pc);
                      }};
  transaction.requested_ps = work.requested_ps;
  transaction.begin_ps = work.begin_ps;
  transaction.end_ps = work.end_ps;
  transaction.complete_ps = work.complete_ps;
  transaction.busy_ps = work.busy_ps;
  simulation_.transactions()->happened(transaction);
}

}  // namespace tilevp::cube
