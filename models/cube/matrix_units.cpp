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

// Shape of an operand's or result's storage.
struct Extent {
  std::uint32_t bytes = 0;
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
};

// The bundle in each of its PEs, as parts of one effect.
struct MatrixEffect {
  MatrixOperation operation;
  TileRegisters* tiles;
  std::atomic<std::uint8_t>* flags;
  Extent a, b, c, bias, cscale, row_max_in, quant_vector, slope_vector, d, row_max_out, group_max_out;

  unsigned prepare() const { return static_cast<unsigned>(std::popcount(operation.mask)); }

  void run(unsigned part, unsigned) const {
    unsigned pe = 0;
    for (unsigned left = part + 1;; ++pe)
      if (selects(operation.mask, pe) && --left == 0) break;
    const auto view = [&](TileSlot slot, const Extent& extent) {
      return TileView{std::span<const std::byte>(tiles->bank(slot, pe), extent.bytes), extent.rows, extent.columns};
    };
    const auto maybe = [&](const std::optional<std::uint8_t>& slot, const Extent& extent) {
      return slot ? view(*slot, extent) : TileView{};
    };
    const auto target = [&](const std::optional<std::uint8_t>& slot, const Extent& extent) {
      return slot ? TileTarget{std::span(tiles->bank(*slot, pe), extent.bytes), extent.columns} : TileTarget{};
    };
    const MatrixOperation& is = operation;
    const std::uint8_t raised = execute(
        is,
        {view(is.a, a), view(is.b, b), maybe(is.c, c), maybe(is.bias, bias), maybe(is.cscale, cscale),
         maybe(is.row_max_in, row_max_in), maybe(is.quant_vector, quant_vector), maybe(is.slope_vector, slope_vector)},
        {target(is.d, d), target(is.row_max_out, row_max_out), target(is.group_max_out, group_max_out)});
    flags->fetch_or(raised, std::memory_order_relaxed);
  }
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
  simulation.statistics().add(path, statistic_waiting_macs, waiting_macs_);
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
  const UnitTimes* first = nullptr;
  std::uint64_t end_ps = 0;
  for (unsigned unit = 0; unit < pipelines_.size(); ++unit) {
    if (!works(flight, unit)) continue;
    UnitTimes& times = flight.times[unit];
    times.cycles = pipelines_[unit].schedule(ready, work);
    if (first != nullptr && first->cycles == times.cycles)
      times = *first;  // PEs that have done the same before do it at the same times
    else
      times = {times.cycles, clock_.time_ps(times.cycles.begin), clock_.time_ps(times.cycles.free),
               clock_.time_ps(times.cycles.end)};
    record.begin_ps = first == nullptr ? times.begin_ps : std::min(record.begin_ps, times.begin_ps);
    record.end_ps = std::max(record.end_ps, times.free_ps);
    end_ps = std::max(end_ps, times.end_ps);
    show(flight, unit, first == nullptr);
    if (first == nullptr) first = &times;
  }
  return end_ps;
}

void MatrixUnits::show(const BundleFlight& flight, unsigned unit, bool first) const {
  const BundleRecord& record = flight.record;
  const UnitTimes& times = flight.times[unit];
  UnitMonitor& monitor = *monitors_[unit];
  monitor.occupied(times.begin_ps, times.free_ps);
  monitor.began(times.begin_ps, flight.matrix.operation, record.index);
  if (times.cycles.stalled > 0)
    monitor.stalls().stalled(stalled_read, clock_.time_ps(times.cycles.free - times.cycles.stalled), times.free_ps);
  if (simulation_.transactions() == nullptr) return;
  monitor.report({name(flight.matrix.operation), record.index, record.pc, first ? record.id : record.id + unit,
                  first ? record.fetch : record.id, record.ready_ps, times.begin_ps, times.free_ps, times.end_ps,
                  times.free_ps - times.begin_ps, record.cause});
}

void MatrixUnits::ended(const BundleFlight& flight) {
  for (unsigned unit = 0; unit < pipelines_.size(); ++unit) {
    if (!works(flight, unit)) continue;
    const UnitTimes& times = flight.times[unit];
    monitors_[unit]->worked(times.free_ps - times.begin_ps, times.cycles.free - times.cycles.begin);
    monitors_[unit]->executed(1);
  }
}

void MatrixUnits::count_macs(const BundleFlight& flight) {
  const MatrixWork& work = flight.work;
  const auto count = static_cast<std::uint64_t>(std::popcount(flight.matrix.mask));
  macs_ += count * work.useful_macs;
  row_padding_macs_ += count * (work.row_macs - work.useful_macs);
  step_padding_macs_ += count * (work.issued_macs - work.row_macs);
  const std::uint64_t steps_cycles = work.array_cycles * (parameters_.unit_per_pe ? 1 : count);
  for (unsigned unit = 0; unit < pipelines_.size(); ++unit) {
    if (!works(flight, unit)) continue;
    const MatrixTimes& times = flight.times[unit].cycles;
    waiting_macs_ += work.issued_macs / work.array_cycles * (times.free - times.begin - steps_cycles);
  }
}

void MatrixUnits::commit(const BundleFlight& flight) {
  const MatrixOperation& is = flight.matrix;
  count_macs(flight);
  if (!simulation_.effects().enabled()) return;
  const auto extent = [&](TileSlot slot) {
    const TileDescriptor& tile = tiles_.descriptor(slot);
    return Extent{static_cast<std::uint32_t>(tile.storage_bytes()), tile.rows, tile.columns};
  };
  const auto maybe = [&](const std::optional<std::uint8_t>& slot) { return slot ? extent(*slot) : Extent{}; };
  // Nobody looks at tiles without joining: what is written concerns no memory.
  simulation_.effects().append(
      MatrixEffect{is, &tiles_, &flags_, extent(is.a), extent(is.b), maybe(is.c), maybe(is.bias), maybe(is.cscale),
                   maybe(is.row_max_in), maybe(is.quant_vector), maybe(is.slope_vector), extent(is.d),
                   maybe(is.row_max_out), maybe(is.group_max_out)},
      HostRange{});
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
