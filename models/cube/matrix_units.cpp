#include "tilevp/cube/matrix_units.hpp"

#include <algorithm>
#include <bit>

#include "tilevp/cube/matrix_unit.hpp"
#include "tilevp/cube/statistics.hpp"

namespace tilevp::cube {
namespace {

constexpr unsigned stalled_read = 1;
constexpr std::array<StallDefinition, 1> stall_definitions{{
    {{"stalled_read_cycles", "cycles", "Cycles in which the array of a matrix unit waited for operands from tiles."},
     {"stalled_read_ps", "ps", "As stalled_read_cycles, in ps."},
     "read"},
}};

// The bundle in one PE.
struct MatrixEffect {
  MatrixOperation operation;
  MatrixOperands operands;
  MatrixResults results;
  std::uint8_t* flags;

  void operator()() const { *flags = static_cast<std::uint8_t>(*flags | execute(operation, operands, results)); }
};

}  // namespace

MatrixUnits::MatrixUnits(Simulation& simulation, const std::string& path, const ClockDomain& clock, Agent& agent,
                         const MatrixUnitParameters& parameters, TileRegisters& tiles)
    : simulation_(simulation),
      clock_(clock),
      agent_(agent),
      parameters_(parameters),
      tiles_(tiles),
      pipelines_(parameters.unit_per_pe ? pes : 1, MatrixPipeline(parameters)) {
  for (std::size_t unit = 0; unit < pipelines_.size(); ++unit)
    monitors_.push_back(std::make_unique<UnitMonitor>(simulation, path + ".matrix" + std::to_string(unit), clock,
                                                      stall_definitions, "a bundle occupies the array"));
  simulation.statistics().add(path, statistic_macs, macs_);
  simulation.statistics().add(path, statistic_row_padding_macs, row_padding_macs_);
  simulation.statistics().add(path, statistic_step_padding_macs, step_padding_macs_);
}

bool MatrixUnits::works(const BundleFlight& flight, unsigned unit) const {
  return !parameters_.unit_per_pe || selects(flight.matrix.mask, unit);
}

std::uint64_t MatrixUnits::issue(BundleFlight& flight, std::uint64_t ready) {
  flight.work = work_of(flight.matrix, parameters_);
  const MatrixWork work = parameters_.unit_per_pe
                              ? flight.work
                              : in_turns(flight.work, static_cast<unsigned>(std::popcount(flight.matrix.mask)));
  BundleRecord& record = flight.record;
  std::uint64_t begin = UINT64_MAX, free = 0, end = 0;
  for (unsigned unit = 0; unit < pipelines_.size(); ++unit) {
    if (!works(flight, unit)) continue;
    const MatrixTimes times = flight.times[unit] = pipelines_[unit].schedule(ready, work);
    const bool first = begin == UINT64_MAX;
    begin = std::min(begin, times.begin);
    free = std::max(free, times.free);
    end = std::max(end, times.end);
    report(flight, unit, first);
  }
  record.begin_ps = clock_.time_ps(begin);
  record.end_ps = clock_.time_ps(free);
  return clock_.time_ps(end);
}

void MatrixUnits::report(const BundleFlight& flight, unsigned unit, bool first) const {
  const BundleRecord& record = flight.record;
  const MatrixTimes& times = flight.times[unit];
  UnitMonitor& monitor = *monitors_[unit];
  const std::uint64_t begin_ps = clock_.time_ps(times.begin);
  const std::uint64_t free_ps = clock_.time_ps(times.free);
  monitor.occupied(begin_ps, free_ps);
  monitor.began(begin_ps, flight.matrix.operation, record.index);
  if (times.stalled > 0) monitor.stalls().stalled(stalled_read, clock_.time_ps(times.free - times.stalled), free_ps);
  if (simulation_.transactions() == nullptr) return;
  monitor.report({flight.matrix.operation, record.index, record.pc, first ? record.id : record.id + unit,
                  first ? record.fetch : record.id, record.ready_ps, begin_ps, free_ps, clock_.time_ps(times.end),
                  free_ps - begin_ps});
}

void MatrixUnits::ended(const BundleFlight& flight) {
  for (unsigned unit = 0; unit < pipelines_.size(); ++unit) {
    if (!works(flight, unit)) continue;
    const MatrixTimes& times = flight.times[unit];
    monitors_[unit]->worked(clock_.time_ps(times.free) - clock_.time_ps(times.begin), times.free - times.begin);
    monitors_[unit]->executed(1);
  }
}

void MatrixUnits::commit(const BundleFlight& flight) {
  const auto count = static_cast<std::uint64_t>(std::popcount(flight.matrix.mask));
  macs_ += count * flight.work.useful_macs;
  row_padding_macs_ += count * (flight.work.row_macs - flight.work.useful_macs);
  step_padding_macs_ += count * (flight.work.issued_macs - flight.work.row_macs);
  if (!simulation_.effects().enabled()) return;
  for (unsigned pe = 0; pe < pes; ++pe)
    if (selects(flight.matrix.mask, pe)) append_effect(flight.matrix, pe);
}

void MatrixUnits::append_effect(const MatrixOperation& operation, unsigned pe) {
  const auto view = [&](TileSlot slot) {
    const TileDescriptor& tile = tiles_.descriptor(slot);
    return TileView{std::as_const(tiles_).payload(slot, pe), tile.rows, tile.columns};
  };
  const auto maybe = [&](const std::optional<std::uint8_t>& slot) { return slot ? view(*slot) : TileView{}; };
  const auto target = [&](const std::optional<std::uint8_t>& slot) {
    return slot ? TileTarget{tiles_.payload(*slot, pe), tiles_.descriptor(*slot).columns} : TileTarget{};
  };
  const MatrixOperands operands{view(operation.a),
                                view(operation.b),
                                maybe(operation.c),
                                maybe(operation.bias),
                                maybe(operation.cscale),
                                maybe(operation.row_max_in),
                                maybe(operation.quant_vector),
                                maybe(operation.slope_vector)};
  const MatrixResults results{target(operation.d), target(operation.row_max_out), target(operation.group_max_out)};
  // Nobody looks at tiles without joining: what is written concerns no memory.
  simulation_.effects().append(MatrixEffect{operation, operands, results, &flags_}, HostRange{});
}

void MatrixUnits::reset() {
  simulation_.effects().join();
  flags_ = 0;
  pipelines_.assign(pipelines_.size(), MatrixPipeline(parameters_));
}

std::uint8_t MatrixUnits::flags() {
  simulation_.effects().join();
  return flags_;
}

void MatrixUnits::set_flags(std::uint8_t flags) {
  simulation_.effects().join();
  flags_ = flags;
}

}  // namespace tilevp::cube
