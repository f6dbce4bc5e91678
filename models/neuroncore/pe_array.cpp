#include "tilevp/neuroncore/pe_array.hpp"

#include "tilevp/base/errors.hpp"
#include "tilevp/neuroncore/opcode_names.hpp"
#include "tilevp/neuroncore/rules.hpp"
#include "tilevp/neuroncore/statistics.hpp"
#include "tilevp/neuroncore/transpose.hpp"

namespace tilevp::neuroncore {
namespace {

// A part of a product is worth the meeting of two threads from here on, and is cut where the widest kernel's panels
// end.
constexpr std::size_t least_part_columns = 96;
constexpr std::size_t column_unit = 16;

std::uint64_t passes(const PeParameters& parameters, const Instruction& i) {
  return i.opcode == Opcode::matmul && i.source0_dtype == numeric::DType::fp32 ? parameters.fp32_passes : 1;
}

TileAccess access_to(const Operand& operand, unsigned partitions, numeric::DType dtype, const Flight& flight,
                     TilePart part) {
  TileAccess access;
  access.operand = operand;
  access.partitions = partitions;
  access.dtype = dtype;
  access.engine = nki_name(flight.instruction.opcode);
  access.instruction = flight.index;
  access.id = flight.id + static_cast<std::uint64_t>(part);
  return access;
}

}  // namespace

std::uint64_t interval_cycles(const PeParameters& parameters, const Instruction& i) {
  // The moving tile of a transpose is an identity of as many columns as the source has partitions.
  const std::uint64_t columns = i.opcode == Opcode::transpose ? i.source_partitions : i.source0.elements();
  const std::uint64_t least = std::min<std::uint64_t>(parameters.min_interval_cycles, i.partitions);
  return passes(parameters, i) * std::max(columns, least);
}

std::uint64_t weight_load_cycles(const PeParameters& parameters, const Instruction& i) {
  if ((i.flags & matmul_reuse) != 0) return 0;
  const std::uint64_t rate = parameters.weight_load_columns_per_cycle;
  return passes(parameters, i) * ((i.partitions + rate - 1) / rate);
}

// What an effect needs of one matmul.
struct PeArray::Views {
  numeric::StridedTile stationary;
  numeric::StridedTile moving;
  numeric::MutableStridedTile result;
  bool load;
  bool accumulate;
  bool dense;
  MovingTiles::Place place;
  unsigned parts;
  std::size_t part_columns;  // of the moving tile; the last part may have fewer

  void divide() {
    const std::size_t columns = moving.free_size();
    const std::size_t wanted = dense ? std::max<std::size_t>(1, columns / least_part_columns) : 1;
    part_columns = ((columns + wanted - 1) / wanted + column_unit - 1) / column_unit * column_unit;
    parts = static_cast<unsigned>((columns + part_columns - 1) / part_columns);
  }
};

// The effect of one matmul: the stationary tile is packed first, then the columns of the moving tile in parts.
struct PeArray::Product {
  PeArray* array;
  Views views;

  unsigned prepare() const {
    if (views.load) array->stationary_.pack(views.stationary);
    if (!views.place.packed) array->moving_.parts(views.place.index).resize(views.parts);
    return views.parts;
  }
  void run(unsigned part, unsigned) const { array->multiply_part(views, part); }
};

// The effect of one transpose.
struct PeArray::Transposition {
  PeArray* array;
  numeric::StridedTile source;
  numeric::MutableStridedTile destination;

  void operator()() const {
    if (array->generation_ == 2)
      transpose_by_identity(source, destination, array->transposed_);
    else
      transpose_bits(source, destination, array->transposed_bytes_);
  }
};

PeArray::PeArray(sc_core::sc_module_name name, const EngineContext& context, const PeParameters& parameters,
                 std::uint32_t generation, SharedResources& shared)
    : sc_module(name), ExecutionUnit(context), parameters_(parameters), generation_(generation), shared_(shared) {
  if (parameters.weight_load_columns_per_cycle == 0)
    throw UserError("pe.weight_load_columns_per_cycle", "expected at least 1, found 0");
  if (parameters.fp32_passes == 0) throw UserError("pe.fp32_passes", "expected at least 1, found 0");
  StatisticsRegistry& statistics = context.simulation.statistics();
  statistics.add(this->name(), statistic_matmuls, matmuls_);
  statistics.add(this->name(), statistic_transposes, transposes_);
  statistics.add(this->name(), statistic_macs, macs_);
  statistics.add(this->name(), statistic_pe_cycles, pe_cycles_);
  statistics.add(this->name(), statistic_weight_loads, weight_loads_);
}

void PeArray::take_stationary(const Flight& flight) {
  const Instruction& i = flight.instruction;
  if (i.opcode == Opcode::transpose) return forget_stationary();
  const Loaded wanted{i.source1, i.source_partitions, i.source1_dtype};
  if ((i.flags & matmul_reuse) != 0 && !(wanted == loaded_))
    throw Fault(rule::pe_reuse_not_loaded,
                "nc_matmul #" + std::to_string(flight.index) + ": REUSE of a tile at SBUF byte " +
                    std::to_string(i.source1.offset) + ", loaded is " +
                    (loaded_.partitions == 0 ? "none" : "another, at byte " + std::to_string(loaded_.tile.offset)));
  loaded_ = wanted;
}

void PeArray::schedule(Flight& flight) {
  take_stationary(flight);
  const ClockDomain& clock = context().clock;
  const std::uint64_t ready = clock.edge_at_or_after(flight.requested_ps);
  const std::uint64_t load_end = std::max(ready, last_begin_) + weight_load_cycles(parameters_, flight.instruction);
  const std::uint64_t array_free = std::max(ready, free_at_);
  const std::uint64_t earliest = std::max(array_free, load_end);
  if (load_end > array_free)
    context().monitor.stalled(Stall::weight_load, clock.time_ps(array_free), clock.time_ps(earliest));

  flight.cycles = interval_cycles(parameters_, flight.instruction);
  std::uint64_t begin = earliest;
  if (shared_.psum_bank_exclusive) {
    const Grant grant = acquire_bank(flight, earliest);
    begin = clock.edge_at_or_after(grant.begin_ps);
    if (grant.blocker != nullptr) context().monitor.stalled(Stall::psum_bank, clock.time_ps(earliest), grant.begin_ps);
  } else {
    context().agent.advance_to(clock.time_ps(begin));
  }
  last_begin_ = begin;
  free_at_ = begin + flight.cycles;
  flight.begin_ps = clock.time_ps(begin);
  flight.end_ps = clock.time_ps(free_at_);
  flight.complete_ps = clock.time_ps(free_at_ + parameters_.fill_cycles);
}

Grant PeArray::acquire_bank(const Flight& flight, std::uint64_t earliest_cycle) {
  const unsigned bank = flight.instruction.destination.offset / psum_bank_bytes;
  ExclusiveResource* const resource = &shared_.psum.bank(bank);
  context().agent.wait_until(context().clock.time_ps(earliest_cycle));
  const Grant grant = context().simulation.arbiter().acquire(std::span(&resource, 1), context().agent.port(),
                                                             context().clock, flight.cycles);
  shared_.psum.occupied(bank, grant.begin_ps, grant.end_ps);
  return grant;
}

void PeArray::commit(const Flight& flight) {
  if (flight.instruction.opcode == Opcode::transpose)
    commit_transpose(flight);
  else
    commit_matmul(flight);
  pe_cycles_ += flight.cycles;
}

void PeArray::commit_transpose(const Flight& flight) {
  const Instruction& i = flight.instruction;
  EffectsQueue& effects = context().simulation.effects();
  const bool immediate = !sbuf.direct() || !psum.direct();
  if (immediate) effects.join();
  TileAccess access = access_to(i.source0, i.source_partitions, i.source0_dtype, flight, TilePart::source0);
  Transposition transposition{this, sbuf.read(access, moving_bytes_), {}};
  TileAccess result = access_to(i.destination, i.partitions, i.dtype, flight, TilePart::destination);
  result.writer = Writer::matmul_overwrite;
  result.last = true;
  transposition.destination =
      psum.direct() ? psum.write_direct(result) : psum.packed_destination(result, result_bytes_);
  if (effects.enabled()) {
    effects.append(transposition, numeric::extent(transposition.destination));
    if (immediate) effects.join();
  }
  if (!psum.direct()) psum.write_packed(result);
  transposes_ += 1;
  weight_loads_ += 1;
}

void PeArray::commit_matmul(const Flight& flight) {
  const Instruction& i = flight.instruction;
  EffectsQueue& effects = context().simulation.effects();
  Views views{};
  views.load = (i.flags & matmul_reuse) == 0;
  views.accumulate = (i.flags & matmul_accumulate) != 0;
  const bool immediate = !sbuf.direct() || !psum.direct();
  if (immediate) effects.join();

  if (views.load) {
    TileAccess access = access_to(i.source1, i.source_partitions, i.source1_dtype, flight, TilePart::source1);
    views.stationary = sbuf.read(access, stationary_bytes_);
  }
  TileAccess moving = access_to(i.source0, i.source_partitions, i.source0_dtype, flight, TilePart::source0);
  views.moving = sbuf.read(moving, moving_bytes_);

  TileAccess result = access_to(i.destination, i.partitions, i.dtype, flight, TilePart::destination);
  result.writer = views.accumulate ? Writer::matmul_accumulate : Writer::matmul_overwrite;
  result.last = (i.flags & matmul_stop) != 0;
  if (psum.direct()) {
    views.result = psum.write_direct(result);
    views.dense = is_dense(i.destination);
  } else {
    // The target adds: it gets the product.
    views.result = psum.packed_destination(result, result_bytes_);
    views.dense = true;
    views.accumulate = false;
  }
  if (effects.enabled()) {
    views.divide();
    views.place = immediate ? moving_.place() : moving_.place(views.moving, i.partitions, views.part_columns, effects);
    effects.append(Product{this, views}, numeric::extent(views.result));
    if (immediate) effects.join();
  }
  if (!psum.direct()) psum.write_packed(result);

  matmuls_ += 1;
  macs_ += std::uint64_t{i.source_partitions} * i.partitions * i.source0.elements();
  if (views.load) weight_loads_ += 1;
}

void PeArray::multiply_part(const Views& views, unsigned part) {
  const std::size_t first = part * views.part_columns;
  const std::size_t count = std::min(views.part_columns, views.moving.free_size() - first);
  numeric::PackedMoving& moving = moving_.parts(views.place.index)[part];
  if (!views.place.packed) moving.pack(views.moving, stationary_, first, count);
  if (!views.dense) return store(views, moving);
  numeric::multiply(stationary_, moving, reinterpret_cast<float*>(views.result.base) + first,
                    views.result.partition_stride_bytes / static_cast<std::ptrdiff_t>(sizeof(float)), views.accumulate);
}

// Into a strided tile: the product of each row, added to what is there where the group goes on, rounded once.
void PeArray::store(const Views& views, const numeric::PackedMoving& moving) {
  const std::size_t columns = moving.columns();
  product_.resize(stationary_.columns() * columns);
  row_.resize(columns);
  numeric::multiply(stationary_, moving, product_.data(), static_cast<std::ptrdiff_t>(columns), false);
  const numeric::StridedTile present{views.result.base,       views.result.partition_stride_bytes,
                                     views.result.partitions, views.result.dims,
                                     views.result.dim_count,  views.result.dtype};
  for (std::size_t m = 0; m < stationary_.columns(); ++m) {
    float* const product = product_.data() + m * columns;
    if (views.accumulate) {
      numeric::gather_row(present, m, row_.data());
      for (std::size_t n = 0; n < columns; ++n) product[n] = row_[n] + product[n];
    }
    numeric::scatter_row(views.result, m, product);
  }
}

}  // namespace tilevp::neuroncore
