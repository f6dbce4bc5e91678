#include "tilevp/base/stall_monitor.hpp"

#include <bit>

namespace tilevp {
namespace {

std::vector<ValueName> values_of(std::span<const StallDefinition> causes) {
  std::vector<ValueName> values{{0, "nothing"}};
  for (const StallDefinition& cause : causes) values.push_back({values.size(), cause.shown});
  return values;
}

}  // namespace

std::string_view StallDefinition::name() const {
  constexpr std::string_view prefix = "stalled_";
  constexpr std::string_view suffix = "_ps";
  std::string_view text = ps.name;
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return text;
}

StallMonitor::StallMonitor(Simulation& simulation, const std::string& path, const ClockDomain& clock,
                           std::span<const StallDefinition> causes, std::string meaning)
    : simulation_(simulation),
      path_(path),
      clock_(clock),
      causes_(causes),
      counts_(std::make_unique<Count[]>(causes.size())),
      waiting_(simulation.probes(), path + ".waiting", static_cast<unsigned>(std::bit_width(causes.size())),
               std::move(meaning), values_of(causes)) {
  for (std::size_t cause = 0; cause < causes.size(); ++cause) {
    simulation.statistics().add(path, causes[cause].cycles, counts_[cause].cycles);
    simulation.statistics().add(path, causes[cause].ps, counts_[cause].ps);
  }
}

void StallMonitor::stalled(unsigned cause, std::uint64_t from_ps, std::uint64_t to_ps) {
  if (to_ps <= from_ps) return;
  waiting(cause, from_ps);
  waited(cause, from_ps, to_ps);
}

void StallMonitor::waited(unsigned cause, std::uint64_t from_ps, std::uint64_t to_ps) {
  Count& count = counts_[cause - 1];
  count.ps += to_ps - from_ps;
  count.cycles += clock_.edge_at_or_after(to_ps) - clock_.edge_at_or_after(from_ps);
  waiting_.set(to_ps, 0);
  if (simulation_.transactions() != nullptr) report(causes_[cause - 1].name(), from_ps, to_ps);
}

void StallMonitor::report(std::string_view cause, std::uint64_t from_ps, std::uint64_t to_ps) const {
  Transaction transaction{.initiator = path_, .kind = "stall", .name = cause};
  transaction.requested_ps = transaction.begin_ps = from_ps;
  transaction.end_ps = transaction.complete_ps = to_ps;
  simulation_.transactions()->happened(transaction);
}

}  // namespace tilevp
